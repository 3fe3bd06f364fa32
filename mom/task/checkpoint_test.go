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
		{"ended by the script", []Event{Checkpoint{true}, exit, Checkpointed{}}, saved, Delivering, -12},
		{"left by the script", []Event{Checkpoint{true}, Checkpointed{}, exit}, saved, Delivering, -12},
		{"left", []Event{Checkpoint{true}, Checkpointed{}}, "send killed; allow a grace of 10s", Ending, 0},
		{"asked twice", []Event{Checkpoint{true}, Checkpoint{true}}, "", Running, 0},
		{"failed", []Event{Checkpoint{true}, fail}, "report the failed checkpoint", Running, 0},
		{"failed, tried again", []Event{Checkpoint{true}, fail, Checkpoint{true}}, "checkpoint", Running, 0},
		{"failed and ended", []Event{Checkpoint{true}, exit, fail}, "report the failed checkpoint; deliver the output", Delivering, 265},
		{"deleted meanwhile", []Event{Checkpoint{true}, Kill{Killing: Killing{Delay: time.Second}}}, "send terminated; allow a grace of 1s; stop the staging", Ending, 0},
		{"deleted and done", []Event{Checkpoint{true}, Kill{Killing: Killing{}}, Checkpointed{}, exit}, "deliver the output", Delivering, 265},
		{"mom restarted", []Event{Checkpoint{true}, Resume{"boot", true}}, "report the failed checkpoint; watch the shim", Running, 0},
		{"mom restarted, job ended by the script", []Event{Checkpoint{true}, Resume{"boot", true}, exit}, "discard the output", Delivering, -4},
	} {
		job, last := in(Running, announced), ""
		for _, ev := range c.events {
			next, actions, err := step(job, ev)
			if err != nil {
				t.Fatalf("%s: %T: %v", c.name, ev, err)
			}
			job, last = next, words(actions)
		}
		if last != c.last || job.State != c.state {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, job.State, last, c.state, c.last)
		}
		if c.status != 0 && (job.Result == nil || job.Result.ExitStatus != c.status) {
			t.Errorf("%s: result %+v, want %d", c.name, job.Result, c.status)
		}
	}
	if _, _, err := step(in(Running, announced), Checkpoint{}); err == nil {
		t.Error("checkpointed without a script")
	}
}
