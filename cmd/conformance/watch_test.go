package conformance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// output is what a program has written so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) shows(words string) func() error {
	return func() error {
		if text := o.String(); !strings.Contains(text, words) {
			return fmt.Errorf("no %q in:\n%s", words, text)
		}
		return nil
	}
}

// TestWatch_OutlivesEveryReplica: those who wait for a job learn its end although each
// replica, theirs included, is killed meanwhile, and no change is left out.
func TestWatch_OutlivesEveryReplica(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "1")
	gate := filepath.Join(c.Dir, "gate")
	var shown, blocked output
	block := c.Command(t.Context(), "qsub", "-W", "block=true", "-o", "/dev/null", "-j", "oe", "--",
		"/bin/sh", "-c", "until [ -e "+gate+" ]; do sleep 0.1; done; exit 5")
	block.Stdout, block.Stderr = &blocked, &blocked
	watch := c.Command(t.Context(), "qstat", "--watch")
	watch.Stdout, watch.Stderr = &shown, &shown
	for _, cmd := range []interface{ Start() error }{watch, block} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, patience, "the job to be seen running", shown.shows(" R workq"))
	for _, replica := range []string{"s1", "s2", "s3"} {
		if err := c.Signal(replica, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		mark, err := c.Output(t.Context(), "qsub", "-N", "at-"+replica, "-h", "--", "/bin/true")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Restart(t.Context(), replica); err != nil {
			t.Fatal(err)
		}
		waitFor(t, patience, mark+" to be shown", shown.shows("at-"+replica))
	}
	if err := os.WriteFile(gate, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := block.Wait(); block.ProcessState.ExitCode() != 5 {
		t.Errorf("qsub that waits for its job ends with %v, want exit status 5:\n%s", err, blocked.String())
	}
	waitFor(t, patience, "the job to be seen finished", shown.shows(" F workq"))
	if err := watch.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := watch.Wait(); err != nil {
		t.Errorf("qstat --watch, interrupted: %v\n%s", err, shown.String())
	}
}
