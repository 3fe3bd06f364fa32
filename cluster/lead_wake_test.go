package cluster_test

import (
	"strconv"
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// A job that waits for a time is queued at that time, not at the next tick, by whoever
// leads then.
func TestWake_AtItsTime(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		w.until("the feature level", time.Minute, func() bool {
			return w.leader() != nil && w.leader().machine.View().Cluster().FeatureLevel >= command.LevelObjects
		})
		due := time.Now().Truncate(time.Second).Add(14 * time.Second)
		id := submitFor(t, w.leader(), due)
		submitFor(t, w.leader(), due.Add(time.Hour))
		w.leader().kill()
		w.until("another leader", 10*time.Second, func() bool { return w.leader() != nil })
		state := func() pbs.JobState {
			j, _ := w.leader().machine.View().Job(id)
			return j.State
		}
		<-time.After(time.Until(due) - 10*time.Millisecond)
		if s := state(); s != pbs.Waiting {
			t.Errorf("before its time the job is %s", s)
		}
		<-time.After(150 * time.Millisecond)
		if s := state(); s != pbs.Queued {
			t.Errorf("after its time the job is %s", s)
		}
	})
}

func submitFor(t *testing.T, m *server, at time.Time) pbs.JobID {
	t.Helper()
	list := attr.List(nil).Set("Execution_Time", "", strconv.FormatInt(at.Unix(), 10))
	out, err := m.replica.Propose(t.Context(), command.Proposal{
		ID: request(), Asker: pbs.User{Name: "ann", Host: "h"},
		Commands: []command.Command{&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: list}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Result.Job
}
