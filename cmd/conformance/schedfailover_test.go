package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// ofTheLeader are the attributes of the scheduler that say where the leader runs and what it does.
var ofTheLeader = regexp.MustCompile(`(?m)^    (sched_host|sched_priv|sched_log|state) = .*\n`)

// TestDropIn_SchedAndHooksSurviveFailover: what was set of the scheduler and of hooks is there
// when the leader has been killed, and so are the copies of hooks that tools read; both can be
// changed then, and the killed replica has the changes when it is back (L1, L11).
func TestDropIn_SchedAndHooksSurviveFailover(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("hooks are root's")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("hooks are Python: %v", err)
	}
	c := newCluster(t, "--mom", "hosta:ncpus=2,mem=2gb")
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(c.Dir, "h1.py")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	copied := func(text string, homes ...string) {
		t.Helper()
		for _, home := range homes {
			waitFor(t, patience, "the copy of the hook at "+home, func() error {
				for _, file := range []struct{ suffix, words string }{{"PY", text}, {"HK", "order=7"}} {
					at := filepath.Join(c.Home(home), "server_priv", "hooks", "h1."+file.suffix)
					got, err := os.ReadFile(at)
					if err != nil || !strings.Contains(string(got), file.words) {
						return fmt.Errorf("%s: %q, %v", at, got, err)
					}
				}
				return nil
			})
		}
	}
	delivered := func(times int) {
		t.Helper()
		waitFor(t, patience, fmt.Sprintf("the hook to come to the mom %d times", times), func() error {
			logs, _ := filepath.Glob(filepath.Join(c.Home("hosta"), "mom_logs", "[0-9]*"))
			var all strings.Builder
			for _, f := range logs {
				text, _ := os.ReadFile(f)
				all.Write(text)
			}
			if n := strings.Count(all.String(), ";Hook;h1.PY;copy hook-related file request received"); n < times {
				return fmt.Errorf("%d times", n)
			}
			return nil
		})
	}
	objects := func() string {
		t.Helper()
		var all string
		waitFor(t, patience, "an answer", func() error {
			all = ""
			for _, what := range []string{"list sched", "list hook h1", "export hook h1 application/x-python default"} {
				out, err := c.Output(t.Context(), "qmgr", "-c", what)
				if err != nil {
					return err
				}
				all += out + "\n"
			}
			return nil
		})
		return ofTheLeader.ReplaceAllString(all, "")
	}

	write("# one\nimport pbs\n")
	reads(t, c, `set sched preempt_order = "SC 50 R", job_sort_key = "ncpus HIGH, mem LOW", comment = "as it was"
create hook h1 event=exechost_periodic,freq=1000,order=7,alarm=9
import hook h1 application/x-python default `+script+"\n")
	copied("# one", replicas...)
	delivered(1)
	before := objects()
	if !strings.Contains(before, "preempt_order = SC 50 R\n") || !strings.Contains(before, "freq = 1000\n") {
		t.Fatalf("not all was set:\n%s", before)
	}

	if err := c.Signal(leader, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	left := followers(leader)
	if after := objects(); after != before {
		t.Errorf("there was\n%s\nand after the failover there is\n%s", before, after)
	}
	copied("# one", left...)
	write("# two\nimport pbs\n")
	waitFor(t, patience, "a new leader", func() error { _, err := c.Leader(t.Context()); return err })
	for _, d := range []string{"unset sched preempt_order", "set hook h1 alarm = 11", "import hook h1 application/x-python default " + script} {
		if out, err := c.Output(t.Context(), "qmgr", "-c", d); err != nil {
			t.Fatalf("%s: %v\n%s", d, err, out)
		}
	}
	copied("# two", left...)
	delivered(2)
	want := strings.NewReplacer("SC 50 R", "SCR", "alarm = 9", "alarm = 11", "# one", "# two").Replace(before)
	if after := objects(); after != want {
		t.Errorf("changed after the failover it is\n%s\nwant\n%s", after, want)
	}

	if err := c.Restart(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	copied("# two", replicas...)
	if after := objects(); after != want {
		t.Errorf("with the killed replica back there is\n%s\nwant\n%s", after, want)
	}
}
