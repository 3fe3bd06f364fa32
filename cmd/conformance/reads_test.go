package conformance

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
)

// ask begins a qstat that can be answered by one replica only.
func ask(t *testing.T, c *devrun.Cluster, replica, id string) (answer func() (string, error)) {
	t.Helper()
	cmd := c.Command(t.Context(), "qstat", id)
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "PBS_GATEWAY="+filepath.Join(c.Home(replica), "run", replica+".sock"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() (string, error) {
		err := cmd.Wait()
		return out.String(), err
	}
}

// TestReads_AtALeaderThatWasFrozen: a leader is stopped, another one acknowledges a
// job, and the old one is woken. A question that reached it meanwhile, and one that
// comes right after, is answered by what was acknowledged, or not at all (L11).
func TestReads_AtALeaderThatWasFrozen(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "1")
	for range 3 {
		leader, err := c.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Signal(leader, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		var answers []func() (string, error)
		var id string
		for range 4 { // each submission leaves the questions time to arrive
			if id, err = c.Output(t.Context(), "qsub", "-h", "--", "/bin/true"); err != nil {
				t.Fatalf("submit while the old leader hangs: %v", err)
			}
			answers = append(answers, ask(t, c, leader, id))
		}
		if err := c.Signal(leader, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, ask(t, c, leader, id))
		for i, answer := range answers {
			out, err := answer()
			if _, failed := err.(*exec.ExitError); err != nil && !failed {
				t.Fatal(err)
			}
			if strings.Contains(out, "Unknown Job Id") {
				t.Errorf("question %d: %s does not know an acknowledged job (L11): %s", i, leader, out)
			}
			if err != nil {
				t.Errorf("question %d: a replica that lives again answers: %s", i, out)
			}
		}
	}
}
