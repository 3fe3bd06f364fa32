package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// newSpread is a cluster of the hosts h, g and f.
func newSpread(t *testing.T) *suspending {
	w := newSuspending(t, "")
	for _, name := range []string{"g", "f"} {
		w.must(&HostUp{Host: pbs.HostName(name), Address: name + ":1", BootID: "b", SpoolID: "s" + name, Vnodes: []ReportedVnode{
			{Name: pbs.VnodeName(name), Available: resource.List{{Name: "ncpus", Value: "4"}}},
		}})
	}
	return w
}

// left is the word of a sister that its part is over.
func (w *suspending) left(host pbs.HostName, id pbs.JobID, run pbs.RunCount, seq uint64) {
	w.t.Helper()
	w.must(&JobEnded{Source: Source{Host: host, Spool: "s" + string(host), Seq: seq}, Job: id, RunCount: run})
}

// discards are the hosts that are to drop a checkpoint.
func (w *suspending) discards() (all []pbs.HostName) {
	for _, host := range []pbs.HostName{"h", "g", "f"} {
		if has(w.View().Orders(host), state.OrderDiscard) {
			all = append(all, host)
		}
	}
	return all
}

// A job over several hosts goes on with each chunk on the host that keeps its part, on no others, and not
// before all parts of the run before are over (L2).
func TestCheckpoint_OverSeveralHosts(t *testing.T) {
	const wide, bound = "1:ncpus=2+3:ncpus=1", "1:ncpus=2:host=h+2:ncpus=1:host=g+1:ncpus=1:host=h"
	const places = "(h:ncpus=2)+(g:ncpus=1)+(g:ncpus=1)+(h[1]:ncpus=1)"
	for name, end := range map[string]func(*suspending, pbs.JobID){
		"held": func(w *suspending, id pbs.JobID) {
			w.must(&CheckpointJob{Job: id, Holds: pbs.HoldUser})
			w.expect(id, "R u "+wide+" checkpoint")
			w.ended(JobEnded{Job: id, RunCount: 1, ExitStatus: -12, Checkpointed: true, Keepers: []pbs.HostName{"g"}})
			w.expect(id, "H u "+bound)
			w.must(&ReleaseJob{Job: id, Holds: pbs.HoldUser})
		},
		"lost": func(w *suspending, id pbs.JobID) {
			w.made(id, 1)
			w.ended(JobEnded{Job: id, RunCount: 1, ExitStatus: -4, Lost: true})
		},
	} {
		w := newSpread(t)
		id := w.started(wide, places)
		end(w, id)
		w.expect(id, "Q n "+bound)
		if err := w.run(&StartJob{Job: id, ExecVnode: places}); pbs.CodeOf(err) != pbs.BadState {
			t.Errorf("%s: a part of the run before may live: %v", name, err)
		}
		w.left("g", id, 1, 1)
		for _, elsewhere := range []string{"(h:ncpus=2)+(f:ncpus=1)+(f:ncpus=1)+(h[1]:ncpus=1)", "(h:ncpus=4)", "(g:ncpus=2)+(h:ncpus=1)"} {
			if err := w.run(&StartJob{Job: id, ExecVnode: elsewhere}); pbs.CodeOf(err) != pbs.BoundElsewhere {
				t.Errorf("%s: started on %s: %v", name, elsewhere, err)
			}
		}
		w.must(&StartJob{Job: id, ExecVnode: places})
		w.facts++
		w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 2, Session: 8})
		w.made(id, 2)
		if j, _ := w.View().Job(id); j.Checkpoint.Session != 8 || j.Checkpoint.Select != wide {
			t.Errorf("%s: a second checkpoint is %+v", name, j.Checkpoint)
		}
		if got := w.discards(); len(got) > 0 {
			t.Errorf("%s: %s drop a checkpoint that counts", name, got)
		}
		w.ended(JobEnded{Job: id, RunCount: 2})
		if got := w.discards(); !slices.Equal(got, []pbs.HostName{"h", "g"}) {
			t.Errorf("%s: %s drop the checkpoint of a job that has ended", name, got)
		}
	}
}

// Every part of a checkpoint is dropped when nothing goes on from it.
func TestCheckpoint_PartsDropped(t *testing.T) {
	const places = "(h:ncpus=1)+(g:ncpus=1)"
	made := JobEnded{RunCount: 1, ExitStatus: -12, Checkpointed: true, Keepers: []pbs.HostName{"g"}}
	for name, drop := range map[string]func(w *suspending, id pbs.JobID){
		"deleted meanwhile": func(w *suspending, id pbs.JobID) {
			w.must(&DeleteJob{Job: id})
			made.Job = id
			w.ended(made)
		},
		"deleted by force": func(w *suspending, id pbs.JobID) {
			w.must(&DeleteJob{Job: id, Force: true})
			made.Job = id
			w.ended(made)
		},
		"another request": func(w *suspending, id pbs.JobID) {
			made.Job = id
			w.ended(made)
			w.must(&AlterJob{Job: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "select", Value: "1:ncpus=2"}}}})
			w.expect(id, "Q n 1:ncpus=2 discard")
		},
		"bad restart": func(w *suspending, id pbs.JobID) {
			made.Job = id
			w.ended(made)
			w.left("g", id, 1, 1)
			w.must(&StartJob{Job: id, ExecVnode: places})
			w.ended(JobEnded{Job: id, RunCount: 2, ExitStatus: -7, NeverStarted: true})
			w.expect(id, "Q n 2:ncpus=1 discard")
		},
		"a sister is given up": func(w *suspending, id pbs.JobID) {
			w.made(id, 1)
			w.must(&HostDown{Host: "g"})
			w.must(&ForgetHost{Host: "g"})
			w.ended(JobEnded{Job: id, RunCount: 1, ExitStatus: -11})
			w.expect(id, "Q n 2:ncpus=1 discard")
		},
	} {
		w := newSpread(t)
		id := w.started("2:ncpus=1", places)
		w.must(&CheckpointJob{Job: id})
		drop(w, id)
		if got := w.discards(); len(got) == 0 || got[0] != "h" || name != "a sister is given up" && !slices.Contains(got, "g") {
			t.Errorf("%s: %s drop it", name, got)
		}
		if err := w.View().Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A job that has released vnodes would go on with all that it had asked for: no checkpoint of it is made, one that is
// reported counts as little as that before, and it starts anew wherever there is room (specification: ramp-down section 10).
func TestCheckpoint_AfterARelease(t *testing.T) {
	const whole = "2:ncpus=1"
	for name, c := range map[string]struct {
		before bool // a checkpoint was made of the whole job
		then   func(w *suspending, id pbs.JobID)
		drop   []pbs.HostName
	}{
		"held": {false, func(w *suspending, id pbs.JobID) {
			w.must(&CheckpointJob{Job: id, Holds: pbs.HoldUser})
			w.expect(id, "R u 1:ncpus=1")
			if err := w.run(&CheckpointJob{Job: id}); pbs.CodeOf(err) != pbs.NotSupported {
				t.Errorf("preempted: %v", err)
			}
			w.must(&ReleaseJob{Job: id, Holds: pbs.HoldUser})
		}, nil},
		"the first one":  {false, func(w *suspending, id pbs.JobID) { w.made(id, 1) }, []pbs.HostName{"h"}},
		"the second one": {true, func(w *suspending, id pbs.JobID) { w.made(id, 1) }, []pbs.HostName{"h", "g"}},
		"none any more":  {true, func(*suspending, pbs.JobID) {}, nil},
		"made meanwhile": {false, func(w *suspending, id pbs.JobID) {
			w.ended(JobEnded{Job: id, RunCount: 1, ExitStatus: -12, Checkpointed: true})
			w.expect(id, "Q n 2:ncpus=1 discard")
		}, []pbs.HostName{"h"}},
		"of an older release": {false, func(w *suspending, id pbs.JobID) {
			tx := w.Tx()
			ran, _ := tx.Job(id)
			kept := *ran
			kept.Checkpoint = &state.Checkpoint{Host: "h", Session: 7, Select: kept.SchedSelect}
			tx.PutJob(&kept)
			w.Commit(tx)
			w.ended(JobEnded{Job: id, RunCount: 1, ExitStatus: -4, Lost: true})
		}, []pbs.HostName{"h"}},
	} {
		w := newSpread(t)
		id := w.started(whole, "(h:ncpus=1)+(g:ncpus=1)")
		if c.before {
			w.made(id, 1)
		}
		w.must(&ReleaseNodes{Job: id, Vnodes: []string{"g"}})
		w.confirmAll("h")
		w.left("g", id, 1, 1)
		c.then(w, id)
		if got := w.discards(); !slices.Equal(got, c.drop) {
			t.Errorf("%s: %s drop a checkpoint, want %s", name, got, c.drop)
		}
		if j, _ := w.View().Job(id); j.State == pbs.Running {
			w.ended(JobEnded{Job: id, RunCount: 1, ExitStatus: -4, Lost: true})
		}
		want := whole
		if c.before && len(c.drop) == 0 { // its parts are on both hosts
			want = "1:ncpus=1:host=h+1:ncpus=1:host=g"
		}
		if j, _ := w.View().Job(id); j.SchedSelect != want || j.State != pbs.Queued {
			t.Errorf("%s: %s in state %c", name, j.SchedSelect, j.State)
		}
		if err := w.View().Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A run that goes on from a checkpoint may have its chunks on the same hosts in another order: the next checkpoint counts, on the hosts of
// its own chunks, and leaves none of them behind when it is dropped.
func TestCheckpoint_OtherPlaces(t *testing.T) {
	w := newSpread(t)
	id := w.started("3:ncpus=1", "(h:ncpus=1)+(g:ncpus=1)+(g:ncpus=1)")
	w.made(id, 1)
	lost := func(run pbs.RunCount, want string) {
		t.Helper()
		w.ended(JobEnded{Job: id, RunCount: run, ExitStatus: -4, Lost: true})
		w.left("g", id, run, uint64(run))
		w.expect(id, want)
	}
	lost(1, "Q n 1:ncpus=1:host=h+2:ncpus=1:host=g")
	for run, middle := pbs.RunCount(2), "h"; run < 4; run, middle = run+1, "g" {
		w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=1)+(" + middle + ":ncpus=1)+(g:ncpus=1)"})
		w.facts++
		w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: run, Session: 8})
		w.made(id, run)
		if run == 2 {
			lost(run, "Q n 2:ncpus=1:host=h+1:ncpus=1:host=g")
			w.must(&AlterJob{Job: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "walltime", Value: "00:01:00"}}}})
			w.expect(id, "Q n 2:ncpus=1:host=h+1:ncpus=1:host=g")
		}
	}
	if got := w.discards(); len(got) > 0 {
		t.Errorf("%s drop a good checkpoint", got)
	}
	w.must(&HostDown{Host: "g"})
	w.must(&ForgetHost{Host: "g"})
	w.ended(JobEnded{Job: id, RunCount: 3, ExitStatus: -11})
	w.expect(id, "Q n 3:ncpus=1 discard")
}

// What a job that waits is altered to ask for it asks for, also if that differs from what its checkpoint was made of in the hosts only.
func TestCheckpoint_AsksForAnotherHost(t *testing.T) {
	w := newSpread(t)
	id := w.started("2:ncpus=1", "(h:ncpus=1)+(h:ncpus=1)")
	w.must(&CheckpointJob{Job: id})
	w.ended(JobEnded{Job: id, RunCount: 1, ExitStatus: -12, Checkpointed: true})
	w.must(&AlterJob{Job: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "select", Value: "2:ncpus=1:host=g"}}}})
	w.expect(id, "Q n 2:ncpus=1:host=g discard")
}

// A job that ran with an alternative other than the first one goes on from its checkpoint with the first one again, where that
// has the chunks that are kept.
func TestCheckpoint_OtherAlternative(t *testing.T) {
	for _, c := range []struct{ first, on, want string }{
		{"1:ncpus=2", "(h:ncpus=1)", "Q n 1:ncpus=2:host=h"},
		{"2:ncpus=2", "(h:ncpus=1)+(g:ncpus=1)", "Q n 1:ncpus=2:host=h+1:ncpus=2:host=g"},
		{"1:ncpus=2", "(h:ncpus=1)+(g:ncpus=1)", "Q n 1:ncpus=2 discard"},
	} {
		w := newSpread(t)
		other := fmt.Sprintf("%d:ncpus=1", strings.Count(c.on, "("))
		id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", c.first).
			Set("lsf_resreq", "", "rusage[mem=20||mem=10]").Set("lsf_alternatives", "", c.first+" || "+other)})
		w.must(&StartJob{Job: id, ExecVnode: c.on, Choice: 1})
		w.facts++
		w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 1, Session: 7})
		w.must(&CheckpointJob{Job: id})
		w.ended(JobEnded{Job: id, RunCount: 1, ExitStatus: -12, Checkpointed: true})
		w.expect(id, c.want)
	}
}

// confirmAll has a host answer its open orders.
func (w *suspending) confirmAll(host pbs.HostName) {
	w.t.Helper()
	for _, o := range slices.Collect(w.View().Orders(host)) {
		w.must(&OrderConfirmed{Host: host, Order: o.ID})
	}
}
