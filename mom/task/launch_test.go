package task

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
)

// deaf are servers that do not answer.
type deaf struct{}

func (deaf) Script(ctx context.Context, _ spool.TaskKey, _ io.Writer) error {
	<-ctx.Done()
	return ctx.Err()
}

func (deaf) Counts(ctx context.Context, _ spool.TaskKey) (RunOwner, error) {
	<-ctx.Done()
	return RunOwner{}, ctx.Err()
}

// A kill does not wait for servers that are asked about a run and do not answer, nor is anything
// written for the run afterwards.
func TestRunner_KilledBeforeTheServersAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		task  Task
		first Event
	}{
		"the order has come":             {in(Accepted), Accept{}},
		"the mom was restarted":          {in(Accepted), Resume{"boot", true}},
		"at a sister":                    {in(Accepted, asSister), Accept{}},
		"at a sister that was restarted": {in(Accepted, asSister), Resume{"boot", true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _, _ := stageSite(t)
				s.Lines, s.Scripts = new(notes), deaf{}
				s.Peers = &neighbours{heard: map[pbs.HostName][]string{}, away: map[pbs.HostName]bool{}}
				r := NewRunner(s, c.task)
				ctx, cancel := context.WithCancel(t.Context())
				go r.Run(ctx, c.first)
				time.Sleep(time.Minute)
				if err := r.Tell(ctx, Kill{}); err != nil {
					t.Fatal(err)
				}
				bounded, end := context.WithTimeout(ctx, time.Second)
				defer end()
				if last, err := r.Await(bounded, func(t Task) bool { return t.State() == Ended }); err != nil {
					t.Errorf("it is %s, %v", last.State(), err)
				}
				cancel()
				<-r.Done()
			})
		})
	}
}

// A mom that rejects scripts of root starts none of his, but his programs, and everybody else's scripts; the job is tried again.
func TestLaunch_RootScripts(t *testing.T) {
	for name, c := range map[string]struct {
		rejects, script bool
		uid             uint32
		want            bool
	}{
		"root's":                    {true, true, 0, true},
		"a program of root's":       {true, false, 0, false},
		"somebody else's":           {true, true, 4711, false},
		"root's, where he may have": {false, true, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, task := stageSite(t)
			a := s.Accounts.(people).account
			a.UID = c.uid
			s.Accounts = people{a}
			settings := s.Settings()
			settings.NoRootJobs = c.rejects
			s.Settings = func() Settings { return settings }
			task.Script = c.script
			_, _, _, err := NewRunner(s, task).prepare(t.Context(), t.Context(), task)
			if errors.Is(err, errRootScript) != c.want {
				t.Errorf("the start fails with %v", err)
			}
			if c.want && s.fault(err) != "" {
				t.Error("the host is blamed")
			}
		})
	}
}

// A stream that goes to the other one's file still has a name in the spool, where an earlier run may have kept it apart.
func TestSpec_Joined(t *testing.T) {
	s := testSite(t)
	out, failed := s.Spool.Output("12.srv", stdout), s.Spool.Output("12.srv", stderr)
	for join, want := range map[string][3]string{"n": {out, failed, ""}, "oe": {out, out, failed}, "eo": {failed, failed, out}} {
		spec := s.spec(Task{Order: Order{Key: spool.TaskKey{Job: "12.srv", Run: 2}, Attrs: Attrs{{Name: "Join_Path", Value: join}}}}, ann)
		if got := [3]string{spec.Stdout, spec.Stderr, spec.Apart}; got != want {
			t.Errorf("-j %s: %q, want %q", join, got, want)
		}
	}
}

// Runs after the first one append to the files that the job writes in place.
func TestSpec_Again(t *testing.T) {
	s := testSite(t)
	for run, want := range map[pbs.RunCount]bool{1: false, 2: true, 21: true} {
		if got := s.spec(Task{Order: Order{Key: spool.TaskKey{Job: "12.srv", Run: run}}}, ann).Again; got != want {
			t.Errorf("run %d: %v", run, got)
		}
	}
}
