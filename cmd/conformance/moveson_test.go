package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/cmd/devrun"
	"rampart/transport"
)

// asking returns the cluster as it is seen by a command with these variables.
func asking(c *devrun.Cluster, variables ...string) *devrun.Cluster {
	return &devrun.Cluster{Dir: c.Dir, Env: append(slices.Clone(c.Env), variables...)}
}

// short is a budget that a command must not need whole, where one that waits for a replica
// that says nothing would.
const short = "PBS_TIMEOUT=20"

// movesOn submits a job, by way of each of the gateways and within the short budget. It
// asks again under the same request id, and wants the same answer: one request is one job,
// whoever was asked meanwhile (L8).
func movesOn(t *testing.T, c *devrun.Cluster, gateways map[string]*devrun.Cluster) {
	t.Helper()
	for name, through := range gateways {
		id := "PBS_REQUEST_ID=" + string(transport.NewRequestID())
		begun := time.Now()
		job, err := asking(through, short, id).Output(t.Context(), "qsub", "-h", "-N", "by-"+name, "--", "/bin/true")
		if err != nil {
			t.Errorf("by way of %s: %v", name, err)
			continue
		}
		t.Logf("by way of %s: %s after %s", name, job, time.Since(begun).Round(time.Millisecond))
		again, err := asking(c, id).Output(t.Context(), "qsub", "-h", "-N", "by-"+name, "--", "/bin/true")
		if err != nil || again != job {
			t.Errorf("asked again under its request id: %q, %v, want %q", again, err, job)
		}
		if all, err := c.Output(t.Context(), "qselect", "-N", "by-"+name); err != nil || all != job {
			t.Errorf("jobs of this request: %q, %v, want %q", all, err, job)
		}
	}
}

// leads returns the name of the leader.
func leads(t *testing.T, c *devrun.Cluster) string {
	t.Helper()
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return leader
}

// from lists gateways, the victim's first.
func from(c *devrun.Cluster, victim string) map[string]*devrun.Cluster {
	others := slices.DeleteFunc(slices.Clone(replicas), func(r string) bool { return r == victim })
	return map[string]*devrun.Cluster{
		"its-gateway": through(c, append([]string{victim}, others...)...),
		"a-mom":       through(c, "borg"),
		"a-follower":  through(c, others[0]),
	}
}

// withMom starts a cluster with a mom that knows every replica, and a job of ours on it:
// so it vouches for us.
func withMom(t *testing.T) *devrun.Cluster {
	t.Helper()
	c := newCluster(t, "--moms", "1")
	waitFor(t, patience, "the mom to know all replicas", func() error {
		text, err := os.ReadFile(filepath.Join(c.Home("borg"), "mom_priv", "mom.json"))
		if n := strings.Count(string(text), ":15001"); err == nil && n < len(replicas) {
			err = fmt.Errorf("it knows %d", n)
		}
		return err
	})
	job, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "--", "/bin/sleep", "1000")
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "the job to run", func() error {
		out, err := c.Output(t.Context(), "qstat", "-f", job)
		if err == nil && !strings.Contains(out, "substate = 42") {
			err = fmt.Errorf("%s", out)
		}
		return err
	})
	return c
}

// TestMovesOn_DeadReplica: the leader is dead.
func TestMovesOn_DeadReplica(t *testing.T) {
	t.Parallel()
	c := withMom(t)
	victim := killLeader(t, c)
	movesOn(t, c, from(c, victim))
	restart(t, c, victim)
}

// TestMovesOn_StoppedReplica: the leader is stopped, and holds its connections open.
func TestMovesOn_StoppedReplica(t *testing.T) {
	t.Parallel()
	c := withMom(t)
	victim := leads(t, c)
	if err := c.Signal(victim, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Signal(victim, syscall.SIGCONT) }()
	movesOn(t, c, from(c, victim))
}

// TestMovesOn_DeposedReplica: a leader was stopped, another one leads, and the old one is
// woken by the request: it must not believe that it leads.
func TestMovesOn_DeposedReplica(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "1")
	victim := leads(t, c)
	if err := c.Signal(victim, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Output(t.Context(), "qsub", "-h", "--", "/bin/true"); err != nil { // another one leads
		t.Fatal(err)
	}
	if err := c.Signal(victim, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	movesOn(t, c, map[string]*devrun.Cluster{"its-gateway-alone": through(c, victim)})
}

// TestUnknownOutcome_IsAskedAgain: nobody says what became of a request. The command ends
// with its budget and names the request id; repeated under that id it tells the outcome,
// and does nothing twice.
func TestUnknownOutcome_IsAskedAgain(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "0")
	victim := follower(t, c)
	if err := c.Signal(victim, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_, err := asking(through(c, victim), "PBS_TIMEOUT=5").Output(t.Context(), "qsub", "-h", "-N", "open", "--", "/bin/true")
	t.Logf("after %s: %v", time.Since(begun).Round(time.Millisecond), err)
	if err == nil || !strings.Contains(err.Error(), "exit status 102") || !strings.Contains(err.Error(), "outcome unknown") {
		t.Fatalf("a request that nobody answers: %v", err)
	}
	_, id, ok := strings.Cut(err.Error(), "repeat the command with ")
	if !ok || !strings.HasPrefix(id, "PBS_REQUEST_ID=") {
		t.Fatalf("it is not said how to ask again: %v", err)
	}
	if err := c.Signal(victim, syscall.SIGCONT); err != nil { // it finds the request in its socket
		t.Fatal(err)
	}
	job, err := asking(c, id).Output(t.Context(), "qsub", "-h", "-N", "open", "--", "/bin/true")
	if err != nil {
		t.Fatalf("asked again: %v", err)
	}
	waitFor(t, patience, "replicas that agree", func() error { return agree(t.Context(), c) })
	if all, err := c.Output(t.Context(), "qselect", "-N", "open"); err != nil || all != job {
		t.Errorf("jobs of this request: %q, %v, want %q", all, err, job)
	}
	if out, err := asking(c, id).Output(t.Context(), "qsub", "-h", "-N", "other", "--", "/bin/true"); err == nil {
		t.Errorf("another request under the same id is taken: %s", fmt.Sprint(out))
	}
}

// TestTimeout_BadOnesAreRefused: nothing is asked under a budget that makes no sense.
func TestTimeout_BadOnesAreRefused(t *testing.T) {
	for _, command := range [][]string{{"qstat"}, {"rampart", "cluster", "status"}} {
		out, err := asking(shared, "PBS_TIMEOUT=2").Output(t.Context(), command[0], command[1:]...)
		if err == nil || !strings.Contains(err.Error(), `PBS_TIMEOUT: "2" is no number of seconds from 5 to 86400`) {
			t.Errorf("%v: %q, %v", command, out, err)
		}
	}
}
