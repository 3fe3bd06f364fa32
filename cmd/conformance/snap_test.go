package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestCheckpoint_Periodic: a job that wants it has a checkpoint made after a minute and runs on;
// its mom ends its jobs, the leader dies, and it goes on from there. qterm -t immediate has it
// checkpointed and ended, and it goes on from that.
func TestCheckpoint_Periodic(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than a minute: see make test-long")
	}
	t.Parallel()
	c := newCluster(t, "--mom", "hosta:ncpus=1")
	dir := filepath.Join(c.Dir, "site")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write("snap", "#!/bin/sh\necho snap > $2\n")
	write("save", "#!/bin/sh\necho save > $2 && kill -9 -$1\n")
	write("restart", "#!/bin/sh\necho goes on from $(cat $2); exec sleep 600\n")
	config := filepath.Join(c.Home("hosta"), "mom_priv", "config")
	text, _ := os.ReadFile(config)
	for action, script := range map[string]string{"checkpoint": "snap", "checkpoint_abort": "save", "restart": "restart"} {
		text = fmt.Appendf(text, "\n$action %s 20 !%s/%s %%sid %%path\n", action, dir, script)
	}
	if err := os.WriteFile(config, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.Signal("hosta", syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	id, err := c.Output(t.Context(), "qsub", "-c", "w=1", "-k", "oed", "-j", "oe", "-o", out, "--", "/bin/sh", "-c", "echo begun; exec sleep 600")
	if err != nil {
		t.Fatal(err)
	}
	awaitJob(t, c, id, "substate = 42.*Checkpoint = w=1|Checkpoint = w=1.*substate = 42")
	kept := filepath.Join(c.Home("hosta"), "checkpoint", id+".CK", "task.json")
	waitFor(t, 5*patience, "the checkpoint", func() error {
		_, err := os.Stat(kept)
		return err
	})
	awaitJob(t, c, id, "job_state = R.*run_count = 1")
	if err := c.Signal("hosta", syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	killLeader(t, c)
	if err := c.Restart(t.Context(), "hosta"); err != nil {
		t.Fatal(err)
	}
	says := func(want string) {
		t.Helper()
		waitFor(t, 2*patience, "the output", func() error {
			got, err := os.ReadFile(out)
			if string(got) != want {
				err = fmt.Errorf("%q, %v", got, err)
			}
			return err
		})
	}
	says("begun\ngoes on from snap\n")
	if err := c.Restart(t.Context(), "--dead"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Output(t.Context(), "qterm", "-t", "immediate"); err != nil {
		t.Fatal(err)
	}
	ended(t, c, replicas...)
	if err := c.Restart(t.Context(), replicas...); err != nil {
		t.Fatal(err)
	}
	says("begun\ngoes on from snap\ngoes on from save\n")
}
