package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

func hookedHosts(t *testing.T) *writer {
	w := newWriter(t)
	for _, host := range []pbs.HostName{"a", "b"} {
		w.must(&HostUp{Host: host, Address: string(host) + ":1", SpoolID: "s", Vnodes: []ReportedVnode{{
			Name: pbs.VnodeName(host), Available: resource.List{{Name: "ncpus", Value: "2"}},
		}}})
	}
	return w
}

// A hook of execjob_preterm refuses the deletion of the run that it belongs to, and of no other.
func TestHookWishes_KeepsAJob(t *testing.T) {
	w := hookedHosts(t)
	id := w.running("a")
	w.must(&JobStarted{Source: Source{Host: "a", Spool: "s", Seq: 1}, Job: id, RunCount: 1, Session: 7})
	kept := func(host pbs.HostName, seq uint64, run pbs.RunCount) *state.Job {
		w.must(&HookWishes{
			Source: Source{Host: host, Spool: "s", Seq: seq}, Hook: "p", Kept: []ReportedTask{{Job: id, RunCount: run}}, Why: "not now",
		})
		j, _ := w.View().Job(id)
		return j
	}
	if j := kept("a", 2, 1); j.Comment != "" && j.Comment[:3] == "Not" {
		t.Errorf("nobody has deleted it: %+v", j)
	}
	w.must(&DeleteJob{Job: id})
	for _, j := range []*state.Job{kept("b", 1, 1), kept("a", 3, 2)} {
		if j.State != pbs.Exiting {
			t.Errorf("by another host, or of another run: %+v", j)
		}
	}
	if j := kept("a", 4, 1); j.State != pbs.Running || j.Substate != pbs.SubRunning || j.LastRun().Ending != 0 || j.Comment != "Not deleted: not now" {
		t.Errorf("kept: %+v", j)
	}
	w.must(&DeleteJob{Job: id})
	orders := 0
	for o := range w.View().Orders("a") {
		if o.Kind == state.OrderKill {
			orders++
		}
	}
	if j, _ := w.View().Job(id); j.State != pbs.Exiting || orders != 1 {
		t.Errorf("deleted again: %+v, %d orders to kill", j, orders)
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}

// A deletion that is refused while the job starts leaves it starting.
func TestHookWishes_KeepsAStart(t *testing.T) {
	w := hookedHosts(t)
	job := func(id pbs.JobID) *state.Job { j, _ := w.View().Job(id); return j }
	kept := func(id pbs.JobID, seq uint64) {
		w.must(&HookWishes{Source: Source{Host: "a", Spool: "s", Seq: seq}, Hook: "p", Kept: []ReportedTask{{Job: id, RunCount: 1}}, Why: "no"})
	}
	first, second := w.running("a"), w.running("a")
	w.must(&DeleteJob{Job: first})
	kept(first, 1)
	if j := job(first); j.State != pbs.Running || j.Substate != pbs.SubStarting || j.LastRun().Ending != 0 {
		t.Errorf("before the word of the start: %+v", j)
	}
	w.must(&JobStarted{Source: Source{Host: "a", Spool: "s", Seq: 2}, Job: first, RunCount: 1, Session: 7})
	w.must(&DeleteJob{Job: second})
	w.must(&JobStarted{Source: Source{Host: "a", Spool: "s", Seq: 3}, Job: second, RunCount: 1, Session: 8})
	kept(second, 4)
	for _, id := range []pbs.JobID{first, second} {
		if j := job(id); j.State != pbs.Running || j.Substate != pbs.SubRunning {
			t.Errorf("when it has begun: %+v", j)
		}
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}

// What somebody sets as run_count is what is shown and counted on from; the runs are told apart by
// a number that never goes back (L2).
func TestRunCount_Set(t *testing.T) {
	w := hookedHosts(t)
	id := w.running("a")
	job := func() *state.Job { j, _ := w.View().Job(id); return j }
	w.must(&HookWishes{
		Source: Source{Host: "a", Spool: "s", Seq: 1}, Hook: "p",
		Jobs: []HookJob{{Job: id, RunCount: 1, Set: attr.List{}.Set("run_count", "", "10")}},
	})
	if j := job(); j.Runs() != 10 || j.RunCount != 1 {
		t.Errorf("set by a hook: run %d, run_count %d", j.RunCount, j.Runs())
	}
	w.must(&JobEnded{Source: Source{Host: "a", Spool: "s", Seq: 2}, Job: id, RunCount: 1, ExitStatus: -3, NeverStarted: true})
	w.must(&AlterJob{Job: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "run_count", Value: "0"}}}})
	if j := job(); j.Runs() != 0 || j.RunCount != 1 {
		t.Errorf("set by qalter: run %d, run_count %d", j.RunCount, j.Runs())
	}
	w.must(&StartJob{Job: id, ExecVnode: "(a:ncpus=1)"})
	shown := w.View().JobAttribute(job(), "run_count", "")
	if j := job(); j.RunCount != 2 || shown != "1" {
		t.Errorf("started again: run %d, run_count %s", j.RunCount, shown)
	}
}
