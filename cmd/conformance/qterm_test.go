package conformance

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
)

// ended waits until all replicas have ended, each with exit status 0: units that restart on
// failure leave them down.
func ended(t *testing.T, c *devrun.Cluster, names ...string) {
	t.Helper()
	endedAgain(t, c, 1, names...)
}

// endedAgain waits until they have ended for the nth time.
func endedAgain(t *testing.T, c *devrun.Cluster, n int, names ...string) {
	t.Helper()
	waitFor(t, patience, "the replicas to end", func() error {
		for _, name := range names {
			if got := c.Ended(name); len(got) != n || got[n-1] != "exit status 0" {
				return fmt.Errorf("%s: %v", name, got)
			}
		}
		return nil
	})
}

func stateOf(t *testing.T, c *devrun.Cluster, job string) string {
	t.Helper()
	out, err := c.Output(t.Context(), "qstat", "-x", "-f", job)
	if err != nil {
		return err.Error()
	}
	return out
}

func awaitState(t *testing.T, c *devrun.Cluster, job string, words ...string) {
	t.Helper()
	waitFor(t, 2*patience, strings.Join(words, ", "), func() error {
		text := stateOf(t, c, job)
		if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			return errors.New(text)
		}
		return nil
	})
}

// TestQterm_QuickLeavesJobsRunning: all replicas end, the job does not notice; when they are
// back it still is in its first run.
func TestQterm_QuickLeavesJobsRunning(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "hosta:ncpus=4,mem=4gb")
	if _, err := c.Output(t.Context(), "qmgr", "-c", "set server job_history_enable = True"); err != nil {
		t.Fatal(err)
	}
	job := submitSteady(t, c)
	_, pid := job.runs(t, 1)
	mustBeGone := servers(t, c)
	if _, err := c.Output(t.Context(), "qterm"); err != nil {
		t.Fatal(err)
	}
	mustBeGone()
	ended(t, c, replicas...)
	if !alive(pid) {
		t.Fatal("the job has ended with the servers")
	}
	if err := c.Restart(t.Context(), replicas...); err != nil {
		t.Fatal(err)
	}
	awaitState(t, c, job.id, "job_state = R", "run_count = 1\n")
	if !alive(pid) {
		t.Error("the job has ended when the servers came back")
	}
	if _, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "--", "/bin/true"); err != nil {
		t.Error(err)
	}
}

// TestQterm_ImmediateRequeues: running jobs are queued again, or aborted, before the servers
// end; nothing starts in between.
func TestQterm_ImmediateRequeues(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "hosta:ncpus=4,mem=4gb")
	if _, err := c.Output(t.Context(), "qmgr", "-c", "set server job_history_enable = True"); err != nil {
		t.Fatal(err)
	}
	again, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "--", "/bin/sleep", "1000")
	if err != nil {
		t.Fatal(err)
	}
	once, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "-r", "n", "--", "/bin/sleep", "1000")
	if err != nil {
		t.Fatal(err)
	}
	awaitState(t, c, again, "session_id = ")
	awaitState(t, c, once, "session_id = ")
	if _, err := c.Output(t.Context(), "qterm", "-t", "immediate"); err != nil {
		t.Fatal(err)
	}
	ended(t, c, replicas...)
	if err := c.Restart(t.Context(), replicas...); err != nil {
		t.Fatal(err)
	}
	awaitState(t, c, again, "job_state = R", "run_count = 2\n")
	awaitState(t, c, once, "job_state = F", "run_count = 1\n")
}

// TestQterm_OneReplica: the others go on, and it comes back.
func TestQterm_OneReplica(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "hosta:ncpus=4,mem=4gb")
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Output(t.Context(), "qterm", leader); err != nil {
		t.Fatal(err)
	}
	ended(t, c, leader)
	if _, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "--", "/bin/true"); err != nil {
		t.Error(err)
	}
	if _, err := c.Output(t.Context(), "qterm", "nosuch"); err == nil {
		t.Error("qterm of nobody succeeded")
	}
	if err := c.Restart(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
}

// servers returns a check that no replica serves any more, which waits for nothing.
func servers(t *testing.T, c *devrun.Cluster) (mustBeGone func()) {
	t.Helper()
	all, err := c.Status(t.Context())
	if err != nil || len(all) != len(replicas) {
		t.Fatalf("replicas %v: %v", all, err)
	}
	return func() {
		t.Helper()
		for _, r := range all {
			if conn, err := net.Dial("tcp", r.Address); err == nil {
				_ = conn.Close()
				t.Errorf("%s serves when qterm has returned", r.Name)
			}
		}
	}
}

// TestQterm_WithADeadReplicaAndADeadMom: a replica that is gone already, and a mom that cannot give its
// deadline back, do not keep qterm from returning when the others are gone.
func TestQterm_WithADeadReplicaAndADeadMom(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "hosta:ncpus=4,mem=4gb", "--mom", "hostb:ncpus=4,mem=4gb")
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustBeGone := servers(t, c)
	dead := replicas[0]
	if dead == leader {
		dead = replicas[1]
	}
	for _, name := range []string{dead, "hostb"} {
		if err := c.Signal(name, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Output(t.Context(), "qterm"); err != nil {
		t.Fatal(err)
	}
	mustBeGone()
}
