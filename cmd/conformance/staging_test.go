package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/cmd/devrun"
)

// away leads from a home to the root, past dev's $usecp lines for absolute paths: the network
// is used although all hosts share this disk.
const away = "../../../../../.."

// stagedJob is a job on borg whose files are on federer.
type stagedJob struct {
	c       *devrun.Cluster
	id, dir string
}

func submitStaged(t *testing.T, c *devrun.Cluster, lists ...string) stagedJob {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("input"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-o", "federer:" + away + dir + "/out", "-j", "oe", "-l", "select=1:ncpus=1:host=borg"}
	for _, l := range lists {
		args = append(args, "-W", strings.NewReplacer("DIR", dir, "AWAY", away+dir).Replace(l))
	}
	id, err := c.Output(t.Context(), "qsub", append(args, "--", "/bin/sh", "-c", "echo ran >>"+dir+"/runs; cp "+dir+"/in "+dir+"/made; echo out")...)
	if err != nil {
		t.Fatal(err)
	}
	return stagedJob{c, id, dir}
}

// awaits waits until the job shows what is wanted.
func (j stagedJob) awaits(t *testing.T, want string) {
	t.Helper()
	waitFor(t, patience, want, func() error {
		out, err := j.c.Output(t.Context(), "qstat", "-xf", j.id)
		if err == nil && !strings.Contains(out, want) {
			err = fmt.Errorf("%s", out)
		}
		return err
	})
}

// has compares files with what is to be in them.
func (j stagedJob) has(t *testing.T, files map[string]string) {
	t.Helper()
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(j.dir, name)); string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}

func signalTo(t *testing.T, c *devrun.Cluster, name string, sig syscall.Signal) {
	t.Helper()
	if err := c.Signal(name, sig); err != nil {
		t.Fatal(err)
	}
}

// TestStaging_DeathsOnTheWay kills mother superior and leader while files are on their way in,
// and again while they are on their way out, for the other host is stopped. All of it is done
// in the end, and the program runs once.
func TestStaging_DeathsOnTheWay(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "2")
	if _, err := c.Output(t.Context(), "qmgr", "-c", "set server job_history_enable = True"); err != nil {
		t.Fatal(err)
	}
	die := func(substate string, j stagedJob) {
		j.awaits(t, "substate = "+substate)
		leader, err := c.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		signalTo(t, c, "borg", syscall.SIGKILL)
		signalTo(t, c, leader, syscall.SIGKILL)
		signalTo(t, c, "federer", syscall.SIGCONT)
		waitFor(t, patience, "the dead to be back", func() error { return c.Restart(t.Context(), "borg", leader) })
	}
	signalTo(t, c, "federer", syscall.SIGSTOP)
	in := submitStaged(t, c, "stagein=DIR/here@federer:AWAY/in")
	die("13", in)
	in.awaits(t, "job_state = F")
	in.has(t, map[string]string{"runs": "ran\n", "in": "input", "out": "out\n"})

	signalTo(t, c, "federer", syscall.SIGSTOP)
	out := submitStaged(t, c, "stageout=DIR/made@federer:AWAY/there")
	die("51", out)
	out.awaits(t, "job_state = F")
	out.has(t, map[string]string{"runs": "ran\n", "there": "input", "out": "out\n"})
	if _, err := os.Stat(filepath.Join(out.dir, "made")); !os.IsNotExist(err) {
		t.Errorf("what was staged out is there still: %v", err)
	}
}

// TestStaging_DeadTarget: the job does not wait for ever for a host that is gone.
func TestStaging_DeadTarget(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "2")
	if _, err := c.Output(t.Context(), "qmgr", "-c", "set server job_history_enable = True"); err != nil {
		t.Fatal(err)
	}
	signalTo(t, c, "federer", syscall.SIGKILL)
	j := submitStaged(t, c, "stageout=DIR/made@federer:AWAY/there")
	j.awaits(t, "job_state = E")
	began := time.Now()
	waitFor(t, 3*patience, "the end", func() error {
		out, err := c.Output(t.Context(), "qstat", "-xf", j.id)
		if err == nil && !strings.Contains(out, "job_state = F") {
			err = fmt.Errorf("%s", out)
		}
		return err
	})
	t.Logf("given up after %s", time.Since(began))
	j.has(t, map[string]string{"made": "input", "runs": "ran\n"})
	kept := filepath.Join(c.Home("borg"), "undelivered", j.id+".OU")
	if text, err := os.ReadFile(kept); err != nil || string(text) != "out\n" {
		t.Errorf("%s: %q, %v", kept, text, err)
	}
	out, err := c.Output(t.Context(), "qstat", "-xfw", j.id)
	if err != nil || !strings.Contains(out, "comment = File stage out failed: Unable to copy file") || !strings.Contains(out, "Stageout_status = 0") {
		t.Errorf("%s, %v", out, err)
	}
}
