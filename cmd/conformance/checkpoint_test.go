package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
)

// saveScript checkpoints a job that counts, and ends it; restartScript goes on.
const (
	saveScript = `#!/bin/sh
test ! -e $(dirname $0)/refuse || exit 3
cat $(dirname $0)/count > $2 && kill -9 -$1
`
	restartScript = `#!/bin/sh
echo goes on from $(cat $2)
`
)

// awaitJob waits until qstat -f shows what the expression wants.
func awaitJob(t *testing.T, c *devrun.Cluster, id, want string) {
	t.Helper()
	shown := regexp.MustCompile("(?s)" + want)
	waitFor(t, patience, want, func() error {
		out, err := c.Output(t.Context(), "qstat", "-f", id)
		if err == nil && !shown.MatchString(out) {
			err = errors.New(out)
		}
		return err
	})
}

// TestCheckpoint_HoldsThatWereAcknowledged: a hold of a job that somebody else has checkpointed is set when qhold
// says so; though the leader dies, and the checkpoint fails after that, it stays.
func TestCheckpoint_HoldsThatWereAcknowledged(t *testing.T) {
	t.Parallel()
	c := kept{newCluster(t, "--mom", "hosta:ncpus=1")}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	save := filepath.Join(dir, "save")
	if err := os.WriteFile(save, []byte("#!/bin/sh\n: > "+dir+"/begun\nuntil test -e "+dir+"/fail; do sleep 0.1; done; exit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(c.Home("hosta"), "mom_priv", "config")
	text, _ := os.ReadFile(config)
	if err := os.WriteFile(config, fmt.Appendf(text, "\n$action checkpoint_abort 300 !%s\n", save), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.Signal("hosta", syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	id := c.must(t, "qsub", "-j", "oe", "-o", dir+"/", "--", "/bin/sleep", "600")
	awaitJob(t, c.Cluster, id, "substate = 42")
	first := c.Command(t.Context(), "qhold", id)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "the checkpoint to begin", func() error {
		_, err := os.Stat(filepath.Join(dir, "begun"))
		return err
	})
	c.must(t, "qhold", id)
	killLeader(t, c.Cluster)
	if err := os.WriteFile(filepath.Join(dir, "fail"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // whatever it says: the other one was told that the hold is set
	waitFor(t, patience, "the failure", func() error {
		if !strings.Contains(c.log("hosta"), id+";checkpoint failed") {
			return errors.New("not in the log")
		}
		return nil
	})
	c.must(t, "qrerun", id)
	awaitJob(t, c.Cluster, id, "job_state = H.*Hold_Types = u")
	c.must(t, "qdel", id)
}

// TestCheckpoint_AfterFailover: qhold of a running job has it checkpointed, and though leader
// and mom die in between, it goes on from there; accounting has C and T (specification: accounting
// section 2). A script that fails leaves the job as it was, and qhold says so.
func TestCheckpoint_AfterFailover(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "hosta:ncpus=1")
	dir := filepath.Join(c.Dir, "site")
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "save"), saveScript, 0o755)
	write(filepath.Join(dir, "restart"), restartScript, 0o755)
	write(filepath.Join(dir, "refuse"), "", 0o644)
	id, err := c.Output(t.Context(), "qsub", "-j", "oe", "-o", filepath.Join(dir, "out"), "--", "/bin/sh", "-c", "echo begun; echo 7 > "+dir+"/count; exec sleep 600")
	if err != nil {
		t.Fatal(err)
	}
	awaitJob(t, c, id, "substate = 42")
	if out, err := c.Output(t.Context(), "qhold", id); err != nil || out != "" {
		t.Fatalf("without a script: %s, %v", out, err) // as PBS: the hold counts when it is queued again
	}
	awaitJob(t, c, id, "job_state = R")
	if _, err := c.Output(t.Context(), "qrls", id); err != nil {
		t.Fatal(err)
	}

	config := filepath.Join(c.Home("hosta"), "mom_priv", "config")
	text, _ := os.ReadFile(config)
	write(config, string(text)+fmt.Sprintf("\n$action checkpoint_abort 20 !%s/save %%sid %%path\n$action restart 20 !%s/restart %%sid %%path\n", dir, dir), 0o644)
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGKILL} { // it reads it at its start, too
		if err := c.Signal("hosta", sig); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Restart(t.Context(), "hosta"); err != nil {
		t.Fatal(err)
	}
	if err := c.Command(t.Context(), "qhold", id).Run(); err == nil {
		t.Error("qhold says nothing of a checkpoint that failed")
	}
	awaitJob(t, c, id, "job_state = R.*Hold_Types = n")
	if err := os.Remove(filepath.Join(dir, "refuse")); err != nil {
		t.Fatal(err)
	}
	if out, err := c.Output(t.Context(), "qhold", id); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	awaitJob(t, c, id, "job_state = H.*Hold_Types = u")
	for _, want := range []string{
		"req_holdjob: Checkpoint initiated.", "checkpoint_abort script " + dir + "/save: exit code 0",
		"checkpointed to " + filepath.Join(c.Home("hosta"), "checkpoint", id+".CK"),
	} {
		if log := (kept{c}).log("hosta"); !strings.Contains(log, id+";"+want+"\n") {
			t.Errorf("no %q in the mom's log", want)
		}
	}
	killLeader(t, c)
	if _, err := c.Output(t.Context(), "qrls", id); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "the output", func() error {
		out, err := os.ReadFile(filepath.Join(dir, "out"))
		if string(out) != "begun\ngoes on from 7\n" {
			err = fmt.Errorf("%q, %v", out, err)
		}
		return err
	})
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "accounting", func() error {
		lines, err := c.Accounting(leader)
		kinds := ""
		for _, line := range lines {
			if f := strings.SplitN(line, ";", 4); len(f) == 4 && f[2] == id {
				kinds += f[1]
			}
		}
		if kinds != "QSCTE" {
			return fmt.Errorf("%s, %v", kinds, err)
		}
		return nil
	})
	if left, _ := filepath.Glob(filepath.Join(c.Home("hosta"), "checkpoint", "*")); len(left) > 0 {
		waitFor(t, patience, "the checkpoint to go", func() error {
			if left, _ := filepath.Glob(filepath.Join(c.Home("hosta"), "checkpoint", "*")); len(left) > 0 {
				return fmt.Errorf("%v", left)
			}
			return nil
		})
	}
}
