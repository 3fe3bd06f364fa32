package sched_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A leader lets a loop run on a bench.
type leader struct {
	*bench
	mu        sync.Mutex
	changed   chan struct{}
	lines     []string
	mask      uint16
	proposals int
}

func (l *leader) View() *state.View {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.store.View()
}

func (l *leader) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

func (l *leader) Propose(_ context.Context, p command.Proposal) (command.Outcome, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.proposals++
	out := l.try(p.Commands...)
	l.tell()
	return out, out.Err()
}

func (l *leader) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// now changes the state from outside the loop.
func (l *leader) now(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock() // f may end the test, and the loop goes on
	f()
	l.tell()
}

func (l *leader) SetMask(events uint16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mask = events
}

func (l *leader) Write(_ time.Time, _ uint16, class, object, text string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, class+";"+object+";"+text)
	return nil
}

func (l *leader) state(id pbs.JobID) string {
	j, _ := l.View().Job(id)
	return j.State.Letter()
}

func scheduling(value string) *command.ManageServer {
	var ch command.AttrChange
	ch.Entry.Name, ch.Entry.Value = "scheduling", value
	return &command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{ch}}
}

// stale sees the state as it was.
type stale struct {
	*leader
	view *state.View
}

func (s stale) View() *state.View { return s.view }

// TestLoop_AlteredSincePlanned: a job does not start with what it no longer asks for.
func TestLoop_AlteredSincePlanned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=4")
		job := l.submit("ncpus=1")
		old := stale{l, l.View()}
		var ch command.AttrChange
		ch.Entry.Name, ch.Entry.Resource, ch.Entry.Value = "Resource_List", "ncpus", "4"
		l.do(&command.AlterJob{Job: job, Changes: []command.AttrChange{ch}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		loop := sched.New(sched.Options{Source: old, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)})
		if err := loop.Run(ctx); err != nil {
			t.Error(err)
		}
		if got := l.state(job); got != "Q" {
			t.Errorf("the job is %s", got)
		}
		if want := "Job;0.srv;Not Running: start 0.srv: its request was altered"; !slices.Contains(l.lines, want) {
			t.Errorf("log is\n%s", strings.Join(l.lines, "\n"))
		}
	})
}

func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		loop := sched.New(sched.Options{
			Source: l, Proposer: l, Log: l, Asker: pbs.User{Name: "Scheduler", Host: "s1"}, Logger: slog.New(slog.DiscardHandler),
		})
		done := make(chan error, 1)
		go func() { done <- loop.Run(ctx) }()
		settle := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}

		var first, second, third pbs.JobID
		l.now(func() {
			l.host("hosta", "hosta:ncpus=4")
			first, second = l.submit("ncpus=4"), l.submit("ncpus=4")
		})
		settle(50 * time.Millisecond)
		if a, b := l.state(first), l.state(second); a != "R" || b != "Q" {
			t.Errorf("jobs are %s and %s", a, b)
		}
		j, _ := l.View().Job(first)
		if j.CommentText() != "Job run at Sat Nov 21 at 06:25 on (hosta:ncpus=4)" {
			t.Errorf("comment %q", j.CommentText())
		}
		settle(2 * time.Second)
		if j, _ := l.View().Job(second); j.CommentText() != "Not Running: Not enough free nodes available" {
			t.Errorf("comment %q", j.CommentText())
		}
		want := []string{
			"Req;;Starting Scheduling Cycle", "Job;0.srv;Considering job to run", "Job;1.srv;Considering job to run",
			"Job;1.srv;Not enough free nodes available", "Job;0.srv;Job run", "Req;;Leaving Scheduling Cycle",
		}
		if i := slices.Index(l.lines, want[1]); i < 1 || !slices.Equal(l.lines[i-1:i+5], want) {
			t.Errorf("log is\n%s", strings.Join(l.lines, "\n"))
		}

		// Nothing new: the loop rests, its own comments do not keep it busy.
		before := l.proposals
		settle(5 * time.Minute)
		if l.proposals != before {
			t.Errorf("%d proposals without a change", l.proposals-before)
		}

		l.now(func() { l.do(scheduling("False")) })
		l.now(func() { l.do(&command.DeleteJob{Job: first, Force: true}) })
		settle(time.Minute)
		if s := l.state(second); s != "Q" {
			t.Errorf("with scheduling off the job is %s", s)
		}
		l.now(func() { l.do(scheduling("True")) })
		settle(50 * time.Millisecond)
		if s := l.state(second); s != "R" {
			t.Errorf("with scheduling on the job is %s", s)
		}

		// Said again it starts another cycle (specification: drop-in section 2).
		cycles := func() int {
			n := 0
			for _, line := range l.lines {
				if line == "Req;;Starting Scheduling Cycle" {
					n++
				}
			}
			return n
		}
		settle(time.Second)
		were := cycles()
		l.now(func() { l.do(scheduling("True")) })
		settle(50 * time.Millisecond)
		if now := cycles(); now != were+1 {
			t.Errorf("%d cycles, %d before", now, were)
		}

		// A freed vnode is used soon.
		l.now(func() { third = l.submit("ncpus=4") })
		settle(time.Second)
		l.now(func() { l.do(&command.DeleteJob{Job: second, Force: true}) })
		settle(50 * time.Millisecond)
		if s := l.state(third); s != "R" {
			t.Errorf("the next job is %s", s)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestLoop_StartsInOrder: jobs of one cycle start in the order in which they were looked at.
func TestLoop_StartsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=30")
		var want []string
		for range 30 {
			want = append(want, "Job;"+string(l.submit("ncpus=1"))+";Job run")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)}).Run(ctx); err != nil {
			t.Error(err)
		}
		got := slices.DeleteFunc(slices.Clone(l.lines), func(line string) bool { return !strings.HasSuffix(line, ";Job run") })
		if !slices.Equal(got, want) {
			t.Errorf("jobs were started as %q", got)
		}
	})
}

// TestLoop_BeginsAtOnce: a job that comes while the scheduler rests no more starts without any delay; the next one waits for
// the end of the rest, which is longer while something changes all the time.
func TestLoop_BeginsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)})
		done := make(chan error, 1)
		go func() { done <- loop.Run(ctx) }()
		l.now(func() { l.host("hosta", "hosta:ncpus=9") })
		time.Sleep(time.Second)
		var ids []pbs.JobID
		for _, want := range []string{"R", "RQ"} {
			l.now(func() { ids = append(ids, l.submit("ncpus=1")) })
			synctest.Wait()
			got := ""
			for _, id := range ids {
				got += l.state(id)
			}
			if got != want {
				t.Errorf("at once jobs are %s, want %s", got, want)
			}
		}
		time.Sleep(5 * time.Millisecond)
		synctest.Wait()
		if got := l.state(ids[1]); got != "R" {
			t.Errorf("after the rest the second job is %s", got)
		}
		for range 5 { // as a script does
			l.now(func() { l.do(scheduling("True")) })
			time.Sleep(7 * time.Millisecond)
		}
		var next pbs.JobID
		l.now(func() { next = l.submit("ncpus=1") })
		synctest.Wait()
		if got := l.state(next); got != "R" {
			t.Errorf("at once a job that comes after a few changes is %s", got)
		}
		for _, spacing := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 19 * time.Millisecond} {
			time.Sleep(time.Second)
			before := cycles(l)
			for began := time.Now(); time.Since(began) < 2*time.Second; time.Sleep(spacing) {
				l.now(func() { l.do(scheduling("True")) }) // the cycle proposes nothing
			}
			if n := cycles(l) - before; n < 90 || n > 125 {
				t.Errorf("%d cycles in two seconds of changes each %v", n, spacing)
			}
			time.Sleep(time.Second)
			var alone pbs.JobID
			l.now(func() { alone = l.submit("ncpus=1") })
			synctest.Wait()
			if got := l.state(alone); got != "R" {
				t.Errorf("at once a job that comes when it is quiet again is %s", got)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// cycles returns how many cycles have begun, by the log.
func cycles(l *leader) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, "Starting Scheduling Cycle") {
			n++
		}
	}
	return n
}

// slow takes a second for each commit.
type slow struct{ *leader }

func (s slow) Propose(ctx context.Context, p command.Proposal) (command.Outcome, error) {
	time.Sleep(time.Second)
	return s.leader.Propose(ctx, p)
}

// TestLoop_RestsForItsOwnWork: while proposals are on their way a cycle costs nothing, and the next one does not wait for that.
func TestLoop_RestsForItsOwnWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=4")
		first := l.submit("ncpus=1")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		loop := sched.New(sched.Options{Source: l, Proposer: slow{l}, Log: l, Logger: slog.New(slog.DiscardHandler)})
		go func() {
			if err := loop.Run(ctx); err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(500 * time.Millisecond)
		var second pbs.JobID
		l.now(func() { second = l.submit("ncpus=1") })
		time.Sleep(1700 * time.Millisecond)
		if one, two := l.state(first), l.state(second); one != "R" || two != "R" {
			t.Errorf("after two commits the jobs are %s and %s", one, two)
		}
		cancel()
		synctest.Wait()
	})
}

// TestLoop_UpdatePeriodOfMany: who has more to hear than a cycle tells, and has to wait for it, keeps nobody behind from what changes his
// accrue_type.
func TestLoop_UpdatePeriodOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=4")
		l.scheduler("attr_update_period=600")
		l.limit("eligible_time_enable=True")
		ctx, cancel := context.WithCancel(t.Context())
		loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)})
		var done sync.WaitGroup
		done.Go(func() { _ = loop.Run(ctx) })
		for _, first := range []bool{true, false} { // the period begins with the first one
			n := 300
			if first {
				n = 1
			}
			l.now(func() {
				for range n {
					l.submitAs("ann", "users", "ncpus=9")
				}
			})
			time.Sleep(time.Second)
		}
		var last pbs.JobID
		l.now(func() { last = l.submitAs("bob", "users", "ncpus=8") })
		time.Sleep(time.Second)
		l.now(func() { l.limit("max_run=[u:bob=0]") })
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if j, _ := l.View().Job(last); j.Accrued == nil || j.Accrued.Type != state.AccrueIneligible {
			t.Errorf("it accrues %+v with %q", j.Accrued, j.CommentText())
		}
		told := func() (n int) {
			for j := range l.View().Jobs() {
				if j.CommentText() != "" {
					n++
				}
			}
			return n
		}
		if n := told(); n != 2 {
			t.Errorf("%d jobs were told within the period, want 2", n)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := told(); n != 302 {
			t.Errorf("%d jobs were told after it, want 302", n)
		}
		cancel()
		done.Wait()
	})
}

// TestLoop_UpdatePeriod: jobs hear why they wait once in attr_update_period, but for what changes their accrue_type.
func TestLoop_UpdatePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=4")
		l.scheduler("attr_update_period=45")
		l.limit("eligible_time_enable=True")
		ctx, cancel := context.WithCancel(t.Context())
		loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)})
		var done sync.WaitGroup
		done.Go(func() { _ = loop.Run(ctx) })
		var ids []pbs.JobID
		said := func(after time.Duration, want string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			got := ""
			for _, id := range ids {
				if j, _ := l.View().Job(id); j.CommentText() != "" {
					got += "x"
				} else {
					got += "-"
				}
			}
			if got != want {
				t.Errorf("comments %s, want %s", got, want)
			}
		}
		submit := func() { l.now(func() { ids = append(ids, l.submit("ncpus=9")) }) }
		submit()
		said(time.Second, "x")
		submit()
		said(40*time.Second, "x-")
		submit()
		said(5*time.Second, "xxx")
		said(time.Minute, "xxx")
		submit()
		said(time.Second, "xxxx") // the period is over
		l.now(func() { l.limit("max_run=[u:PBS_GENERIC=0]") })
		said(2*time.Second, "xxxx")
		if j, _ := l.View().Job(ids[0]); j.Accrued == nil || j.Accrued.Type != state.AccrueIneligible {
			t.Errorf("it accrues %+v with %q", j.Accrued, j.CommentText())
		}
		cancel()
		done.Wait()
	})
}
