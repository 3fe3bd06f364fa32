package service

import (
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// qterm -t immediate has running jobs checkpointed; those that were not, for whatever reason, are
// queued again, and one that takes too long stays an order.
func TestStop_Checkpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.host("hosta", "hosta")
		ids := map[string]pbs.JobID{}
		seq := uint64(0)
		source := func() command.Source {
			seq++
			return command.Source{Host: "hosta", Spool: "s", Seq: seq}
		}
		for _, name := range []string{"saved", "failed", "refused", "slow", "never"} {
			interval := "u"
			if name == "never" {
				interval = "n"
			}
			id := pbs.JobID(b.mustSubmit("ann@h", set("Checkpoint", interval), set("Resource_List.ncpus", "0")))
			b.do(&command.StartJob{Job: id, ExecVnode: "(hosta:ncpus=0)"})
			b.do(&command.JobStarted{Source: source(), Job: id, RunCount: 1, Session: 7})
			ids[name] = id
		}
		orders := func(kind state.OrderKind) map[pbs.JobID]pbs.OrderID {
			all := map[pbs.JobID]pbs.OrderID{}
			for o := range b.store.View().Orders("hosta") {
				if o.Kind == kind {
					all[o.Job] = o.ID
				}
			}
			return all
		}
		time.AfterFunc(2*time.Second, func() {
			open := orders(state.OrderCheckpoint)
			if _, asked := open[ids["never"]]; asked || len(open) != 4 {
				t.Errorf("checkpoints were ordered of %v", open)
			}
			b.do(&command.OrderConfirmed{Host: "hosta", Order: open[ids["refused"]], Refusal: pbs.Refuse(pbs.NotSupported)})
			b.do(&command.CheckpointFailed{Source: source(), Job: ids["failed"], RunCount: 1, Reason: "no"})
			b.do(&command.JobEnded{Source: source(), Job: ids["saved"], RunCount: 1, ExitStatus: -12, Checkpointed: true})
		})
		began := time.Now()
		if err := b.stop("root@replica:s1", &api.StopRequest{Requeue: true}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != checkpointWithin {
			t.Errorf("it took %s", took)
		}
		if j := b.job(string(ids["saved"])); j.State != pbs.Queued || !j.Checkpointed() {
			t.Errorf("the saved job is %s, %+v", j.State, j.Checkpoint)
		}
		if j := b.job(string(ids["slow"])); j.State != pbs.Running || !j.LastRun().Checkpointing() {
			t.Errorf("the slow job is %s, %+v", j.State, j.Checkpoint)
		}
		killed := orders(state.OrderKill)
		for _, name := range []string{"failed", "refused", "never"} {
			if _, ordered := killed[ids[name]]; !ordered {
				t.Errorf("the %s job is left alone", name)
			}
		}
		if len(killed) != 3 {
			t.Errorf("%d jobs are to end", len(killed))
		}
	})
}
