package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
	"rampart/transport"
)

// A change is a command line that changes the state, under a request id of its own.
type change struct {
	id   string
	args []string
}

func (ch change) run(t *testing.T, c *devrun.Cluster) error {
	t.Helper()
	again := *c
	again.Env = append(append([]string{}, c.Env...), "PBS_REQUEST_ID="+ch.id)
	if out, err := again.Output(t.Context(), ch.args[0], ch.args[1:]...); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(ch.args, " "), err, out)
	}
	return nil
}

// TestChanges_OnceThroughADeadLeader shows L8 for the commands that move, order, start and
// write to jobs and that open and close queues: each is asked at a follower, and asked
// again under its id when the leader has died. It is done once.
func TestChanges_OnceThroughADeadLeader(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "hosta:ncpus=4,mem=4gb")
	run := func(args ...string) string {
		t.Helper()
		out, err := c.Output(t.Context(), args[0], args[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	run("qmgr", "-c", "create queue other queue_type=Execution,enabled=True,started=False")
	out := filepath.Join(c.Dir, "out")
	moved := run("qsub", "-o", "/dev/null", "-j", "oe", "-h", "--", "/bin/true")
	one := []string{"qsub", "-o", "/dev/null", "-j", "oe", "-q", "other", "-l", "ncpus=3", "--", "/bin/true"} // only one of them fits beside another job
	first, second := run(one...), run(one...)
	started := run("qsub", "-q", "other", "-o", out, "-j", "oe", "--", "/bin/sleep", "1000")
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var changes []change
	for _, args := range [][]string{
		{"qmove", "other", moved},
		{"qorder", first, second},
		{"qrun", "-H", "(hosta:ncpus=1)", started},
		{"qmsg", "-O", "heard once", started},
		{"qdisable", "other"},
	} {
		ch := change{string(transport.NewRequestID()), args}
		changes = append(changes, ch)
		if args[0] == "qmsg" { // a message wants a job that runs
			waitFor(t, patience, "the job to run", func() error {
				if text := run("qstat", "-f", started); !strings.Contains(text, "session_id = ") {
					return errors.New(text)
				}
				return nil
			})
		}
		if err := ch.run(t, through(c, followers(leader)[0])); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Signal(leader, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, ch := range changes {
		if err := ch.run(t, through(c, followers(leader)...)); err != nil {
			t.Errorf("again: %v", err)
		}
	}
	if text := run("qstat", "-f", started); !strings.Contains(text, "run_count = 1\n") {
		t.Errorf("started more than once:\n%s", text)
	}
	if err := c.Restart(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	run("qstart", "other")
	waitFor(t, patience, "both jobs to have run", func() error { return startedInOrder(c, followers(leader)[0], second, first) })
	run("qdel", started, moved)
	waitFor(t, patience, "the output", func() error {
		text, err := os.ReadFile(out)
		if err == nil && strings.Count(string(text), "heard once") != 1 {
			err = fmt.Errorf("the output is %q", text)
		}
		return err
	})
	lines, err := recordsOf(c, followers(leader)[0], moved)
	if err != nil || strings.Count(types(lines), "M") != 1 {
		t.Errorf("the records of the moved job: %s, %v", types(lines), err)
	}
}

// startedInOrder reports whether the ledger has the start of one job before that of another.
func startedInOrder(c *devrun.Cluster, replica, earlier, later string) error {
	lines, err := c.Accounting(replica)
	if err != nil {
		return err
	}
	var order []string
	for _, l := range lines {
		if fields := strings.SplitN(l, ";", 4); len(fields) == 4 && fields[1] == "S" && (fields[2] == earlier || fields[2] == later) {
			order = append(order, fields[2])
		}
	}
	if len(order) != 2 || order[0] != earlier {
		return fmt.Errorf("started in the order %v, want %s first", order, earlier)
	}
	return nil
}

// followers returns the replicas that do not lead.
func followers(leader string) []string {
	return slices.DeleteFunc(slices.Clone(replicas), func(name string) bool { return name == leader })
}
