package conformance

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"rampart/chaos/planted"
	"rampart/cmd/devrun"
)

// TestStatus76_OldBuild: all replicas run a newer version, and the cluster has gone over to
// what only it knows; then one is started in the present version.
func TestStatus76_OldBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another version: see make test-long")
	}
	newer := buildAt(t, present().level+1)
	c := clusterOf(t, newer.dir, "--moms", "0")
	awaitLevel(t, c, newer.level)
	victim := follower(t, c)
	kill(t, c, victim)
	refused(t, c, filepath.Join(bin, "rampart"), c.Home(victim), 76, "this build is too old for the cluster")
	restart(t, c, victim)
}

// TestStatus75_Drift: one replica runs a build with a bug by which its state differs from
// that of the others. It is found out, ends, and is installed anew by its next start.
func TestStatus75_Drift(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a version with a bug in it: see make test-long")
	}
	ill := buildFolder(t)
	if err := devrun.BuildPlanted(t.Context(), root, ill, planted.LostAlterations); err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, "--moms", "0")
	id, err := c.Output(t.Context(), "qsub", "-h", "--", "/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	victim := follower(t, c)
	kill(t, c, victim)
	ended := make(chan struct{})
	cmd := exec.CommandContext(t.Context(), filepath.Join(ill, "rampart"), "server")
	cmd.Env = append(slices.Clone(c.Env), "PBS_HOME="+c.Home(victim))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for n := 0; ; n++ { // every other one is lost
		if _, err := c.Output(t.Context(), "qalter", "-p", strconv.Itoa(n%1000), id); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ended:
			if got := cmd.ProcessState.ExitCode(); got != 75 {
				t.Fatalf("a replica that differs ended with %d, want 75", got)
			}
			restart(t, c, victim)
			return
		case <-time.After(500 * time.Millisecond):
			if n > 240 {
				t.Fatal("a replica that differs goes on")
			}
		}
	}
}
