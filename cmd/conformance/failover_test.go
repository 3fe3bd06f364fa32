package conformance

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rampart/cmd/devrun"
)

// waitFor polls until check has nothing to say.
func waitFor(t *testing.T, within time.Duration, what string, check func() error) {
	t.Helper()
	for began := time.Now(); ; poll(began) {
		err := check()
		if err == nil {
			return
		}
		if time.Since(began) > within {
			t.Fatalf("wait for %s: last seen: %v", what, err)
		}
	}
}

// A stream is a client that submits one job after the other, each of which leaves one
// line in a file of its own.
type stream struct {
	cluster *devrun.Cluster
	marks   string
	acked   []string
	failed  []error
}

func (s *stream) run(ctx context.Context, jobs int) {
	script := fmt.Sprintf("echo ran >> %s/$PBS_JOBID", s.marks)
	for range jobs {
		if ctx.Err() != nil {
			return
		}
		id, err := s.cluster.Output(ctx, "qsub", "-o", "/dev/null", "-j", "oe", "-k", "n", "--", "/bin/sh", "-c", script)
		if err != nil {
			s.failed = append(s.failed, err)
			continue
		}
		s.acked = append(s.acked, id)
	}
}

func streams(c *devrun.Cluster, marks string, n int) []*stream {
	all := make([]*stream, n)
	for i := range all {
		all[i] = &stream{cluster: c, marks: marks}
	}
	return all
}

// TestLeaderKilled shows L1, L2, L8 and L10 on real processes: the leader dies under a
// stream of submissions from three clients.
func TestLeaderKilled(t *testing.T) {
	c := newCluster(t, "--moms", "2")
	marks := filepath.Join(c.Dir, "marks")
	if err := os.Mkdir(marks, 0o777); err != nil {
		t.Fatal(err)
	}
	const each = 40
	clients := streams(c, marks, 3)
	var wg sync.WaitGroup
	for _, s := range clients {
		wg.Go(func() { s.run(t.Context(), each) })
	}
	waitFor(t, patience, "some jobs to have run", func() error {
		if ran, _ := os.ReadDir(marks); len(ran) < 10 {
			return fmt.Errorf("%d jobs ran", len(ran))
		}
		return nil
	})
	leader := killLeader(t, c)
	wg.Wait()
	if err := c.Restart(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	var acked []string
	for _, s := range clients {
		acked = append(acked, s.acked...)
		if len(s.failed) > 0 {
			t.Errorf("a failover shorter than the budget of a command fails none: %v", s.failed[0])
		}
	}
	awaitRun(t, c, marks, acked)
	awaitSameLedgers(t, c)
	checkLedger(t, c, acked)
}

// awaitRun waits until all jobs have ended, and wants one line of each.
func awaitRun(t *testing.T, c *devrun.Cluster, marks string, acked []string) {
	t.Helper()
	waitFor(t, 2*time.Minute, "all jobs to end", func() error {
		out, err := c.Output(t.Context(), "qstat")
		if err == nil && out != "" {
			err = fmt.Errorf("%d lines of qstat", strings.Count(out, "\n"))
		}
		return err
	})
	for _, id := range acked {
		if data, err := os.ReadFile(filepath.Join(marks, id)); string(data) != "ran\n" {
			t.Errorf("job %s was acknowledged; it left %q, %v; want one run", id, data, err)
		}
	}
	entries, err := os.ReadDir(marks)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if data, _ := os.ReadFile(filepath.Join(marks, e.Name())); bytes.Count(data, []byte("\n")) != 1 {
			t.Errorf("job %s ran more than once (L2)", e.Name())
		}
	}
}

// awaitSameLedgers waits until the accounting files of all replicas are byte-identical.
func awaitSameLedgers(t *testing.T, c *devrun.Cluster) {
	t.Helper()
	waitFor(t, patience, "identical ledgers (L10)", func() error {
		var first []string
		for i, r := range replicas {
			lines, err := c.Accounting(r)
			if err != nil {
				return err
			}
			if i > 0 && !slices.Equal(first, lines) {
				return fmt.Errorf("%s has %d records, %s has %d", replicas[0], len(first), r, len(lines))
			}
			first = lines
		}
		return nil
	})
}

// checkLedger wants Q, S and E of each job, once.
func checkLedger(t *testing.T, c *devrun.Cluster, acked []string) {
	t.Helper()
	lines, err := c.Accounting(replicas[0])
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for _, l := range lines {
		fields := strings.SplitN(l, ";", 4)
		if fields[1] == "L" {
			continue // the hourly one of licences names no job
		}
		of[fields[2]] += fields[1]
	}
	for _, id := range acked {
		if of[id] != "QSE" {
			t.Errorf("records of %s: %q, want QSE", id, of[id])
		}
	}
	if len(of) != len(acked) {
		t.Errorf("the ledger has %d jobs, and %d were acknowledged: one qsub is one job (L8)", len(of), len(acked))
	}
}

// TestLeaderStopped stops the leader like a machine that hangs, and wakes it when
// another leads: what it held back changes nothing.
func TestLeaderStopped(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "1")
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Signal(leader, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	id, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "--", "/bin/true")
	if err != nil {
		t.Fatalf("submit while the old leader hangs: %v", err)
	}
	if err := c.Signal(leader, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "the old leader to follow", func() error {
		all, err := c.Status(t.Context())
		if err != nil {
			return err
		}
		for _, r := range all {
			if r.Name == leader && r.Role == "follower" {
				return nil
			}
		}
		return fmt.Errorf("%+v", all)
	})
	waitFor(t, patience, "the job to end", func() error {
		checked, err := recordsOf(c, leader, id)
		if err == nil && types(checked) != "QSE" {
			err = fmt.Errorf("records of %s on the woken replica: %v", id, checked)
		}
		return err
	})
	awaitSameLedgers(t, c)
}

// TestMomKilled kills a mom under a running job: the job goes on under its shim, and its
// end is reported once by the next mom.
func TestMomKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg:ncpus=4,mem=8gb")
	out := filepath.Join(c.Dir, "out")
	release := filepath.Join(c.Dir, "release")
	script := fmt.Sprintf("echo begun; until test -e %s; do sleep 0.1; done; echo done", release)
	id, err := c.Output(t.Context(), "qsub", "-o", out, "-j", "oe", "--", "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "the job to run", func() error {
		status, err := c.Output(t.Context(), "qstat", "-f", id)
		if err == nil && !strings.Contains(status, "substate = 42") {
			err = fmt.Errorf("%s", status)
		}
		return err
	})
	if err := c.Signal("borg", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := c.Restart(t.Context(), "borg"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(release, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "the end of the job", func() error {
		lines, err := recordsOf(c, replicas[0], id)
		if err == nil && types(lines) != "QSE" {
			err = fmt.Errorf("records: %v", lines)
		}
		return err
	})
	if data, err := os.ReadFile(out); string(data) != "begun\ndone\n" {
		t.Errorf("output %q, %v", data, err)
	}
	awaitSameLedgers(t, c)
	checkLedger(t, c, []string{id})
}
