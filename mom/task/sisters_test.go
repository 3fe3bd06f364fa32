package task

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// spread makes a task one of a run over three hosts.
func spread(t *Task) {
	t.Hosts = []Host{{"hosta", "a:1"}, {"hostb", "b:1"}, {"hostc", "c:1"}}
	t.Host = "hosta"
}

func asked(t *Task) {
	spread(t)
	t.Life.Sisters = PartsAsked
}

// asSister makes it the part of a sister.
func asSister(t *Task) {
	spread(t)
	stages := map[State]PartStage{
		Accepted: PartAccepted, Running: PartRunning, Ending: PartEnding, Delivering: PartEpilogue, Ended: PartOver,
	}
	t.Host, t.Part.Stage, t.Life, t.Handle = "hostb", stages[t.Life.State], Life{}, proc.Handle{}
}

// prologue makes it one whose hooks run before the program.
func prologue(t *Task) { t.Part.Prologue = PrologueAsked }

// running gives it programs in the given states.
func running(states ...ProgramState) func(*Task) {
	return func(t *Task) {
		for i, s := range states {
			t.Programs = append(t.Programs, Program{
				ID: uint32(i + 1), Key: fmt.Sprint(i + 1), State: s, Handle: proc.Handle{PID: 20 + i, Start: 1, BootID: "boot"},
			})
		}
	}
}

func concluding(t *Task) {
	asked(t)
	t.Result = &spool.Ended{ExitStatus: 1}
}

func TestStep_SeveralHosts(t *testing.T) {
	handle := proc.Handle{PID: 10, Start: 1, BootID: "boot", Session: 11}
	const hard = "send killed; allow a grace of 10s"
	up, gone := ProgramRunning, ProgramEnded
	for _, c := range []struct {
		name    string
		task    Task
		event   Event
		state   State
		actions string
	}{
		{"the script is there", in(Accepted, spread), Fetched{}, Joining, "have the sisters join"},
		{"all have joined", in(Joining, asked), Joined{}, Starting, "launch"},
		{"the program has started on several hosts", in(Starting, asked), Launched{Handle: handle}, Running, "report the start; watch the shim; poll the sisters"},
		{"they join too late", in(Gathering, concluding), Joined{}, Gathering, ""},
		{"one does not join", in(Joining, asked), JoinFailed{Reason: "no"}, Gathering, "end the sisters' parts"},
		{"killed while they join", in(Joining, asked), Kill{}, Gathering, "end the sisters' parts"},
		{"fenced while they join", in(Joining, asked), Lapsed{1}, Gathering, "end the sisters' parts"},
		{"the mom stops while they join", in(Joining, asked), Abort{}, Gathering, "end the sisters' parts"},
		{"a signal while they join", in(Joining, asked), Signal{Name: "USR1"}, Joining, ""},
		{"the mom was restarted while they joined", in(Joining, asked), Resume{"boot", true}, Accepted, "ask whether the run still counts"},
		{"the host was restarted while they joined", in(Joining, asked), Resume{"boot2", true}, Gathering, "end the sisters' parts"},
		{"the mom was restarted", in(Running, asked, announced), Resume{"boot", true}, Running, "watch the shim; poll the sisters"},
		{"the program exits", in(Running, asked), Exited{}, Gathering, "end the sisters' parts"},
		{"the program exits before another", in(Running, running(up, gone)), Exited{}, Gathering, hard},
		{"both wait", in(Running, asked, running(up)), Exited{}, Gathering, hard + "; end the sisters' parts"},
		{"the parts are over", in(Gathering, concluding), Gathered{}, Delivering, "deliver the output"},
		{"the parts are over, a program is not", in(Gathering, concluding, running(up)), Gathered{}, Gathering, ""},
		{"the last program is over", in(Gathering, running(up), told), ProgramDown{ID: 1}, Delivering, "deliver the output"},
		{"the programs are over, the parts are not", in(Gathering, concluding, running(up)), ProgramDown{ID: 1}, Gathering, ""},
		{"restarted while it ended", in(Gathering, concluding), Resume{"boot", true}, Gathering, "end the sisters' parts"},
		{"restarted while a program ended", in(Gathering, running(up)), Resume{"boot", true}, Gathering, "watch a program; " + hard},
		{"a poll", in(Running, asked), Polled{}, Running, "poll the sisters"},
		{"a poll after the end", in(Delivering, asked), Polled{}, Delivering, ""},
		{"a sister is lost", in(Running, asked), Polled{Lost: "hostb"}, Ending, hard + "; poll the sisters"},
		{"a sister is lost at the end", in(Ending, asked), Polled{Lost: "hostb"}, Ending, "poll the sisters"},
		{"a program", in(Running), Spawn{Key: "k", Args: []string{"true"}}, Running, "start a program"},
		{"a program once more", in(Running, running(up)), Spawn{Key: "1", Args: []string{"true"}}, Running, ""},
		{"a program runs", in(Running, running(ProgramStarting)), ProgramUp{ID: 1, Handle: handle}, Running, "watch a program"},
		{"a program runs too late", in(Gathering, running(ProgramStarting)), ProgramUp{ID: 1, Handle: handle}, Gathering, "watch a program; send killed to program 1"},
		{"a program runs while the others may end", in(Ending, running(ProgramStarting, up)), ProgramUp{ID: 1, Handle: handle}, Ending, "watch a program; send killed to program 1"},
		{"a session is attached", in(Running), Attach{handle}, Running, "watch a program"},
		{"programs after a restart", in(Running, announced, running(up, ProgramStarting, gone)), Resume{"boot", true}, Running, "watch a program; look for a program; watch the shim"},

		{"a sister is asked", in(Accepted, asSister), Accept{}, Accepted, "ask whether the run still counts"},
		{"a sister joins", in(Accepted, asSister), Fetched{}, Running, ""},
		{"a sister must not join", in(Accepted, asSister), Failed{Status: pbs.ExitRetry}, Ended, "report the end; clean up"},
		{"a sister is ended before it has joined", in(Accepted, asSister), Kill{}, Delivering, "run the hooks of the end"},
		{"the start has failed", in(Running, asSister), Abandon{}, Delivering, "run the hooks of the end"},
		{"the start fails at a sister with programs", in(Running, asSister, running(up)), Abandon{}, Ending, hard},
		{"a sister's mom was restarted in its last hooks", in(Delivering, asSister), Resume{"boot2", false}, Delivering, "run the hooks of the end"},
		{"a sister is asked for its prologue", in(Running, asSister), Prologue{}, Running, "run the hooks before the program"},
		{"a sister is asked again for its prologue", in(Running, asSister, prologue), Prologue{}, Running, ""},
		{"a sister's prologue is over", in(Running, asSister, prologue), PrologueOver{}, Running, ""},
		{"a sister's mom was restarted in its prologue", in(Running, asSister, prologue), Resume{"boot", true}, Running, "run the hooks before the program"},
		{"a sister comes too late", in(Ended, asSister), Fetched{}, Ended, ""},
		{"a sister is ended", in(Running, asSister), Kill{}, Delivering, "run the hooks of the end"},
		{"a sister with programs is ended", in(Running, asSister, running(up)), Kill{}, Ending, hard},
		{"a sister's last program is over", in(Ending, asSister, running(up, gone), neverStarted), ProgramDown{ID: 1}, Delivering, "run the hooks of the end"},
		{"a sister's programs are over", in(Running, asSister, running(up)), ProgramDown{ID: 1}, Running, ""},
		{"a sister is fenced", in(Running, asSister, running(up)), Lapsed{1}, Ending, hard},
		{"a sister's mom stops", in(Running, asSister), Abort{}, Delivering, "run the hooks of the end"},
		{"a sister's mom was restarted", in(Running, asSister, running(up)), Resume{"boot", true}, Running, "watch a program"},
		{"a sister's mom was restarted without -p", in(Running, asSister, running(up)), Resume{"boot", false}, Ending, "watch a program; " + hard},
		{"a sister's host was restarted", in(Running, asSister, running(up)), Resume{"boot2", true}, Delivering, "run the hooks of the end"},
		{"a sister gets a signal", in(Running, asSister, running(up)), Signal{Name: "USR1"}, Running, "send user defined signal 1"},
		{"a sister is forgotten", in(Ended, asSister), Forget{}, Ended, "drop"},
	} {
		before := fmt.Sprintf("%+v", c.task)
		next, actions, err := step(c.task, c.event)
		if err != nil || next.State() != c.state || words(actions) != c.actions {
			t.Errorf("%s: %s, %q, %v; want %s, %q", c.name, next.State(), words(actions), err, c.state, c.actions)
		}
		if after := fmt.Sprintf("%+v", c.task); after != before {
			t.Errorf("%s: the task was changed in place", c.name)
		}
	}
}

// What the sisters and ended programs have used counts; the walltime and the cpus are not added.
func TestUsed_OfAllHosts(t *testing.T) {
	run := in(Running, asked, limited("ncpus", "3"), running(ProgramRunning))
	run.Peak = Peak{CPU: time.Second, Wall: 10 * time.Second, RSS: 1024, VSize: 2048, Percent: 10}
	for _, ev := range []Event{
		Polled{Shares: map[pbs.HostName]Share{"hostb": {Peak: Peak{CPU: 2 * time.Second, RSS: 1024, VSize: 1024, Percent: 20, Wall: time.Hour}}}},
		Polled{Shares: map[pbs.HostName]Share{"hostc": {Peak: Peak{CPU: time.Second}}}, Silent: []pbs.HostName{"hostb"}},
		ProgramDown{ID: 1, Exit: proc.Exit{CPU: 5 * time.Second}},
	} {
		var err error
		if run, _, err = step(run, ev); err != nil {
			t.Fatal(err)
		}
	}
	want := []spool.Used{
		{Resource: "cpupercent", Value: "30"},
		{Resource: "cput", Value: "00:00:08"},
		{Resource: "mem", Value: "2kb"},
		{Resource: "ncpus", Value: "3"},
		{Resource: "vmem", Value: "3kb"},
		{Resource: "walltime", Value: "00:00:10"},
	}
	if got := run.Used(); !reflect.DeepEqual(got, want) {
		t.Errorf("used %v, want %v", got, want)
	}
}
