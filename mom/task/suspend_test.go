package task

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// Time for which a job is suspended is no walltime: neither what is told nor what is
// limited, and a restart of the mom changes nothing about it.
func TestSuspend_Walltime(t *testing.T) {
	job := in(Running, announced, limited("walltime", "00:00:30"))
	do := func(ev Event, want State, what string) {
		t.Helper()
		next, actions, err := step(job, ev)
		if err != nil || next.State() != want || words(actions) != what {
			t.Fatalf("%T: %s, %q, %v", ev, next.State(), words(actions), err)
		}
		job = next
	}
	wall := func(d time.Duration) Event { return Sampled{Usage: proc.Usage{Wall: d}} }
	do(Signal{Name: "suspend", Elapsed: 10 * time.Second}, Running, "send stopped (signal)")
	do(wall(60*time.Second), Running, "")
	do(Resume{BootID: "boot", Adopt: true}, Running, "watch the shim; send stopped (signal)")
	do(Signal{Name: "suspend", Elapsed: 80 * time.Second}, Running, "send stopped (signal)") // repeated
	do(Signal{Name: "CONT", Elapsed: 90 * time.Second}, Running, "")                         // it came too late
	do(Signal{Name: "resume", Elapsed: 100 * time.Second}, Running, "send continued")
	do(wall(119*time.Second), Running, "")
	if got := job.Peak.Wall; got != 29*time.Second {
		t.Errorf("walltime %s", got)
	}
	do(Signal{Name: "admin-suspend", Elapsed: 119 * time.Second}, Running, "send stopped (signal)")
	do(wall(300*time.Second), Running, "")
	do(Kill{Killing: Killing{Delay: time.Second}}, Ending, "send terminated; send continued; allow a grace of 1s")
	do(Exited{Exit: proc.Exit{Wall: 301 * time.Second}}, Delivering, "deliver the output")
	if got := job.Peak.Wall; got != 29*time.Second {
		t.Errorf("walltime %s at the end", got)
	}
}

// Hooks before a resumption do not let go on what was suspended again meanwhile.
func TestStep_Suspension(t *testing.T) {
	halted := func(t *Task) { t.Suspension.State = Suspended }
	resuming := func(t *Task) { t.Suspension.State = Resuming }
	for _, c := range []struct {
		name  string
		task  Task
		event Event
		want  string
	}{
		{"suspended", in(Running), Signal{Name: "suspend"}, suspends},
		{"resumed", in(Running, halted), Signal{Name: "admin-resume"}, resumes},
		{"stopped", in(Running), Signal{Name: "STOP"}, ""},
		{"let go on although hooks refuse", in(Running, resuming), Signal{Name: "CONT"}, resumed},
		{"the hooks have run", in(Running), Proceed{}, resumed},
		{"a sister is suspended", in(Running, asSister), Signal{Name: "suspend"}, suspends},
		{"a sister's hooks have run", in(Running, asSister), Proceed{}, resumed},
	} {
		_, actions, err := step(c.task, c.event)
		if err != nil || len(actions) != 1 || actions[0].Do != Send || actions[0].Text != c.want {
			t.Errorf("%s: %+v, %v; want %q", c.name, actions, err, c.want)
		}
	}
	for _, task := range []Task{in(Running, halted), in(Running, asSister, halted), in(Ended)} {
		if _, actions, err := step(task, Proceed{}); err != nil || actions != nil {
			t.Errorf("%s: %+v, %v", task.State(), actions, err)
		}
	}
	if next, _, _ := step(in(Running, asSister), Signal{Name: "suspend"}); !next.Suspension.stands() {
		t.Error("a sister that is suspended does not know it")
	}
}

// TestStep_RefusedResumption: a job that hooks do not let go on hears that it is to end, and once its end is refused, too, the hooks are
// asked again: the servers did not suspend it while it was about to end.
func TestStep_RefusedResumption(t *testing.T) {
	resuming := func(t *Task) { t.Suspension.State = Resuming }
	_, actions, err := step(in(Running, resuming), Kill{Killing: Killing{Delay: time.Second}})
	if want := "send terminated; send continued; allow a grace of 1s"; err != nil || words(actions) != want {
		t.Errorf("%q, %v; want %q", words(actions), err, want)
	}
	asked, _, err := step(in(Running, resuming), Kill{Killing: Killing{Delay: time.Second}, Hooks: true})
	if err != nil {
		t.Fatal(err)
	}
	_, actions, err = step(asked, PretermOver{Refused: true})
	if err != nil || len(actions) != 1 || actions[0].Do != Send || actions[0].Text != resumes {
		t.Errorf("%+v, %v", actions, err)
	}
}

// A mom that died between saving a suspension or a resumption and bringing it about, be that here, after
// hooks or at its sisters, does so when it comes back. Signals of other kinds are not sent again.
func TestStep_SuspensionOutlivesTheMom(t *testing.T) {
	for _, c := range []struct {
		name   string
		before []Event
		signal syscall.Signal // 0: none is sent
		word   string
	}{
		{"suspended", []Event{Signal{Name: "suspend"}}, syscall.SIGSTOP, suspended},
		{"resumed", []Event{Signal{Name: "suspend"}, Signal{Name: "resume"}}, syscall.SIGCONT, resumes},
		{"resumed, and hooks have run", []Event{Signal{Name: "admin-suspend"}, Signal{Name: "admin-resume"}, Proceed{}}, syscall.SIGCONT, resumed},
		{"suspended again", []Event{Signal{Name: "suspend"}, Signal{Name: "resume"}, Signal{Name: "suspend"}, Proceed{}}, syscall.SIGSTOP, suspended},
		{"suspended, then let go on behind the servers' back", []Event{Signal{Name: "suspend"}, Signal{Name: "CONT"}}, syscall.SIGSTOP, suspended},
		{"never suspended", nil, 0, ""},
		{"stopped", []Event{Signal{Name: "STOP"}}, 0, ""},
		{"resumed, then stopped", []Event{Signal{Name: "suspend"}, Signal{Name: "resume"}, Proceed{}, Signal{Name: "STOP"}}, 0, ""},
	} {
		for _, task := range []Task{in(Running), in(Running, asked), in(Running, asSister, running(ProgramRunning))} {
			for _, ev := range append(slices.Clone(c.before), Resume{BootID: "boot", Adopt: true}) {
				var actions []Action
				var err error
				if task, actions, err = step(task, ev); err != nil {
					t.Fatalf("%s: %T: %v", c.name, ev, err)
				}
				if _, last := ev.(Resume); !last {
					continue
				}
				actions = slices.DeleteFunc(actions, func(a Action) bool { return a.Do != Send })
				var want []Action
				if c.signal != 0 {
					want = []Action{{Do: Send, Signal: c.signal, Text: c.word}}
				}
				if !slices.EqualFunc(actions, want, func(a, b Action) bool { return a.Signal == b.Signal && a.Text == b.Text }) {
					t.Errorf("%s (sister: %t): %+v, want %+v", c.name, task.Sister(), actions, want)
				}
			}
		}
	}
}

// A sister that is told again of a suspension runs no hooks again.
func TestStep_SisterIsToldAgain(t *testing.T) {
	task := in(Running, asSister)
	for _, want := range []string{suspends, suspended} {
		next, actions, err := step(task, Signal{Name: "suspend"})
		if err != nil || len(actions) != 1 || actions[0].Signal != syscall.SIGSTOP || actions[0].Text != want {
			t.Errorf("%+v, %v; want %q", actions, err, want)
		}
		task = next
	}
	for _, want := range []string{resumes, resumed} {
		next, actions, err := step(task, Signal{Name: "resume"})
		if err != nil || len(actions) != 1 || actions[0].Signal != syscall.SIGCONT || actions[0].Text != want {
			t.Errorf("%+v, %v; want %q", actions, err, want)
		}
		task, _, _ = step(next, Proceed{})
	}
}

// What an earlier mom has not told the sisters they are told, and one that cannot be reached for a
// while learns it when it can: else its processes would run on, or stay stopped for ever.
func TestRunner_TellsSistersOfSuspensions(t *testing.T) {
	for _, c := range []struct {
		word string
		sig  syscall.Signal
		want string
	}{
		{suspends, syscall.SIGSTOP, "suspend"},
		{suspended, syscall.SIGSTOP, "suspend"},
		{resumed, syscall.SIGCONT, "resume"},
	} {
		t.Run(c.word, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := &neighbours{heard: map[pbs.HostName][]string{}, away: map[pbs.HostName]bool{"hostb": true}}
				s, _, _ := stageSite(t)
				s.Peers = all
				r := NewRunner(s, in(Running, asked))
				ctx, cancel := context.WithCancel(t.Context())
				r.send(ctx, Action{Do: Send, Signal: c.sig, Text: c.word})
				time.Sleep(2 * time.Minute)
				all.leave("hostb", false)
				time.Sleep(2 * time.Second)
				for _, h := range []pbs.HostName{"hostb", "hostc"} {
					if got := all.signals(h); !slices.Equal(got, []string{c.want}) {
						t.Errorf("%s has got %q", h, got)
					}
				}
				cancel()
				r.wg.Wait()
			})
		})
	}
}

// A site's signals stand for those of a suspension, and for no others.
func TestSettings_SignalsOfSuspensions(t *testing.T) {
	site := Settings{Suspend: syscall.SIGTSTP, Resume: syscall.SIGUSR1}
	for _, c := range []struct {
		text      string
		sig, want syscall.Signal
	}{
		{suspends, syscall.SIGSTOP, syscall.SIGTSTP},
		{suspended, syscall.SIGSTOP, syscall.SIGTSTP},
		{resumes, syscall.SIGCONT, syscall.SIGUSR1},
		{resumed, syscall.SIGCONT, syscall.SIGUSR1},
		{"", syscall.SIGSTOP, syscall.SIGSTOP},
		{"", syscall.SIGCONT, syscall.SIGCONT},
	} {
		if got := site.ofSuspension(c.sig, c.text); got != c.want {
			t.Errorf("%v of %q: %v, want %v", c.sig, c.text, got, c.want)
		}
		if got := (Settings{}).ofSuspension(c.sig, c.text); got != c.sig {
			t.Errorf("%v of %q, where the site says nothing: %v", c.sig, c.text, got)
		}
	}
}
