package conformance

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// TestMomStopped stops a mom by SIGTERM under a running job: the job goes on elsewhere at
// once, nothing is sent to the host that goes, and the host is back with its mom.
func TestMomStopped(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "2")
	s := submitSteady(t, c)
	first, _ := s.runs(t, 1)
	if err := c.Signal(first, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if second, _ := s.runs(t, 2); second == first {
		t.Errorf("the second run is on %s, whose mom was stopped", second)
	}
	if out, err := c.Output(t.Context(), "pbsnodes", "-l"); err != nil || !strings.HasPrefix(out, first) {
		t.Errorf("pbsnodes -l: %q, %v", out, err)
	}
	waitFor(t, patience, "the stopped mom to be gone, and another to start", func() error { return c.Restart(t.Context(), first) })
	waitFor(t, patience, "the host to be back", func() error {
		if out, err := c.Output(t.Context(), "pbsnodes", "-l"); err != nil || out != "" {
			return fmt.Errorf("%q, %v", out, err)
		}
		return nil
	})
	s.ends(t, "QSRSE")
}
