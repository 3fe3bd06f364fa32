package server

import (
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// TestRequeued: of what waits the log tells at the start of a replica, in PBS's words; of what runs or is over it does not.
func TestRequeued(t *testing.T) {
	for _, c := range []struct {
		state pbs.JobState
		sub   pbs.Substate
		want  string
	}{
		{pbs.Queued, pbs.SubQueued, "Requeueing job, substate: 10 Requeued in queue: workq"},
		{pbs.Held, pbs.SubHeld, "Requeueing job, substate: 20 Requeued in queue: workq"},
		{pbs.Waiting, pbs.SubWaiting, "Requeueing job, substate: 30 Requeued in queue: workq"},
		{pbs.Begun, pbs.SubBegun, "Requeueing job, substate: 70 Requeued in queue: workq"},
		{pbs.Running, pbs.SubRunning, ""},
		{pbs.Exiting, pbs.SubExiting, ""},
		{pbs.Finished, pbs.SubFinished, ""},
	} {
		if got := requeued(&state.Job{State: c.state, Substate: c.sub, Queue: "workq"}); got != c.want {
			t.Errorf("%s: %q, want %q", c.state, got, c.want)
		}
	}
}
