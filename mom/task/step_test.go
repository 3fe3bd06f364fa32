package task

import (
	"fmt"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// averages enforces limits of cpus as PBS does by default.
var averages = func() Enforce {
	e := PBSEnforce()
	e.Average = true
	return e
}()

var testKey = spool.TaskKey{Job: "1.srv", Run: 2}

// in returns a task in the given state, changed by the functions.
func in(s State, change ...func(*Task)) Task {
	t := New(testKey, Attrs{{Name: "Rerunable", Value: "True"}}, true, "boot", "cookie")
	t.Life.State = s
	if s >= Running {
		t.Handle = proc.Handle{PID: 10, Start: 1, BootID: "boot", Session: 11}
	}
	if s >= Gathering {
		t.Result = &spool.Ended{ExitStatus: 1}
	}
	for _, f := range change {
		f(&t)
	}
	return t
}

func killed(delay time.Duration, requeue bool) func(*Task) {
	return func(t *Task) { t.Life.Kill = KillOrder{KillOrdered, Killing{delay, requeue}} }
}

func announced(t *Task) { t.Reports = StartTold }

func told(t *Task) { t.Reports = EndTold }

func aborted(t *Task) { t.Life.Causes |= Aborted }

func fenced(t *Task) { t.Life.Causes |= Fenced }

// neverStarted is a task that is about to be reported so.
func neverStarted(t *Task) { t.Result = &spool.Ended{ExitStatus: pbs.ExitRetry, NeverStarted: true} }

func barred(t *Task) { t.Life.Barred = true }

func notRerunnable(t *Task) { t.Attrs = Attrs{{Name: "Rerunable", Value: "False"}} }

func limited(name, value string) func(*Task) {
	return func(t *Task) {
		t.Attrs = append(t.Attrs, Attr{Name: "Resource_List", Resource: name, Value: value})
	}
}

// words writes actions down, for a table to be read.
func words(actions []Action) string {
	var all []string
	for _, a := range actions {
		w := string(a.Do)
		switch a.Do {
		case Send:
			w = "send " + a.Signal.String()
			if a.Program != 0 {
				w += fmt.Sprintf(" to program %d", a.Program)
			}
		case Grace, AwaitReport:
			w += " of " + a.After.String()
		case Note:
			w += " " + a.Text
		}
		all = append(all, w)
	}
	return strings.Join(all, "; ")
}

func TestStep(t *testing.T) {
	handle := proc.Handle{PID: 10, Start: 1, BootID: "boot", Session: 11}
	kill := func(d time.Duration, requeue bool) Event { return Kill{Killing: Killing{d, requeue}} }
	hooked := func(ev Event) Event {
		k, _ := ev.(Kill)
		k.Hooks = true
		return k
	}
	asked := func(t *Task) { t.Life.Kill = KillOrder{KillAsked, Killing{Delay: 10 * time.Second}} }
	announced := func(t *Task) { t.Reports = StartTold }
	const (
		soft = "send terminated; allow a grace of 10s"
		hard = "send killed; allow a grace of 10s"
	)
	for _, c := range []struct {
		name    string
		task    Task
		event   Event
		state   State
		actions string
	}{
		{"an order", in(Accepted), Accept{}, Accepted, "fetch the script"},
		{"the script is there", in(Accepted), Fetched{}, Starting, "launch"},
		{"the script comes too late", in(Ended), Fetched{}, Ended, ""},
		{"the shim runs", in(Starting), Launched{Handle: handle}, Running, "report the start; watch the shim"},
		{
			"the shim runs, a kill waits", in(Starting, killed(time.Second, false)),
			Launched{Handle: handle},
			Ending,
			"report the start; watch the shim; send terminated; allow a grace of 1s",
		},
		{
			"the shim runs, a signal waits", in(Starting, func(t *Task) { t.Life.Signals = []string{"USR1"} }),
			Launched{Handle: handle},
			Running,
			"report the start; watch the shim; send user defined signal 1",
		},
		{"a second word of the start", in(Running), Launched{Handle: handle}, Running, ""},
		{"it cannot be started", in(Starting), Failed{Status: pbs.ExitRetry}, Delivering, "forestall a shim"},
		{"the shim cannot start it", in(Starting), Failed{Status: pbs.ExitRetry, Barred: true}, Delivering, "discard the output"},
		{"the program exits", in(Running), Exited{}, Delivering, "deliver the output"},
		{"the program of a requeued job exits", in(Ending, killed(0, true)), Exited{}, Delivering, "discard the output"},
		{"a second word of the end", in(Delivering), Exited{}, Delivering, ""},
		{"the shim vanishes", in(Running), Vanished{}, Delivering, "send killed; discard the output"},
		{"the shim vanishes, no rerun", in(Running, notRerunnable), Vanished{}, Delivering, "send killed; deliver the output"},
		{"the output is there", in(Delivering), Delivered{}, Ended, "report the end; clean up"},
		{"a kill before the script", in(Accepted), kill(0, false), Delivering, "forestall a shim"},
		{"a kill during the start", in(Starting), kill(0, false), Starting, "stop the staging"},
		{"a kill", in(Running), kill(10*time.Second, false), Ending, soft},
		{"a kill at once", in(Running), kill(0, false), Ending, hard},
		{"the same kill again", in(Ending, killed(10*time.Second, false)), kill(10*time.Second, false), Ending, ""},
		{"a harder kill", in(Ending, killed(10*time.Second, false)), kill(0, false), Ending, hard},
		{"a kill that hooks may refuse", in(Running), hooked(kill(10*time.Second, false)), Running, "run the hooks before the termination"},
		{"a kill during the start that hooks may refuse", in(Starting), hooked(kill(10*time.Second, false)), Starting, "run the hooks before the termination"},
		{"a kill before the script that hooks may refuse", in(Accepted), hooked(kill(10*time.Second, false)), Accepted, "run the hooks before the termination"},
		{"the script is there, while they run", in(Accepted, asked), Fetched{}, Starting, "launch"},
		{"the shim runs, while they run", in(Starting, asked), Launched{Handle: handle}, Running, "report the start; watch the shim"},
		{"it cannot be started, while they run", in(Starting, asked), Failed{Status: pbs.ExitRetry}, Delivering, "forestall a shim"},
		{"hooks accept the end during the start", in(Starting, asked), PretermOver{}, Starting, "stop the staging"},
		{"hooks accept the end before the script", in(Accepted, asked), PretermOver{}, Delivering, "forestall a shim"},
		{"hooks refuse the end during the start", in(Starting, asked), PretermOver{Refused: true}, Starting, ""},
		{"hooks answer when it has failed", in(Delivering, asked), PretermOver{Refused: true}, Delivering, ""},
		{"restart during the start, while they run", in(Starting, asked), Resume{"boot", true}, Starting, "look for the shim; run the hooks before the termination"},
		{"nothing was started, while they run", in(Starting, asked), NotFound{}, Accepted, "ask whether the run still counts"},
		{"it again, while they run", in(Running, asked), hooked(kill(10*time.Second, false)), Running, ""},
		{"a kill at once, while they run", in(Running, asked), hooked(kill(0, false)), Ending, hard},
		{"a requeue", in(Running), hooked(kill(10*time.Second, true)), Ending, soft},
		{"hooks accept the end", in(Running, asked), PretermOver{}, Ending, soft},
		{"hooks refuse the end", in(Running, asked), PretermOver{Refused: true}, Running, ""},
		{"hooks refuse what was forced meanwhile", in(Ending, killed(0, false)), PretermOver{Refused: true}, Ending, ""},
		{"the program exits while they run", in(Running, asked), Exited{}, Delivering, "deliver the output"},
		{"restart while they run", in(Running, asked, announced), Resume{"boot", true}, Running, "watch the shim; run the hooks before the termination"},
		{"a kill after the end", in(Ended), kill(0, false), Ended, ""},
		{"the grace is over", in(Ending), GraceOver{}, Ending, hard},
		{"the grace is over too late", in(Delivering), GraceOver{}, Delivering, ""},
		{"the site's script has told it to end", in(Ending), Terminated{}, Ending, "allow a grace of 10s"},
		{"the site's script has failed", in(Ending), Terminated{Failure: "exit status 1"}, Ending, "send terminated; allow a grace of 10s"},
		{"the site's script ends too late", in(Delivering), Terminated{Failure: "killed"}, Delivering, ""},
		{"the mom stops", in(Running), Abort{}, Ending, hard},
		{"the mom stops before the start", in(Accepted), Abort{}, Delivering, "forestall a shim"},
		{"a signal", in(Running), Signal{Name: "SIGUSR1"}, Running, "send user defined signal 1"},
		{"a signal before the start", in(Starting), Signal{Name: "USR1"}, Starting, ""},
		{"within the limit", in(Running, limited("cput", "00:01:00")), Sampled{Usage: proc.Usage{CPU: time.Minute}}, Running, ""},
		{
			"over the limit", in(Running, limited("cput", "00:01:00")),
			Sampled{Usage: proc.Usage{CPU: 62 * time.Second}},
			Ending,
			"note on stderr cput 62 exceeded limit 60; " + soft,
		},
		{"over memory that nobody enforces", in(Running, limited("mem", "1mb")), Sampled{Usage: proc.Usage{RSS: 2 << 20}}, Running, ""},
		{
			"over enforced memory", in(Running, limited("mem", "1mb")),
			Sampled{proc.Usage{RSS: 2 << 20, Wall: firstLook}, Enforce{Mem: true}},
			Ending,
			"note on stderr mem 2048kb exceeded limit 1024kb; " + soft,
		},
		{"as much cpu as it has", in(Running, limited("ncpus", "2")), Sampled{proc.Usage{CPU: 500 * time.Second, Wall: 200 * time.Second}, averages}, Running, ""},
		{"too much cpu before the trial is over", in(Running, limited("ncpus", "2")), Sampled{proc.Usage{CPU: 300 * time.Second, Wall: 100 * time.Second}, averages}, Running, ""},
		{
			"too much cpu", in(Running, limited("ncpus", "2")),
			Sampled{proc.Usage{CPU: 700 * time.Second, Wall: 200 * time.Second}, averages},
			Ending, "note on stderr ncpus 3.5 exceeded limit 2 (sum); " + soft,
		},
		{"the end of one over its limit", in(Ending, func(t *Task) { t.Life.Breach = pbs.ExitMem }), Exited{Exit: proc.Exit{Status: 256 + 15}}, Delivering, "deliver the output"},
		{"over the limit, again", in(Ending, limited("cput", "1")), Sampled{Usage: proc.Usage{CPU: time.Minute}}, Ending, ""},
		{"forget", in(Ended), Forget{}, Ended, "drop"},

		{"restart before the script", in(Accepted), Resume{"boot", true}, Accepted, "ask whether the run still counts"},
		{"restart during the start", in(Starting), Resume{"boot", true}, Starting, "look for the shim"},
		{"nothing was started", in(Starting), NotFound{}, Accepted, "ask whether the run still counts"},
		{"nothing was started, and shall not", in(Starting, aborted), NotFound{}, Delivering, "forestall a shim"},
		{
			"a shim came before the bar, and shall not", in(Delivering, neverStarted, aborted),
			Found{Launched{Handle: handle}},
			Ending,
			"report the start; watch the shim; " + hard,
		},
		{
			"a shim came before the bar", in(Delivering, neverStarted),
			Found{Launched{Handle: handle}},
			Running,
			"report the start; watch the shim",
		},
		{"restart before the bar", in(Delivering, neverStarted), Resume{"boot", true}, Delivering, "forestall a shim"},
		{"restart behind the bar", in(Delivering, neverStarted, barred), Resume{"boot", true}, Delivering, "discard the output"},
		{"restart while it runs", in(Running, announced), Resume{"boot", true}, Running, "watch the shim"},
		{"restart before the report", in(Running), Resume{"boot", true}, Running, "watch the shim; report the start"},
		{"restart without adopting", in(Running, announced), Resume{"boot", false}, Ending, "watch the shim; " + hard},
		{
			"restart during the end", in(Ending, announced, killed(time.Second, false)),
			Resume{"boot", true},
			Ending,
			"watch the shim; send terminated; allow a grace of 1s",
		},
		{"restart during the delivery", in(Delivering), Resume{"other", true}, Delivering, "deliver the output"},
		{"restart before the last report", in(Ended), Resume{"boot", false}, Ended, "report the end; clean up"},
		{"restart after it", in(Ended, told), Resume{"other", true}, Ended, "clean up"},
		{"reboot", in(Running), Resume{"other", true}, Running, "watch the shim"},
		{"reboot before the start", in(Accepted), Resume{"other", true}, Delivering, "forestall a shim"},
		{"reboot during the start", in(Starting), Resume{"other", true}, Delivering, "discard the output"},
		{"reboot, spoilt record", Lost(testKey), Resume{"boot", true}, Delivering, "discard the output"},

		{"the fence falls before the script", in(Accepted), Lapsed{1}, Delivering, "forestall a shim"},
		{"the fence falls during the start", in(Starting), Lapsed{1}, Starting, ""},
		{"a shim runs behind the fence", in(Starting, fenced), Launched{Handle: handle}, Ending, "report the start; watch the shim; " + hard},
		{"no shim runs behind the fence", in(Starting, fenced), NotFound{}, Delivering, "forestall a shim"},
		{"the fence falls", in(Running), Lapsed{1}, Ending, hard},
		{"the fence falls on a job that is being ended", in(Ending, killed(time.Hour, false)), Lapsed{1}, Ending, hard},
		{"the fence has fallen before", in(Ending, fenced), Lapsed{2}, Ending, ""},
		{"the fence falls after the end", in(Delivering), Lapsed{1}, Delivering, ""},
		{"a fence that fell before the order came", in(Running, func(t *Task) { t.Lapse = 1 }), Lapsed{1}, Running, ""},
		{"restart behind the fence", in(Ending, announced, fenced), Resume{"boot", true}, Ending, "watch the shim; " + hard},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := c.task
			next, actions, err := step(c.task, c.event)
			if err != nil {
				t.Fatal(err)
			}
			if next.State() != c.state || words(actions) != c.actions {
				t.Errorf("state %s, actions %q; want %s, %q", next.State(), words(actions), c.state, c.actions)
			}
			if !reflect.DeepEqual(before, c.task) {
				t.Error("the task was changed in place")
			}
		})
	}
}

func TestStep_Result(t *testing.T) {
	for _, c := range []struct {
		name  string
		task  Task
		event Event
		want  spool.Ended
	}{
		{"exit", in(Running), Exited{proc.Exit{Status: 5}}, spool.Ended{ExitStatus: 5}},
		{"requeue", in(Ending, killed(0, true)), Exited{proc.Exit{Status: 271}}, spool.Ended{ExitStatus: pbs.ExitRerun}},
		{
			"mom stopped", in(Ending, aborted),
			Exited{proc.Exit{Status: 265}},
			spool.Ended{ExitStatus: pbs.ExitAborted, Lost: true, Comment: "the mom ended its jobs"},
		},
		{
			"fence", in(Running),
			Exited{proc.Exit{Status: 265, Fenced: true}},
			spool.Ended{ExitStatus: pbs.ExitAborted, Lost: true, Comment: "the host ended the job: no server was heard of in time"},
		},
		{
			"fence, the shim did not see it", in(Ending, fenced),
			Exited{proc.Exit{Status: 265}},
			spool.Ended{ExitStatus: pbs.ExitAborted, Lost: true, Comment: "the host ended the job: no server was heard of in time"},
		},
		{
			"fence before the start", in(Accepted),
			Lapsed{1},
			spool.Ended{ExitStatus: pbs.ExitRetry, NeverStarted: true, Comment: "the host ended the job: no server was heard of in time"},
		},
		{"lost", in(Running), Vanished{}, spool.Ended{ExitStatus: pbs.ExitAborted, Lost: true, Comment: "the job's processes are gone"}},
		{"own fault", in(Starting), Failed{Status: pbs.ExitOwnFault, Reason: "why"}, spool.Ended{ExitStatus: pbs.ExitOwnFault, NeverStarted: true, Comment: "why"}},
		{"killed early", in(Accepted), Kill{}, spool.Ended{ExitStatus: 271, NeverStarted: true}},
		{"requeued early", in(Accepted), Kill{Killing: Killing{0, true}}, spool.Ended{ExitStatus: pbs.ExitRerun, NeverStarted: true}},
		{"spoilt", Lost(testKey), Resume{"b", true}, spool.Ended{ExitStatus: pbs.ExitAborted, Lost: true, Comment: "the host was restarted"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			next, _, err := step(c.task, c.event)
			if err != nil || next.Result == nil {
				t.Fatalf("%+v, %v", next, err)
			}
			got := *next.Result
			if len(got.Used) != 6 {
				t.Errorf("used %v", got.Used)
			}
			got.Used = nil
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestStep_Refusals(t *testing.T) {
	for _, c := range []struct {
		task  Task
		event Event
		code  pbs.Code
	}{
		{in(Running), Signal{Name: "NOSUCH"}, pbs.BadSignal},
		{in(Ended), Signal{Name: "TERM"}, pbs.BadState},
		{in(Running), Forget{}, pbs.BadState},
		{in(Ended), Alter{}, pbs.BadState},
	} {
		if _, _, err := step(c.task, c.event); pbs.CodeOf(err) != c.code {
			t.Errorf("%T in %s: %v", c.event, c.task.State(), err)
		}
	}
}

func TestParseSignal(t *testing.T) {
	for name, want := range map[string]syscall.Signal{
		"TERM": 15, "SIGTERM": 15, "sigusr1": 10, "9": 9, "0": 0, "suspend": syscall.SIGSTOP, "resume": syscall.SIGCONT, "SIGNULL": 0,
	} {
		if got, err := ParseSignal(name); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "-1", "65", "FOO", "SIGSIGTERM"} {
		if _, err := ParseSignal(name); pbs.CodeOf(err) != pbs.BadSignal {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// What samples saw is better than a peak that may be the shim's own.
func TestPeak_MemoryOfShortJobs(t *testing.T) {
	for _, c := range []struct {
		name             string
		seen, peak, shim int64
		want             string
	}{
		{"nothing was seen", 0, 3 << 20, 8 << 20, "3072kb"},
		{"less than the shim", 2 << 20, 3 << 20, 8 << 20, "2048kb"},
		{"more than the shim", 2 << 20, 9 << 20, 8 << 20, "9216kb"},
	} {
		task := in(Running, func(t *Task) { t.Peak.RSS = c.seen })
		next, _, err := step(task, Exited{proc.Exit{MaxRSS: c.peak, ShimRSS: c.shim}})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range next.Used() {
			if u.Resource == "mem" && u.Value != c.want {
				t.Errorf("%s: mem %s, want %s", c.name, u.Value, c.want)
			}
		}
	}
}

func TestPeak_Percent(t *testing.T) {
	var p Peak
	for i := range 3 {
		p = p.with(proc.Usage{CPU: time.Duration(20*i) * time.Second, Wall: time.Duration(10*i) * time.Second, RSS: int64(5 - i)})
	}
	if p.Percent != 200 || p.RSS != 5 || p.CPU != 40*time.Second {
		t.Errorf("peak %+v", p)
	}
}
