package task

import (
	"testing"
	"time"

	"rampart/mom/proc"
)

func every(interval string) func(*Task) {
	return func(t *Task) {
		with("Checkpoint", interval)(t)
		with(periodicCheckpoints, "True")(t)
	}
}

func snapped(s Snap) func(*Task) { return func(t *Task) { t.Checkpoints.Snap = s } }

// A checkpoint that the job outlives is made when it is due, one at a time, and counts when the
// script says so while the job runs.
func TestSnap_Steps(t *testing.T) {
	due := SnapDue{By: "w", At: time.Minute, Able: true}
	exit := Exited{Exit: proc.Exit{Status: 256 + 9}}
	kill := Kill{Killing: Killing{Requeue: true}}
	for _, c := range []struct {
		name   string
		task   Task
		events []Event
		last   string // what follows from the last event
		state  State
		made   bool
	}{
		{"due", in(Running), []Event{due}, "checkpoint, and let it run on", Running, false},
		{"due while one is made", in(Running), []Event{due, due}, "", Running, false},
		{"made", in(Running), []Event{due, Snapped{}}, "report the checkpoint", Running, true},
		{"made twice", in(Running), []Event{due, Snapped{}, MadeTold{}, due, Snapped{}}, "report the checkpoint", Running, true},
		{"the second fails", in(Running), []Event{due, Snapped{}, MadeTold{}, due, Snapped{Failure: "no"}}, "", Running, true},
		{"failed", in(Running), []Event{due, Snapped{Failure: "no"}}, "", Running, false},
		{"no script", in(Running), []Event{SnapDue{By: "w", At: time.Minute}}, "", Running, false},
		{"not running", in(Ending), []Event{due}, "", Ending, false},
		{"suspended", in(Running, func(t *Task) { t.Suspension.State = Suspended }), []Event{due}, "", Running, false},
		{"interactive", in(Running, with("interactive", "True")), []Event{due}, "", Running, false},
		{"made too late", in(Running), []Event{due, Kill{Killing: Killing{Delay: time.Second}}, Snapped{}}, "", Ending, false},
		{"overtaken by a hold", in(Running), []Event{due, Checkpoint{Able: true}, Snapped{Failure: "stopped"}}, "", Running, false},
		{"while a hold is made", in(Running), []Event{Checkpoint{Able: true}, due}, "", Running, false},
		{"mom restarted on the way", in(Running, announced), []Event{due, Resume{"boot", true}}, "watch the shim", Running, false},
		{"mom restarted before it was told", in(Running, announced), []Event{due, Snapped{}, Resume{"boot", true}}, "report the checkpoint; watch the shim", Running, true},
		{"mom restarted after it", in(Running, announced), []Event{due, Snapped{}, MadeTold{}, Resume{"boot", true}}, "watch the shim", Running, true},
		{"requeued without one", in(Running), []Event{kill, exit}, "discard the output", Delivering, false},
		{"requeued with one", in(Running), []Event{due, Snapped{}, MadeTold{}, kill, exit}, "keep what it goes on from", Delivering, true},
		{"lost with one", in(Running), []Event{due, Snapped{}, MadeTold{}, Abort{}, exit}, "keep what it goes on from", Delivering, true},
		{"ended with one", in(Running), []Event{due, Snapped{}, MadeTold{}, exit}, "deliver the output", Delivering, true},
		{"a restarted run is lost", in(Running, func(t *Task) { t.Checkpoints.Restart = &Restart{Session: 7} }), []Event{Abort{}, exit}, "keep what it goes on from", Delivering, false},
	} {
		job, last := c.task, ""
		for _, ev := range c.events {
			next, actions, err := step(job, ev)
			if err != nil {
				t.Fatalf("%s: %T: %v", c.name, ev, err)
			}
			job, last = next, words(actions)
		}
		if last != c.last || job.State() != c.state || job.Checkpoints.Snap.exists() != c.made {
			t.Errorf("%s: %s, %q, %+v; want %s, %q", c.name, job.State(), last, job.Checkpoints.Snap, c.state, c.last)
		}
	}
}

// Only servers that understand the reports have periodic checkpoints made.
func TestSnap_Period(t *testing.T) {
	for text, want := range map[string]time.Duration{"n": 0, "u": 0, "s": 0, "c": 0, "w": 0, "c=5": 5 * time.Minute, "w=90": 90 * time.Minute, "x=1": 0} {
		if _, got := in(Running, every(text)).period(); got != want {
			t.Errorf("%s: every %s, want %s", text, got, want)
		}
		if _, got := in(Running, with("Checkpoint", text)).period(); got != 0 {
			t.Errorf("%s: every %s, though the servers do not know of it", text, got)
		}
	}
	if got := in(Running, every("w=1"), snapped(Snap{State: SnapBusy})).snappable(); got {
		t.Error("two at a time")
	}
}
