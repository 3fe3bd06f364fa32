package command

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

func TestNewEpoch_NumbersGoOnHigher(t *testing.T) {
	w := newWriter(t)
	before := w.View().Cluster().NextJob
	if err := w.run(&NewEpoch{Skip: 5}); pbs.CodeOf(err) != pbs.InvalidRequest {
		t.Errorf("no epoch at all: %v", err)
	}
	w.must(&NewEpoch{Epoch: 8, Skip: EpochSkip, Cause: "test"})
	if c := w.View().Cluster(); c.Epoch != 8 || c.NextJob != before+EpochSkip {
		t.Errorf("epoch %d, next job %d", c.Epoch, c.NextJob)
	}
	if err := w.run(&NewEpoch{Epoch: 8, Skip: EpochSkip}); pbs.CodeOf(err) != pbs.InvalidRequest {
		t.Errorf("the epoch that it is already: %v", err)
	}
	if got := w.View().Cluster().NextJob; got != before+EpochSkip {
		t.Errorf("a repeat raised the numbers to %d", got)
	}
}

// After max_job_sequence_id numbers begin again at 0, but for those that jobs and reservations have; a lower value counts at once.
func TestSubmit_NumbersBeginAgain(t *testing.T) {
	w := newWriter(t)
	submit := func() (ids []pbs.JobID) {
		for range 3 {
			w.submit(nil)
			ids = append(ids, pbs.NewJobID(w.View().Cluster().NextJob-1, "srv"))
		}
		return ids
	}
	if got, want := submit(), []pbs.JobID{"0.srv", "1.srv", "2.srv"}; !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	w.must(&DeleteJob{Job: "1.srv", History: true})
	w.must(&NewEpoch{Epoch: 9, Skip: 9999998 - w.View().Cluster().NextJob})
	if got, want := submit(), []pbs.JobID{"9999998.srv", "9999999.srv", "1.srv"}; !slices.Equal(got, want) {
		t.Errorf("at the end of the numbers %q, want %q", got, want)
	}
	if got, want := submit(), []pbs.JobID{"3.srv", "4.srv", "5.srv"}; !slices.Equal(got, want) {
		t.Errorf("then %q, want %q", got, want)
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}

func TestNewEpoch_RecoveryTakesTheOthersOffTheRecord(t *testing.T) {
	w := newWriter(t)
	for _, name := range []string{"s1", "s2", "s3", "s4"} {
		w.must(&PutReplica{Replica: state.Replica{Name: pbs.ReplicaName(name), ServerID: name + ".old"}})
	}
	w.must(&PutReplica{Replica: state.Replica{Name: "s4", ServerID: "s4.new"}})
	w.must(&NewEpoch{Epoch: 8, Recovery: &state.Recovery{
		Replica: "s1", Index: 7, Term: 2, Lost: []string{"s2.old", "s4.old"}, Anew: []string{"s3.old"},
	}})
	var left []string
	for r := range w.View().Replicas() {
		left = append(left, r.ServerID)
	}
	if !slices.Equal(left, []string{"s1.old", "s4.new"}) {
		t.Errorf("members are %v", left)
	}
	r := w.View().RecoveryWithout("s2.old")
	if r == nil || r.Epoch != 8 || r.At == 0 || w.View().RecoveryWithout("s3.old") == nil || w.View().RecoveryWithout("s1.old") != nil {
		t.Errorf("on record is %+v", w.View().Cluster().Recoveries)
	}
	for i := range uint64(2 * recoveriesKept) {
		w.must(&NewEpoch{Epoch: 100 + i, Recovery: &state.Recovery{Replica: "s1"}})
	}
	if n := len(w.View().Cluster().Recoveries); n != recoveriesKept {
		t.Errorf("%d recoveries are kept", n)
	}
}

// upWithEight is a mom that comes up with eight cpus.
func upWithEight() *HostUp {
	return &HostUp{Host: "h", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "h", Available: resource.List{{Name: "ncpus", Value: "8"}}}}}
}

// A mom that is new to an epoch tells what it was told: the state may be older than that.
func TestHostUp_OfAnEarlierEpoch(t *testing.T) {
	w := newWriter(t)
	w.must(&NewEpoch{Epoch: 7})
	up := upWithEight()
	w.must(up)
	lost, live, ending, ordered := w.running("h"), w.running("h"), w.running("h"), w.running("h")
	for o := range w.View().Orders("h") {
		if o.Job != ordered {
			w.must(&OrderConfirmed{Host: "h", Order: o.ID})
		}
	}
	again := *up
	again.Epoch, again.Told = 7, 12 // the epoch that it comes from
	again.Tasks, again.Ending = []ReportedTask{{live, 1}}, []ReportedTask{{ending, 1}}

	w.must(&again)
	if j, _ := w.View().Job(lost); j.State != pbs.Running {
		t.Errorf("a mom of this epoch ended a run: state %v", j.State)
	}
	w.must(&NewEpoch{Epoch: 8})
	w.must(&again)
	for id, want := range map[pbs.JobID]pbs.JobState{lost: pbs.Queued, live: pbs.Running, ending: pbs.Running, ordered: pbs.Running} {
		if j, _ := w.View().Job(id); j.State != want {
			t.Errorf("%s is %v, want %v", id, j.State, want)
		}
	}
	if h, _ := w.View().Host("h"); h.Acked != 12 {
		t.Errorf("fact %d is the last that was taken", h.Acked)
	}
	w.must(&JobEnded{Source: Source{Host: "h", Spool: "s", Seq: 13}, Job: ending, RunCount: 1})
	if j, ok := w.View().Job(ending); ok && j.State != pbs.Finished {
		t.Errorf("the fact that was on its way left %v", j.State)
	}
}

// What a mom accepted between its list and the new epoch is not in the list: only one that was
// made for the epoch ends runs, and only the first of them (L2).
func TestHostUp_ListsOfAnEarlierEpochEndNothing(t *testing.T) {
	w := newWriter(t)
	w.must(&NewEpoch{Epoch: 7})
	up := upWithEight()
	w.must(up)
	accept := func() pbs.JobID {
		id := w.running("h")
		for o := range w.View().Orders("h") {
			w.must(&OrderConfirmed{Host: "h", Order: o.ID})
		}
		return id
	}
	gone, live := accept(), accept()
	w.must(&NewEpoch{Epoch: 8})
	late := *up
	late.Epoch, late.For = 7, 7
	before, _ := w.View().Host("h")
	w.must(&late)
	if h, _ := w.View().Host("h"); !reflect.DeepEqual(h, before) {
		t.Errorf("a list of epoch 7 made %+v of the host", h)
	}
	anew := *up
	anew.Epoch, anew.For, anew.Tasks = 7, 8, []ReportedTask{{live, 1}}
	w.must(&anew)
	since := accept()
	w.must(&anew) // it comes again, from an attempt that was given up
	for id, want := range map[pbs.JobID]pbs.JobState{gone: pbs.Queued, live: pbs.Running, since: pbs.Running} {
		if j, _ := w.View().Job(id); j.State != want {
			t.Errorf("%s is %v, want %v", id, j.State, want)
		}
	}
}

// running submits a job that runs on the host, and returns its id.
func (w *writer) running(host pbs.HostName) pbs.JobID {
	w.t.Helper()
	id := pbs.JobID(fmt.Sprintf("%d.srv", w.View().Cluster().NextJob))
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}})
	w.must(&StartJob{Job: id, ExecVnode: "(" + string(host) + ":ncpus=1)"})
	return id
}
