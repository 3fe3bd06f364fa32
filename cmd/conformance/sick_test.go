package conformance

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSickHost: a host whose disk refuses some of what is synced, or that has no processes for new programs, does
// not hold up jobs while another one has room; it takes none until it is well, whoever leads, and then by itself.
func TestSickHost(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace")
	}
	c := kept{newCluster(t, "--mom", "hosta:ncpus=8", "--mom", "hostb:ncpus=8")}
	c.must(t, "qmgr", "-c", "set server job_history_enable=True")
	mom, err := c.Pid("hosta")
	if err != nil {
		t.Fatal(err)
	}
	lives := c.submit(t, "300", "-l", "select=1:ncpus=1:host=hosta")
	inState(c, t, lives, "R")
	for _, ill := range []struct{ calls, how string }{
		{"fsync", "error=ENOSPC:when=2+3"},
		{"openat", "error=EMFILE"},
		{"clone,clone3,vfork", "error=EAGAIN"},
	} {
		t.Log(ill)
		trace := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-o", "/dev/null",
			"-e", "trace="+ill.calls, "-e", "inject="+ill.calls+":"+ill.how, "-p", strconv.Itoa(mom))
		if err := trace.Start(); err != nil {
			t.Fatal(err)
		}
		well := func() {
			_ = trace.Process.Signal(syscall.SIGTERM)
			_ = trace.Wait()
		}
		t.Cleanup(well)
		waitFor(t, patience, "strace", func() error { return watched(mom) })
		began := time.Now()
		var jobs []string
		for range 6 {
			jobs = append(jobs, c.submit(t, "0", "-l", "select=1:ncpus=1"))
		}
		for _, job := range jobs {
			inState(c, t, job, "F")
		}
		t.Logf("six jobs took %s", time.Since(began))
		waitFor(t, patience, "the host to be down", func() error { return shows(c, t, "hosta", "down") })
		if ill.calls == "fsync" {
			leader, err := c.Leader(t.Context())
			if err == nil {
				err = c.Signal(leader, syscall.SIGKILL)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := shows(c, t, "hosta", "down"); err != nil {
				t.Error(err)
			}
			if err := c.Restart(t.Context(), leader); err != nil {
				t.Fatal(err)
			}
		}
		well()
		waitFor(t, patience, "the host to be free", func() error { return shows(c, t, "hosta", "state = free") })
	}
	if now, err := c.Pid("hosta"); err != nil || now != mom {
		t.Errorf("the mom has died: %d, %d, %v", mom, now, err)
	}
	if out := c.must(t, "qstat", "-f", lives); !strings.Contains(out, "job_state = R") {
		t.Errorf("the job that ran there: %s", out)
	}
}

// watched reports whether somebody traces the process.
func watched(pid int) error {
	out, err := exec.Command("grep", "TracerPid", "/proc/"+strconv.Itoa(pid)+"/status").Output()
	if err == nil && strings.Contains(string(out), "TracerPid:\t0") {
		err = fmt.Errorf("not traced")
	}
	return err
}

// inState waits until a job is in a state.
func inState(c kept, t *testing.T, job, state string) {
	t.Helper()
	waitFor(t, patience, job+" in state "+state, func() error {
		out, err := c.Output(t.Context(), "qstat", "-xf", job)
		if err == nil && !strings.Contains(out, "job_state = "+state) {
			err = fmt.Errorf("%s", out)
		}
		return err
	})
}

// shows looks for a word in what pbsnodes says of a host.
func shows(c kept, t *testing.T, host, word string) error {
	t.Helper()
	if out := c.must(t, "pbsnodes", host); !strings.Contains(out, word) {
		return fmt.Errorf("no %q in %s", word, out)
	}
	return nil
}
