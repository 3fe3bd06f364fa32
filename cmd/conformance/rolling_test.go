package conformance

import (
	"context"
	"flag"
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

var rounds = flag.Int("rounds", 0, "how often TestRollingRestart restarts every replica (default: 5, with -short 1)")

// through returns the cluster as it is seen by somebody who knows these gateways only.
func through(c *devrun.Cluster, names ...string) *devrun.Cluster {
	var paths []string
	for _, n := range names {
		paths = append(paths, filepath.Join(c.Home(n), "run", n+".sock"))
	}
	return &devrun.Cluster{Dir: c.Dir, Env: append(slices.Clone(c.Env), "PBS_GATEWAY="+strings.Join(paths, ","))}
}

// A visitor runs one command after the other through his gateways: each round is a job that
// runs, a look at it, and a job that is deleted.
type visitor struct {
	c    *devrun.Cluster
	name string

	asked  []question
	ran    []string
	gone   []string
	failed []error
}

// A question is when a command began and when it had its answer.
type question struct{ begun, ended time.Time }

func (v *visitor) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		if id, ok := v.ask("qsub", "-j", "oe", "-o", "/dev/null", "-N", fmt.Sprintf("%s-%d", v.name, n), "--", "/bin/true"); ok {
			v.ran = append(v.ran, id)
			v.ask("qstat", "-x", id)
		}
		if id, ok := v.ask("qsub", "-h", "--", "/bin/true"); ok {
			v.gone = append(v.gone, id)
			v.ask("qdel", id)
		}
	}
}

// ask runs a command to its end, also when the test goes on to something else.
func (v *visitor) ask(name string, args ...string) (string, bool) {
	begun := time.Now()
	out, err := v.c.Output(context.Background(), name, args...)
	v.asked = append(v.asked, question{begun, time.Now()})
	if err != nil {
		v.failed = append(v.failed, fmt.Errorf("%s: %w", v.name, err))
	}
	return out, err == nil
}

// longest returns the longest that a command waited which had an answer since then.
func (v *visitor) longest(since time.Time) (most time.Duration) {
	for _, q := range v.asked {
		if q.ended.After(since) {
			most = max(most, q.ended.Sub(q.begun))
		}
	}
	return most
}

// A patient is a job with somebody who waits for its end.
type patient struct {
	cmd  interface{ Wait() error }
	said *output
}

// TestRollingRestart restarts one replica after the other, as an upgrade does, under people
// at every gateway. No command fails, none is lost or doubled, and those who wait or watch
// for long go on.
func TestRollingRestart(t *testing.T) {
	n := *rounds
	if n == 0 {
		n = 5
		if testing.Short() {
			n = 1
		}
	}
	c := newCluster(t, "--mom", "borg:ncpus=64,mem=64gb")
	if _, err := c.Output(t.Context(), "qmgr", "-c", "set server job_history_enable = True"); err != nil {
		t.Fatal(err)
	}
	// borg's mom vouches for the owners of jobs on it only.
	if _, err := c.Output(t.Context(), "qsub", "-N", "stays", "-o", "/dev/null", "-j", "oe", "--", "/bin/sleep", "1000"); err != nil {
		t.Fatal(err)
	}
	gate := filepath.Join(c.Dir, "gate")
	waiters, watchers := wait(t, c, gate), watch(t, c)
	visitors := []*visitor{
		{c: through(c, "s1"), name: "s1"},
		{c: through(c, "s2"), name: "s2"},
		{c: through(c, "s3"), name: "s3"},
		{c: through(c, "borg"), name: "borg"},
		{c: c, name: "all"},
	}
	ctx, end := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for _, v := range visitors {
		asking.Go(func() { v.run(ctx) })
	}
	restarts := restartAll(t, c, n)
	end()
	asking.Wait()
	tell(t, restarts, visitors)
	if err := os.WriteFile(gate, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for gateway, p := range waiters {
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("qsub at %s, which waited for its job: %v\n%s", gateway, err, p.said.String())
		}
	}
	judge(t, c, visitors, len(waiters), 1)
	for gateway, p := range watchers {
		waitFor(t, patience, "the last job to be shown at "+gateway, p.said.shows("last-one"))
	}
}

// restartAll restarts each replica n times, and returns when.
func restartAll(t *testing.T, c *devrun.Cluster, n int) (all []restarted) {
	t.Helper()
	for range n {
		for _, name := range replicas {
			leader, err := c.Leader(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, restarted{name, leader == name, time.Now()})
			if err := c.Signal(name, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			awaitEnd(t, c, name)
			if err := c.Restart(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			var goal uint64
			waitFor(t, patience, name+" to be level", func() error { return level(t.Context(), c, &goal) })
		}
	}
	return all
}

// restarted is a restart of a replica.
type restarted struct {
	name string
	led  bool
	at   time.Time
}

// level wants every replica to have applied what one of them had when it was first asked.
func level(ctx context.Context, c *devrun.Cluster, goal *uint64) error {
	all, err := c.Status(ctx)
	if err != nil {
		return err
	}
	up := 0
	first := *goal == 0
	for _, r := range all {
		if first {
			*goal = max(*goal, r.Applied)
		}
		if (r.Role == "leader" || r.Role == "follower") && r.Applied >= *goal {
			up++
		}
	}
	if up < len(replicas) {
		return fmt.Errorf("not yet at %d: %+v", *goal, all)
	}
	return nil
}

// tell prints how long commands waited at most in each restart.
func tell(t *testing.T, restarts []restarted, visitors []*visitor) {
	t.Helper()
	var own, others []time.Duration
	asked := 0
	for i, r := range restarts {
		for _, v := range visitors {
			until := time.Now()
			if i+1 < len(restarts) {
				until = restarts[i+1].at
			}
			within := visitor{asked: slices.DeleteFunc(slices.Clone(v.asked), func(q question) bool { return q.begun.After(until) })}
			if longest := within.longest(r.at); v.name == r.name {
				own = append(own, longest)
			} else {
				others = append(others, longest)
			}
		}
	}
	for _, v := range visitors {
		asked += len(v.asked)
	}
	t.Logf("%d restarts, %d commands; the longest wait of a command in a restart: at the replica's own gateway %s, at others %s",
		len(restarts), asked, spread(own), spread(others))
}

func spread(all []time.Duration) string {
	slices.Sort(all)
	at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1)+0.5)].Round(time.Millisecond) }
	return fmt.Sprintf("p50 %s, p99 %s, max %s", at(0.5), at(0.99), at(1))
}

// wait starts a qsub at each replica that waits until the gate is open, and its job runs.
func wait(t *testing.T, c *devrun.Cluster, gate string) map[string]patient {
	t.Helper()
	all := make(map[string]patient)
	for _, r := range replicas {
		said := new(output)
		cmd := through(c, r).Command(t.Context(), "qsub", "-W", "block=true", "-N", "waits-"+r, "-o", "/dev/null", "-j", "oe", "--",
			"/bin/sh", "-c", "until [ -e "+gate+" ]; do sleep 0.1; done")
		cmd.Stdout, cmd.Stderr = said, said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all[r] = patient{cmd, said}
		waitFor(t, patience, "the job of "+r, said.shows("."))
	}
	return all
}

// watch starts a qstat at each gateway that shows every job as it changes.
func watch(t *testing.T, c *devrun.Cluster) map[string]patient {
	t.Helper()
	all := make(map[string]patient)
	for _, r := range append([]string{"borg"}, replicas...) {
		said := new(output)
		ctx, end := context.WithCancel(context.Background())
		cmd := through(c, r).Command(ctx, "qstat", "--watch")
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
		cmd.Stdout, cmd.Stderr = said, said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			end()
			if err := cmd.Wait(); err != nil && !cmd.ProcessState.Success() {
				t.Errorf("qstat --watch at %s: %v\n%s", r, err, said.String())
			}
		})
		all[r] = patient{cmd, said}
		waitFor(t, patience, "the watch at "+r, said.shows("waits-s3"))
	}
	return all
}

// judge wants no failure, each job once in the ledgers, and none that nobody submitted.
func judge(t *testing.T, c *devrun.Cluster, visitors []*visitor, waited, stay int) {
	t.Helper()
	if _, err := c.Output(t.Context(), "qsub", "-h", "-N", "last-one", "--", "/bin/true"); err != nil {
		t.Fatal(err)
	}
	jobs := waited + stay + 1
	var ran, gone []string
	for _, v := range visitors {
		for _, err := range v.failed {
			t.Error(err)
		}
		ran, gone = append(ran, v.ran...), append(gone, v.gone...)
	}
	jobs += len(ran) + len(gone)
	waitFor(t, 4*patience, "the end of all jobs", func() error {
		lines, err := c.Accounting(replicas[0])
		if ended := types(lines); err == nil && strings.Count(ended, "E") < len(ran)+waited {
			err = fmt.Errorf("%d of %d have ended", strings.Count(ended, "E"), len(ran)+waited)
		}
		return err
	})
	awaitSameLedgers(t, c)
	lines, err := c.Accounting(replicas[0])
	if err != nil {
		t.Fatal(err)
	}
	of := make(map[string]string)
	for _, l := range lines {
		fields := strings.SplitN(l, ";", 4)
		if fields[1] == "L" {
			continue // the hourly one of licences names no job
		}
		of[fields[2]] += fields[1]
	}
	for _, id := range ran {
		if of[id] != "QSE" {
			t.Errorf("records of %s, which was to run: %q", id, of[id])
		}
	}
	for _, id := range gone {
		if of[id] != "QD" {
			t.Errorf("records of %s, which was deleted: %q", id, of[id])
		}
	}
	if len(of) != jobs {
		t.Errorf("%d jobs are in the ledger, %d were acknowledged: one qsub is one job (L8)", len(of), jobs)
	}
}
