package task

import (
	"testing"
	"time"

	"rampart/mom/proc"
)

// A checkpoint counts when the script of the site says so, whenever the program has ended, and
// whatever dies on the way.
func TestCheckpoint_Steps(t *testing.T) {
	const saved = "keep what it goes on from"
	exit := Exited{Exit: proc.Exit{Status: 256 + 9}}
	fail := Checkpointed{Failure: "no"}
	for _, c := range []struct {
		name   string
		events []Event
		last   string // what follows from the last event
		state  State
		status int // exit status told
	}{
		{"ended by the script", []Event{Checkpoint{Able: true}, exit, Checkpointed{}}, saved, Delivering, -12},
		{"left by the script", []Event{Checkpoint{Able: true}, Checkpointed{}, exit}, saved, Delivering, -12},
		{"left", []Event{Checkpoint{Able: true}, Checkpointed{}}, "send killed; allow a grace of 10s", Ending, 0},
		{"asked twice", []Event{Checkpoint{Able: true}, Checkpoint{Able: true}}, "", Running, 0},
		{"failed", []Event{Checkpoint{Able: true}, fail}, "report the failed checkpoint", Running, 0},
		{"failed, tried again", []Event{Checkpoint{Able: true}, fail, Checkpoint{Able: true}}, "checkpoint", Running, 0},
		{"failed and ended", []Event{Checkpoint{Able: true}, exit, fail}, "report the failed checkpoint; deliver the output", Delivering, 265},
		{"deleted meanwhile", []Event{Checkpoint{Able: true}, Kill{Killing: Killing{Delay: time.Second}}}, "send terminated; allow a grace of 1s; stop the staging", Ending, 0},
		{"deleted and done", []Event{Checkpoint{Able: true}, Kill{Killing: Killing{}}, Checkpointed{}, exit}, "deliver the output", Delivering, 265},
		{"mom restarted", []Event{Checkpoint{Able: true}, Resume{"boot", true}}, "report the failed checkpoint; watch the shim", Running, 0},
		{"mom restarted, job ended by the script", []Event{Checkpoint{Able: true}, Resume{"boot", true}, exit}, "discard the output", Delivering, -4},
	} {
		job, last := in(Running, announced), ""
		for _, ev := range c.events {
			next, actions, err := step(job, ev)
			if err != nil {
				t.Fatalf("%s: %T: %v", c.name, ev, err)
			}
			job, last = next, words(actions)
		}
		if last != c.last || job.State() != c.state {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, job.State(), last, c.state, c.last)
		}
		if c.status != 0 && (job.Result == nil || job.Result.ExitStatus != c.status) {
			t.Errorf("%s: result %+v, want %d", c.name, job.Result, c.status)
		}
	}
	if _, _, err := step(in(Running, announced), Checkpoint{}); err == nil {
		t.Error("checkpointed without a script")
	}
}

// live gives a task a program besides its first.
func live(t *Task) {
	t.Programs = []Program{{ID: 2, State: ProgramRunning, Handle: proc.Handle{PID: 5, Session: 6}}}
}

// A checkpoint of several programs ends none of them before all are saved: then it is done whatever dies,
// and before that the job's own end is its end.
func TestCheckpoint_JointSteps(t *testing.T) {
	ask, exit := Checkpoint{Joint: true}, Exited{Exit: proc.Exit{Status: 256 + 9}}
	for _, c := range []struct {
		name    string
		job     Task
		events  []Event
		last    string
		state   State
		status  int
		attempt uint64
	}{
		{"asked", in(Running, announced, live), []Event{ask}, "checkpoint", Running, 0, 1},
		{"of several hosts", in(Running, announced, asked), []Event{ask}, "checkpoint", Running, 0, 1},
		{"saved", in(Running, announced, live), []Event{ask, Checkpointed{}}, "send killed; allow a grace of 10s", Ending, 0, 1},
		{"failed", in(Running, announced, live), []Event{ask, Checkpointed{Failure: "no"}}, "report the failed checkpoint", Running, 0, 1},
		{"tried again", in(Running, announced, live), []Event{ask, Checkpointed{Failure: "no"}, ask}, "checkpoint", Running, 0, 2},
		{"ended by itself", in(Running, announced, asked), []Event{ask, exit}, "report the failed checkpoint; stop the staging; end the sisters' parts", Gathering, 265, 1},
		{"ended by itself, saved too late", in(Running, announced, asked), []Event{ask, exit, Checkpointed{}}, "", Gathering, 265, 1},
		{"mom restarted", in(Running, announced, live), []Event{ask, Resume{"boot", true}}, "watch a program; report the failed checkpoint; watch the shim", Running, 0, 1},
		{"mom restarted, ended by itself", in(Running, announced, asked), []Event{ask, Resume{"boot", true}, exit}, "end the sisters' parts", Gathering, 265, 1},
		{"mom restarted when it was done", in(Running, announced, asked), []Event{ask, Checkpointed{}, Resume{"boot", true}}, "watch the shim; poll the sisters; send killed; allow a grace of 10s", Ending, 0, 1},
		{"mom restarted, then it is over", in(Running, announced, asked), []Event{ask, Checkpointed{}, Resume{"boot", true}, exit}, "end the sisters' parts", Gathering, -12, 1},
		{"deleted when it was done", in(Running, announced, asked), []Event{ask, Checkpointed{}, Kill{}, exit}, "end the sisters' parts", Gathering, 265, 1},
	} {
		job, last := c.job, ""
		for _, ev := range c.events {
			next, actions, err := step(job, ev)
			if err != nil {
				t.Fatalf("%s: %T: %v", c.name, ev, err)
			}
			job, last = next, words(actions)
		}
		if last != c.last || job.State() != c.state || job.Checkpoints.Attempt != c.attempt {
			t.Errorf("%s: %s, %q, attempt %d; want %s, %q", c.name, job.State(), last, job.Checkpoints.Attempt, c.state, c.last)
		}
		if c.status != 0 && (job.Result == nil || job.Result.ExitStatus != c.status) {
			t.Errorf("%s: result %+v, want %d", c.name, job.Result, c.status)
		}
	}
	for name, job := range map[string]Task{
		"several programs": in(Running, announced, live), "several hosts": in(Running, announced, asked),
	} {
		if _, _, err := step(job, Checkpoint{Able: true}); err == nil {
			t.Errorf("%s: checkpointed by a script that ends one after the other", name)
		}
	}
	released := in(Running, announced, asked)
	released.Assignment.Number = 1
	if _, _, err := step(released, ask); len(released.sisters()) > 0 && err == nil {
		t.Error("checkpointed on what is left of its hosts")
	}
}

// A sister makes the part of the latest checkpoint that was asked for, once, and an end stops it.
func TestCheckpoint_SisterSteps(t *testing.T) {
	part := func(number uint64) Event { return SavePart{Number: number, Able: true} }
	for _, c := range []struct {
		name   string
		events []Event
		last   string
		busy   bool
		fails  string
		err    bool
	}{
		{"asked", []Event{part(1)}, "checkpoint the part", true, "", false},
		{"asked twice", []Event{part(1), part(1)}, "", true, "", false},
		{"saved", []Event{part(1), PartSaved{Number: 1}}, "", false, "", false},
		{"failed", []Event{part(1), PartSaved{Number: 1, Failure: "no"}, part(1)}, "", false, "no", false},
		{"a later one", []Event{part(1), part(3), PartSaved{Number: 1, Failure: "stopped"}}, "", true, "", false},
		{"an earlier one", []Event{part(3), PartSaved{Number: 3}, part(2)}, "", false, "", true},
		{"no script", []Event{SavePart{Number: 1}}, "", false, "", true},
		{"mom restarted", []Event{part(1), Resume{"boot", true}}, "", false, "the mom was restarted", false},
		{"ended meanwhile", []Event{part(1), Kill{}}, "run the hooks of the end; stop the staging", false, "the part has ended", false},
		{"ended before", []Event{Kill{}, part(1)}, "", false, "", true},
	} {
		job, last := in(Running, asSister), ""
		var err error
		for _, ev := range c.events {
			var actions []Action
			var next Task
			if next, actions, err = step(job, ev); err == nil {
				job, last = next, words(actions)
			} else {
				last = ""
			}
		}
		got := job.Checkpoints.Part
		if (err != nil) != c.err || last != c.last || (got.State == PartBusy) != c.busy || got.Failure != c.fails {
			t.Errorf("%s: %q, %+v, %v; want %q", c.name, last, got, err, c.last)
		}
	}
}
