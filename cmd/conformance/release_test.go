package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A job gives both sisters back while the mom of one is stopped and then that of its mother superior
// is killed: what ran on the one ends at once, on the other when its mom goes on, and the job runs on
// (specification: ramp-down, section 10).
func TestRelease_MomsStopAndDie(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "3")
	const marker = "3218"
	script := filepath.Join(t.TempDir(), "job")
	text := "#!/bin/sh\n" + c.Dir + "/bin/pbsdsh -n 1 /bin/sleep " + marker + " &\n" + c.Dir + "/bin/pbsdsh -n 2 /bin/sleep " + marker + " &\nsleep 600\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	id, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "-l", "select=1:ncpus=1:host=borg+1:ncpus=1:host=federer+1:ncpus=1:host=lendl", script)
	if err != nil {
		t.Fatal(err)
	}
	live := func(want int) {
		t.Helper()
		waitFor(t, patience, "programs on the sisters", func() error {
			n := 0
			for _, line := range processes(t, "/bin/sleep\x00"+marker) {
				if strings.HasPrefix(line, "/bin/sleep\x00") { // and not pbsdsh, which has asked for it
					n++
				}
			}
			if n != want {
				return fmt.Errorf("%d of them, want %d", n, want)
			}
			return nil
		})
	}
	hold := func(sig syscall.Signal, name string) {
		t.Helper()
		if err := c.Signal(name, sig); err != nil {
			t.Fatal(err)
		}
	}
	shows := func(what, text string, argv ...string) {
		t.Helper()
		waitFor(t, patience, what, func() error {
			out, err := c.Output(t.Context(), argv[0], argv[1:]...)
			if err == nil && !strings.Contains(out, text) {
				err = fmt.Errorf("%s", out)
			}
			return err
		})
	}
	live(2)
	hold(syscall.SIGSTOP, "lendl")
	if _, err := c.Output(t.Context(), "pbs_release_nodes", "-j", id, "-a"); err != nil {
		t.Fatal(err)
	}
	live(1)
	shows("the vnode of the mom that goes to be free", "state = free", "pbsnodes", "federer")
	shows("the vnode of the other to be held", id+"/0", "pbsnodes", "lendl")
	hold(syscall.SIGKILL, "borg")
	if err := c.Restart(t.Context(), "borg"); err != nil {
		t.Fatal(err)
	}
	hold(syscall.SIGCONT, "lendl")
	live(0)
	shows("the vnode of the other to be free", "state = free", "pbsnodes", "lendl")
	shows("the job to run on", "job_state = R", "qstat", "-f", id)
}
