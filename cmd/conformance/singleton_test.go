package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDepend_Singleton: jobs of one name go one after the other, though the leader is killed
// while they wait.
func TestDepend_Singleton(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg:ncpus=8")
	gate, log := filepath.Join(c.Dir, "gate"), filepath.Join(c.Dir, "log")
	const jobs = 4
	for i := range jobs {
		script := fmt.Sprintf("until [ -e %s ]; do sleep 0.1; done; echo %d in >> %s; sleep 0.3; echo %d out >> %s", gate, i, log, i, log)
		id, err := c.Output(t.Context(), "qsub", "-N", "chain", "-W", "depend=singleton", "-j", "oe", "-o", "/dev/null", "--", "/bin/sh", "-c", script)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := c.Output(t.Context(), "qstat", "-f", id)
		if err != nil {
			t.Fatal(err)
		}
		if waits := strings.Contains(shown, "    depend = singleton\n") && strings.Contains(shown, "    job_state = H\n"); waits != (i > 0) {
			t.Errorf("%s is shown as\n%s", id, shown)
		}
	}
	leader := killLeader(t, c)
	if err := os.WriteFile(gate, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.Restart(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range jobs {
		fmt.Fprintf(&want, "%d in\n%d out\n", i, i)
	}
	waitFor(t, 2*patience, "all to have run in their order", func() error {
		if got, _ := os.ReadFile(log); string(got) != want.String() {
			return fmt.Errorf("they have run as\n%s", got)
		}
		return nil
	})
}
