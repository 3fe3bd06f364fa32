package conformance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/cmd/devrun"
)

// stallable puts a replica's log on a file system of its own, whose writes can be made to
// hang: what a dead disk or a lost path to storage does. The replica is down.
func stallable(t *testing.T, c *devrun.Cluster, name string) (stall, heal func()) {
	t.Helper()
	image, raft := filepath.Join(c.Dir, "disk"), raftOf(c, name)
	aside := raft + ".aside"
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 64<<20), os.Rename(raft, aside), os.Mkdir(raft, 0o700)); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "mkfs.ext4", "-q", image)
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "loop", image, raft).CombinedOutput(); err != nil {
		t.Skipf("mount: %v\n%s", err, out)
	}
	heal = func() { _ = exec.Command("fsfreeze", "--unfreeze", raft).Run() }
	t.Cleanup(func() {
		heal()
		_ = syscall.Unmount(raft, syscall.MNT_DETACH)
	})
	mustRun(t, "cp", "-a", aside+"/.", raft)
	return func() {
		// Nobody could end a process that hangs in a write, if we were killed now.
		rescue := exec.Command("sh", "-c", `sleep 60; fsfreeze --unfreeze "$0"`, raft)
		if err := rescue.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = rescue.Process.Kill()
			_ = rescue.Wait()
		})
		mustRun(t, "fsfreeze", "--freeze", raft)
	}, heal
}

// TestStalledDisk: the disk of the leader hangs. Another one leads and serves (L12); the old one
// says since when, lives, and follows by itself when its disk answers.
func TestStalledDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	for _, tool := range []string{"mkfs.ext4", "mount", "fsfreeze"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	t.Parallel()
	c := newCluster(t, "--moms", "0")
	victim := follower(t, c)
	kill(t, c, victim)
	stall, heal := stallable(t, c, victim)
	restart(t, c, victim)
	waitFor(t, patience, victim+" to lead", func() error {
		_, err := c.Output(t.Context(), "rampart", "cluster", "transfer", victim)
		if leader, unknown := c.Leader(t.Context()); leader != victim {
			err = fmt.Errorf("%s leads: %w", leader, errors.Join(err, unknown))
		}
		return err
	})
	pid, err := c.Pid(victim)
	if err != nil {
		t.Fatal(err)
	}
	stall()
	began := time.Now()
	if _, err := c.Output(t.Context(), "qsub", "-h", "--", "/bin/true"); err != nil {
		t.Errorf("submit while the leader's disk hangs: %v", err)
	}
	t.Logf("a submission was acknowledged %s after the leader's disk began to hang", time.Since(began).Round(time.Millisecond))
	waitFor(t, patience, "the word that "+victim+" is silent", func() error {
		out, _ := c.Output(t.Context(), "rampart", "cluster", "status")
		if want := "silent: " + raftOf(c, victim) + " has not answered since 2"; !strings.Contains(out, want) {
			return fmt.Errorf("no %q in\n%s", want, out)
		}
		return grep(filepath.Join(c.Dir, "logs"), "the store does not answer: this replica is silent until it does")
	})
	if leader, err := c.Leader(t.Context()); err != nil || leader == victim {
		t.Errorf("%s leads with a disk that hangs: %v", leader, err)
	}
	heal()
	waitFor(t, patience, victim+" to follow", func() error {
		if err := grep(filepath.Join(c.Dir, "logs"), "the store answers again: this replica goes on"); err != nil {
			return err
		}
		out, _ := c.Output(t.Context(), "rampart", "cluster", "status") // degraded: its new disk is small
		if !strings.Contains(out, victim) || strings.Contains(out, "silent: ") {
			return errors.New(out)
		}
		return nil
	})
	if now, err := c.Pid(victim); err != nil || now != pid {
		t.Errorf("%s runs as process %d, and was %d: %v", victim, now, pid, err)
	}
}
