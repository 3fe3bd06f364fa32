package conformance

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/transport"
)

// TestDevEnds kills the supervisor, after a mom has died: every process of the cluster
// ends, the orphaned job of the dead mom too.
func TestDevEnds(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "2")
	marker := "3217"
	for _, host := range []string{"borg", "federer"} {
		id, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "-l", "select=1:ncpus=1:host="+host, "--", "/bin/sleep", marker)
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, patience, "the job to run", func() error {
			out, err := c.Output(t.Context(), "qstat", "-f", id)
			if err == nil && !strings.Contains(out, "substate = 42") {
				err = fmt.Errorf("%s", out)
			}
			return err
		})
	}
	if err := c.Signal("borg", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.Kill()
	waitFor(t, patience, "all processes to end", func() error {
		if left := processes(t, c.Dir, "/bin/sleep\x00"+marker); len(left) > 0 {
			return fmt.Errorf("still there: %q", left)
		}
		return nil
	})
}

// processes returns the command lines that contain one of the words.
func processes(t *testing.T, words ...string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		line, err := os.ReadFile(f)
		for _, w := range words {
			if err == nil && strings.Contains(string(line), w) {
				found = append(found, string(line))
			}
		}
	}
	return found
}

// TestNoQuorum kills two of three replicas: commands say so within their budget, nothing
// changes, and all goes on when one is back.
func TestNoQuorum(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "1")
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range replicas {
		if r != leader {
			if err := c.Signal(r, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	budget, asker := 30*time.Second, c
	if testing.Short() {
		budget, asker = 20*time.Second, asking(c, short)
	}
	began := time.Now()
	out, err := asker.Output(t.Context(), "qsub", "-h", "--", "/bin/true")
	if err == nil || !strings.Contains(err.Error(), "quorum") && !strings.Contains(err.Error(), "outcome unknown") {
		t.Errorf("qsub without a quorum: %q, %v", out, err)
	}
	if took := time.Since(began); took > budget*3/2 {
		t.Errorf("qsub without a quorum took %v", took)
	}
	if all, err := c.Status(t.Context()); err != nil || len(all) != 3 {
		t.Errorf("status without a quorum: %v, %v", all, err)
	}
	if err := c.Restart(t.Context(), "--dead"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Output(t.Context(), "qsub", "-h", "--", "/bin/true"); err != nil {
		t.Error(err)
	}
}

// TestForeignCluster lets processes of one cluster try another.
func TestForeignCluster(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "1", "--replicas", "1")
	status, err := shared.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address := status[0].Address
	token, err := c.Output(t.Context(), "rampart", "token", "create", "--role", "mom")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Output(t.Context(), "rampart", "mom", "join", "--home", t.TempDir(), "--host", "x", "--token", token, "--replica", address)
	if err == nil || !strings.Contains(err.Error(), "not of the cluster") {
		t.Errorf("join with another cluster's token: %v", err)
	}
	id, err := transport.Files{Dir: filepath.Join(c.Home("borg"), "mom_priv", "tls")}.Identity()
	if err != nil {
		t.Fatal(err)
	}
	foreign := id.ClientTLS(transport.RoleReplica)
	foreign.InsecureSkipVerify, foreign.VerifyConnection = true, nil // we would talk, will they?
	conn, err := tls.Dial("tcp", address, foreign)
	if err != nil {
		return // refused in the handshake
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Errorf("a certificate of another cluster was taken: %v", err)
	}
}

// TestFullDisk fills the disk of a mom's task records: the start is refused whole, the
// job waits, and runs when there is room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	c := newCluster(t, "--mom", "borg")
	jobs := filepath.Join(c.Home("borg"), "mom_priv", "jobs")
	if err := syscall.Mount("tmpfs", jobs, "tmpfs", 0, "size=64k,mode=0751"); err != nil {
		t.Skipf("mount: %v", err)
	}
	defer syscall.Unmount(jobs, syscall.MNT_DETACH)
	filler := filepath.Join(jobs, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	out := filepath.Join(c.Dir, "out")
	id, err := c.Output(t.Context(), "qsub", "-j", "oe", "-o", out, "--", "/bin/echo", "ran")
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "the refusal in the mom's log, or what the mom has found before", func() error {
		err := grep(filepath.Join(c.Home("borg"), "mom_logs"), id+";cannot save job")
		for _, name := range replicas {
			if err != nil {
				err = grep(filepath.Join(c.Home(name), "server_logs"), ";borg;node takes no jobs: the spool cannot be written")
			}
		}
		return err
	})
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "the job to run", func() error {
		if data, err := os.ReadFile(out); string(data) != "ran\n" {
			return fmt.Errorf("output %q, %v", data, err)
		}
		return nil
	})
}

// grep looks for a text in the files of a folder.
func grep(dir, text string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && strings.Contains(string(data), text) {
			return nil
		}
	}
	return fmt.Errorf("no %q in %s", text, dir)
}

// TestDevWithoutRoot runs a cluster as an ordinary user, who manages it and runs jobs as
// himself; the exit status is that of his command.
func TestDevWithoutRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("every other test shows it")
	}
	const daemon = 1
	dir := filepath.Join(scratch, "user")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, daemon, daemon)); err != nil {
		t.Fatal(err)
	}
	script := `qmgr -c 'set server job_history_enable = True' && id=$(qsub -j oe -o ` + dir + `/out -- /usr/bin/id -u) &&
		until qstat -xf $id | grep -q 'job_state = F'; do sleep 0.1; done; exit 7`
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "rampart"), "dev", "--dir", filepath.Join(dir, "d"), "--moms", "1", "--replicas", "1", "--exec", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: daemon, Gid: daemon}}
	cmd.Env, cmd.Dir = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, dir
	said, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("exit status of --exec: %v, want 7\n%s", err, said)
	}
	if out, err := os.ReadFile(filepath.Join(dir, "out")); string(out) != "1\n" {
		t.Errorf("the job ran as %q, %v", out, err)
	}
}
