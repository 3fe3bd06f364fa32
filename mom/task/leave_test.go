package task

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rampart/mom/proc"
	"rampart/mom/spool"
)

// The end of a sister's part, step by step (specification: ramp-down section 9.3).
func TestStep_SisterLeaves(t *testing.T) {
	due := func(s PartStage) func(*Task) {
		return func(t *Task) { t.Part.Stage, t.Result = s, &spool.Ended{ExitStatus: 265} }
	}
	dismissed := func(t *Task) { t.Part.Why |= Dismissed }
	abandoned := func(t *Task) { t.Part.Why |= Abandoned }
	resume := Resume{"boot", true}
	const ends, waits, removes = "run the hooks of the end", "wait for the mother superior", "remove the files"
	for _, c := range []struct {
		name    string
		task    Task
		event   Event
		state   State
		stage   PartStage
		actions string
	}{
		{"its host is released", in(Running, asSister), Dismiss{}, Delivering, PartEpilogue, ends},
		{"its host is released, programs run", in(Running, asSister, running(ProgramRunning)), Dismiss{}, Ending, PartEnding, "send killed; allow a grace of 10s"},
		{"its host is released again", in(Delivering, asSister, dismissed), Dismiss{}, Delivering, PartEpilogue, ""},
		{"its epilogue is over", in(Delivering, asSister), Delivered{}, Delivering, PartEnd, ends},
		{"a released one's epilogue is over", in(Delivering, asSister, dismissed), Delivered{}, Delivering, PartReport, waits + " of 10s"},
		{"what it has used is known", in(Delivering, asSister, dismissed, due(PartReport)), Reported{}, Delivering, PartEnd, ends},
		{"what it has used is known twice", in(Delivering, asSister, dismissed, due(PartEnd)), Reported{}, Delivering, PartEnd, ""},
		{"what it has used is known too early", in(Delivering, asSister, dismissed), Reported{}, Delivering, PartEpilogue, ""},
		{"the job ends while it waits", in(Delivering, asSister, dismissed, due(PartReport)), Kill{}, Delivering, PartEnd, ends},
		{"the mom stops while it waits", in(Delivering, asSister, dismissed, due(PartReport)), Abort{}, Delivering, PartEnd, ends},
		{"its end hooks are over", in(Delivering, asSister, dismissed, due(PartEnd)), Delivered{}, Delivering, PartFiles, removes},
		{"the hooks of a start that failed are over", in(Delivering, asSister, abandoned), Delivered{}, Delivering, PartFiles, removes},
		{"its files are removed", in(Delivering, asSister, dismissed, due(PartFiles)), Removed{}, Ended, PartClean, "report the end"},
		{"its files cannot be removed", in(Delivering, asSister, dismissed, due(PartFiles)), Removed{Hangs: true}, Ended, PartOver, "report the end"},
		{"its files are removed twice", in(Ended, asSister, dismissed, due(PartClean)), Removed{}, Ended, PartClean, ""},
		{"restarted before its end was told", in(Ended, asSister, dismissed, due(PartClean)), resume, Ended, PartClean, "report the end"},
		{"restarted when its end was told", in(Ended, asSister, dismissed, due(PartClean), told), resume, Ended, PartClean, ""},
		{"restarted when its removal hung", in(Ended, asSister, dismissed, due(PartOver), told), resume, Ended, PartOver, "clean up"},
		{"restarted in its epilogue", in(Delivering, asSister, dismissed), resume, Delivering, PartEpilogue, ends},
		{"restarted while it waits", in(Delivering, asSister, dismissed, due(PartReport)), resume, Delivering, PartReport, waits + " of 10s"},
		{"restarted in its end hooks", in(Delivering, asSister, dismissed, due(PartEnd)), resume, Delivering, PartEnd, ends},
		{"restarted in the removal", in(Delivering, asSister, dismissed, due(PartFiles)), resume, Delivering, PartFiles, removes},
	} {
		before := fmt.Sprintf("%+v", c.task)
		next, actions, err := step(c.task, c.event)
		if err != nil || next.State() != c.state || next.Part.Stage != c.stage || words(actions) != c.actions {
			t.Errorf("%s: %s, stage %d, %q, %v; want %s, %d, %q", c.name, next.State(), next.Part.Stage, words(actions), err, c.state, c.stage, c.actions)
		}
		if after := fmt.Sprintf("%+v", c.task); after != before {
			t.Errorf("%s: the task was changed in place", c.name)
		}
	}
}

// A leaver is a sister's host: it notes what is done there, and may stop at one deed until the mom dies.
type leaver struct {
	*proc.Fake
	mu    sync.Mutex
	done  []string
	held  string
	freed chan struct{}
}

// However a sister hears first that the run goes on without it, its log says so once; of other ends it says
// what has come.
func TestReceived(t *testing.T) {
	over := &spool.Ended{}
	part := Task{Part: Part{Stage: PartRunning}}
	done := part
	done.Result = over
	for _, c := range []struct {
		name          string
		before, after Task
		ev            Event
		want          string
	}{
		{"from the mother superior", part, done, Dismiss{}, "DELETE_JOB2 received"},
		{"from the servers", part, done, Kill{Left: true}, "DELETE_JOB2 received"},
		{"from both", done, done, Dismiss{}, ""},
		{"the job ends", part, done, Kill{Mother: true}, "KILL_JOB received"},
		{"the servers end it", part, done, Kill{}, ""},
		{"a mother superior", Task{}, Task{Result: over}, Kill{}, ""},
	} {
		if got := received(c.before, c.after, c.ev); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func (l *leaver) do(what string) {
	l.mu.Lock()
	l.done = append(l.done, what)
	held, freed := l.held == what, l.freed
	l.mu.Unlock()
	if held {
		<-freed
	}
}

// hold has the next such deeds last; what was held ends.
func (l *leaver) hold(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.freed != nil {
		close(l.freed)
	}
	l.held, l.freed = what, make(chan struct{})
}

func (l *leaver) RemoveDir(*proc.Owner, string) error {
	l.do("files")
	return nil
}

// lastHooks are the hooks of the host.
type lastHooks struct {
	Hooks
	*leaver
}

func (h lastHooks) Terminates() bool { return false }

func (h lastHooks) Ending(_ context.Context, t Task) (used []spool.Used) {
	for _, event := range t.EndEvents() {
		h.do(event)
		used = append(used, spool.Used{Resource: "foo", Type: "string", Value: event})
	}
	return used
}

// leaving runs f beside a sister's part. again stops its mom as a crash would and starts it anew.
func leaving(t *testing.T, f func(t *testing.T, l *leaver, now func() *Runner, again func())) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := stageSite(t)
		l := &leaver{Fake: proc.NewFake(nil)}
		s.System, s.Hooks = l, lastHooks{leaver: l}
		ctx, cancel := context.WithCancel(t.Context())
		r := NewRunner(s, in(Running, asSister))
		go r.Run(ctx, Hooked{})
		f(t, l, func() *Runner { return r }, func() {
			synctest.Wait()
			cancel()
			l.hold("")
			<-r.Done()
			ctx, cancel = context.WithCancel(t.Context())
			records, err := s.Spool.Tasks()
			if err != nil || len(records) != 1 {
				t.Fatal(records, err)
			}
			if r, err = Load(s, records[0]); err != nil {
				t.Fatal(err)
			}
			go r.Run(ctx, Resume{"boot", true})
		})
		cancel()
		<-r.Done()
	})
}

func (l *leaver) wants(t *testing.T, r *Runner, want string) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	got := strings.Join(l.done, ", ")
	l.mu.Unlock()
	if facts, _ := r.site.Spool.Pending(10); len(facts) > 0 {
		got += fmt.Sprintf(", %d fact", len(facts))
	}
	if got != want {
		t.Errorf("done so far: %s; want %s", got, want)
	}
}

const (
	epilogue, end = "execjob_epilogue", "execjob_end"
	whole         = epilogue + ", " + end + ", files, 1 fact"
)

// The mother superior knows what the part has used before the last hooks run, and the servers hear
// that it is over when nothing of it is left.
func TestRunner_LeavesInOrder(t *testing.T) {
	leaving(t, func(t *testing.T, l *leaver, now func() *Runner, _ func()) {
		r := now()
		order(t, r, Dismiss{})
		l.wants(t, r, epilogue)
		if got := r.Task(); !got.Reckoned() || len(got.HookUsed) != 1 {
			t.Errorf("the part is at %d, hooks have set %v", got.Part.Stage, got.HookUsed)
		}
		time.Sleep(hearFor / 2)
		l.wants(t, r, epilogue)
		order(t, r, Reported{})
		l.wants(t, r, whole)
		if got := r.Task(); got.State() != Ended || got.HookUsed[0].Value != "execjob_end" {
			t.Errorf("the part is %s, hooks have set %v", got.State(), got.HookUsed)
		}
	})
}

// A mother superior that does not come is not waited for.
func TestRunner_LeavesAlone(t *testing.T) {
	leaving(t, func(t *testing.T, l *leaver, now func() *Runner, _ func()) {
		order(t, now(), Dismiss{})
		time.Sleep(hearFor + time.Second)
		l.wants(t, now(), whole)
	})
}

// Wherever the mom dies, the next one goes on there: what was done is not done again.
func TestRunner_LeavesThroughCrashes(t *testing.T) {
	for _, c := range []struct{ held, want string }{
		{epilogue, epilogue + ", " + whole},
		{end, epilogue + ", " + end + ", " + end + ", files, 1 fact"},
		{"files", epilogue + ", " + end + ", files, files, 1 fact"},
		{"", whole},
	} {
		leaving(t, func(t *testing.T, l *leaver, now func() *Runner, again func()) {
			l.hold(c.held)
			order(t, now(), Dismiss{})
			if c.held == "" || c.held == epilogue {
				again()
				synctest.Wait()
				again()
			}
			synctest.Wait() // it waits for this
			order(t, now(), Reported{})
			again()
			synctest.Wait()
			again()
			l.wants(t, now(), c.want)
		})
	}
}

// Folders that cannot be removed, for their file system hangs, hold up the word of the end for a while only.
func TestRunner_LeavesHangingFolders(t *testing.T) {
	leaving(t, func(t *testing.T, l *leaver, now func() *Runner, _ func()) {
		l.hold("files")
		order(t, now(), Kill{})
		l.wants(t, now(), epilogue+", "+end+", files")
		time.Sleep(removeFor + time.Second)
		l.wants(t, now(), whole)
		l.hold("")
	})
}
