package command

import (
	"fmt"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/state"
)

// suspending is a state with one host of two vnodes on which jobs run.
type suspending struct {
	*writer
	facts uint64
}

func newSuspending(t *testing.T, restricted string) *suspending {
	w := &suspending{writer: newWriter(t)}
	offer := resource.List{{Name: "mem", Value: "2gb"}, {Name: "ncpus", Value: "4"}}
	w.must(&HostUp{Host: "h", Address: "h:1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "h", Available: offer}, {Name: "h[1]", Available: offer}}})
	if restricted != "" {
		w.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "restrict_res_to_release_on_suspend", Value: restricted}}}})
	}
	return w
}

// started submits a job and runs it on what is given.
func (w *suspending) started(selected, on string) pbs.JobID {
	w.t.Helper()
	id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", selected)})
	w.must(&StartJob{Job: id, ExecVnode: on})
	w.facts++
	w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 1, Session: 7})
	return id
}

// signal sends a signal, and the mom confirms it. What is to be resumed the scheduler lets go on, if it may.
func (w *suspending) signal(id pbs.JobID, signal string) error {
	if err := w.run(&SignalJob{Job: id, Signal: signal}); err != nil {
		return err
	}
	if signal == Resume {
		if err := w.run(&SignalJob{Job: id, Signal: Resume, Scheduled: true}); pbs.CodeOf(err) == pbs.ResourceBusy {
			return nil
		} else if err != nil {
			return err
		}
	}
	h, _ := w.View().Host("h")
	w.must(&OrderConfirmed{Host: "h", Order: h.NextOrder})
	if err := w.View().Check(); err != nil {
		w.t.Error(err)
	}
	return nil
}

// look returns job_state and substate, and what the vnode shows.
func (w *suspending) look(id pbs.JobID) string {
	v := w.View()
	j, _ := v.Job(id)
	vn, _ := v.Vnode("h")
	words := []string{v.JobAttribute(j, "job_state", ""), v.JobAttribute(j, "substate", ""), vn.State(), vn.JobsText()}
	for _, res := range []string{"mem", "ncpus"} {
		n, _ := vn.Assigned.Get(res)
		words = append(words, n)
	}
	released := v.JobAttribute(j, "resources_released", "")
	for _, e := range v.JobAttributes(j) {
		if e.Name == "resource_released_list" {
			released += " " + e.Resource + "=" + e.Value
		}
	}
	return strings.Join(append(words, released), "|")
}

// What a suspended job gives back, and that it has all of it again when it is resumed
// (specification: suspend-release sections 2 to 4).
func TestSuspend_GivesBack(t *testing.T) {
	const running = "R|42|job-busy|0.srv/0, 0.srv/1, 0.srv/2, 0.srv/3|524288kb|4|"
	for _, c := range []struct{ restricted, want string }{
		{"", "S|43|free||0kb|0|"},
		{"ncpus", "S|43|free||524288kb|0|(h:ncpus=4) ncpus=4"},
		{"ncpus,mem", "S|43|free||0kb|0|(h:ncpus=4:mem=524288kb) mem=524288kb ncpus=4"},
		{"license,mem", "S|43|free||0kb|4|(h:mem=524288kb) mem=524288kb"},
		{"nothing", "S|43|free||524288kb|4|(h:ncpus=0)"},
	} {
		w := newSuspending(t, c.restricted)
		id := w.started("1:ncpus=4:mem=512mb", "(h:ncpus=4:mem=524288kb)")
		if got := w.look(id); got != running {
			t.Fatalf("runs with %s", got)
		}
		if err := w.signal(id, Suspend); err != nil {
			t.Fatal(err)
		}
		if got := w.look(id); got != c.want {
			t.Errorf("%q: %s, want %s", c.restricted, got, c.want)
		}
		if err := w.signal(id, Suspend); pbs.CodeOf(err) != pbs.BadState {
			t.Errorf("suspended twice: %v", err)
		}
		if err := w.signal(id, AdminResume); pbs.CodeOf(err) != pbs.BadResume {
			t.Errorf("resumed as an administrator: %v", err)
		}
		if err := w.signal(id, Resume); err != nil {
			t.Fatal(err)
		}
		if got := w.look(id); got != running {
			t.Errorf("%q: resumed with %s", c.restricted, got)
		}
	}
}

// A job that somebody resumes waits for the scheduler whatever is free, and hears from it why it waits; admin-resume asks nobody.
func TestResume_IsTheScheduler(t *testing.T) {
	w := newSuspending(t, "")
	id := w.started("1:ncpus=4", "(h:ncpus=4)")
	comment := func() string {
		j, _ := w.View().Job(id)
		return w.View().JobAttribute(j, "comment", "")
	}
	told := func(want string) {
		t.Helper()
		set := &SetWaits{}
		set.Add(JobWait{Job: id}, state.Wait{Code: state.WaitQueueStopped})
		w.must(set)
		if got := comment(); got != want {
			t.Errorf("comment %q, want %q", got, want)
		}
	}
	told("") // it runs
	if err := w.signal(id, Suspend); err != nil {
		t.Fatal(err)
	}
	told("") // nobody has asked for it
	w.must(&SignalJob{Job: id, Signal: Resume})
	if got := w.look(id); got != "S|45|free|||0|" {
		t.Errorf("it is %s", got)
	}
	told("Not Running: Queue not started.")
	if j, _ := w.View().Job(id); !j.Says(state.Wait{Code: state.WaitQueueStopped}, false) || j.Says(state.Wait{Code: state.WaitBusy}, false) {
		t.Error("it is not known what it has been told")
	}
	w.must(&SignalJob{Job: id, Signal: Resume, Scheduled: true, Comment: "Job run at noon"})
	if got := comment() + w.look(id)[:4]; got != "Job run at noonR|42" {
		t.Errorf("it is %s", got)
	}
	if err := w.signal(id, AdminSuspend); err != nil {
		t.Fatal(err)
	}
	if err := w.signal(id, AdminResume); err != nil {
		t.Fatal(err)
	}
	if got := w.look(id)[:4]; got != "R|42" {
		t.Errorf("admin-resume: %s", got)
	}
}

// A job that cannot be resumed yet waits for the scheduler, which is refused as long as
// others have what the job gave back (L3).
func TestResume_WaitsForRoom(t *testing.T) {
	w := newSuspending(t, "")
	id := w.started("2:ncpus=4", "(h:ncpus=4)+(h[1]:ncpus=4)")
	if err := w.signal(id, Suspend); err != nil {
		t.Fatal(err)
	}
	other := w.started("1:ncpus=2", "(h[1]:ncpus=2)")
	if err := w.signal(id, Resume); err != nil {
		t.Fatal(err)
	}
	if got := w.look(id); got != "S|45|free|||0|" {
		t.Errorf("it is %s", got)
	}
	try := &SignalJob{Job: id, Signal: Resume, Scheduled: true}
	if err := w.run(try); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("the scheduler is told %v", err)
	}
	w.must(&DeleteJob{Job: other, Force: true})
	w.must(try)
	if got := w.look(id); !strings.HasPrefix(got, "R|42|job-busy|0.srv/0") {
		t.Errorf("it is %s", got)
	}
}

// A vnode is in maintenance while a job on it is admin-suspended, whatever becomes of it.
func TestAdminSuspend_Maintenance(t *testing.T) {
	for _, end := range []string{"resume", "delete"} {
		w := newSuspending(t, "")
		id := w.started("1:ncpus=1", "(h:ncpus=1)")
		if err := w.signal(id, AdminSuspend); err != nil {
			t.Fatal(err)
		}
		vn, _ := w.View().Vnode("h")
		if jobs := shownAs(w.View().VnodeAttributes(vn), "maintenance_jobs", ""); vn.State() != "maintenance" || jobs != "0.srv" {
			t.Errorf("the vnode is %s for %q", vn.State(), jobs)
		}
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}})
		if err := w.run(&StartJob{Job: "1.srv", ExecVnode: "(h:ncpus=1)"}); pbs.CodeOf(err) != pbs.ResourceBusy {
			t.Errorf("a job was started there: %v", err)
		}
		if err := w.signal(id, Resume); pbs.CodeOf(err) != pbs.BadResume {
			t.Errorf("it was resumed by anybody: %v", err)
		}
		if end == "delete" {
			w.must(&DeleteJob{Job: id, Force: true})
		} else if err := w.signal(id, AdminResume); err != nil {
			t.Fatal(err)
		}
		if vn, _ := w.View().Vnode("h"); vn.State() != "free" {
			t.Errorf("after the %s the vnode is %s", end, vn.State())
		}
	}
}

// Each of several jobs that were admin-suspended on a vnode can be resumed, in any order; it leaves maintenance
// with the last. What they had must still be there (L3), and others wait for the end of the maintenance.
func TestAdminResume_OneOfSeveral(t *testing.T) {
	for _, last := range []pbs.JobID{"0.srv", "1.srv"} {
		w := newSuspending(t, "")
		jobs := []pbs.JobID{w.started("1:ncpus=2", "(h:ncpus=2)"), w.started("1:ncpus=1", "(h:ncpus=1)+(h[1]:ncpus=1)")}
		plain := w.started("1:ncpus=1", "(h:ncpus=1)")
		for id, signal := range map[pbs.JobID]string{jobs[0]: AdminSuspend, jobs[1]: AdminSuspend, plain: Suspend} {
			if err := w.signal(id, signal); err != nil {
				t.Fatal(err)
			}
		}
		first := jobs[0]
		if first == last {
			first = jobs[1]
		}
		if err := w.signal(first, AdminResume); err != nil {
			t.Fatalf("resume %s first: %v", first, err)
		}
		w.must(&SignalJob{Job: plain, Signal: Resume})
		if err := w.run(&SignalJob{Job: plain, Signal: Resume, Scheduled: true}); pbs.CodeOf(err) != pbs.ResourceBusy {
			t.Errorf("another one was resumed: %v", err)
		}
		vn, _ := w.View().Vnode("h")
		if got := shownAs(w.View().VnodeAttributes(vn), "maintenance_jobs", ""); vn.State() != "maintenance" || got != string(last) {
			t.Errorf("after the first the vnode is %s for %q", vn.State(), got)
		}
		w.must(&ManageVnode{Verb: VerbSet, Vnode: "h", Changes: []AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "ncpus", Value: "2"}}}})
		if err := w.signal(last, AdminResume); pbs.CodeOf(err) != pbs.ResourceBusy || !strings.Contains(err.Error(), "ncpus") {
			t.Errorf("more than there is was given: %v", err)
		}
		w.must(&ManageVnode{Verb: VerbSet, Vnode: "h", Changes: []AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "ncpus", Value: "4"}}}})
		if err := w.signal(last, AdminResume); err != nil {
			t.Fatalf("resume the last, %s: %v", last, err)
		}
		w.must(&SignalJob{Job: plain, Signal: Resume, Scheduled: true})
		if got := w.look(plain); !strings.HasPrefix(got, "R|42|job-busy|") {
			t.Errorf("in the end it is %s", got)
		}
	}
}

// An exclusive job that is suspended lets others onto its vnode, and does not come back
// beside them.
func TestSuspend_Exclusive(t *testing.T) {
	w := newSuspending(t, "")
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).
		Set("Resource_List", "select", "1:ncpus=1").Set("Resource_List", "place", "excl")})
	w.must(&StartJob{Job: "0.srv", ExecVnode: "(h:ncpus=1)"})
	w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: 1}, Job: "0.srv", RunCount: 1, Session: 7})
	w.facts = 1
	if err := w.signal("0.srv", Suspend); err != nil {
		t.Fatal(err)
	}
	w.started("1:ncpus=1", "(h:ncpus=1)")
	if err := w.signal("0.srv", Resume); err != nil {
		t.Fatal(err)
	}
	if got := w.look("0.srv"); !strings.HasPrefix(got, "S|45|free|1.srv/0|") {
		t.Errorf("it is %s", got)
	}
}

// An exclusive host is that of the vnodes which call it the same, not all that the mom has.
func TestResume_ExclusiveHost(t *testing.T) {
	for _, c := range []struct{ word, want string }{{"h", "S"}, {"other", "R"}} {
		w := newSuspending(t, "")
		w.must(&ManageVnode{Verb: VerbSet, Vnode: "h[1]", Changes: []AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "host", Value: c.word}}}})
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).
			Set("Resource_List", "select", "1:ncpus=1").Set("Resource_List", "place", "exclhost")})
		w.must(&StartJob{Job: "0.srv", ExecVnode: "(h:ncpus=1)"})
		w.facts++
		w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: "0.srv", RunCount: 1, Session: 7})
		if err := w.signal("0.srv", Suspend); err != nil {
			t.Fatal(err)
		}
		w.started("1:ncpus=1", "(h[1]:ncpus=1)")
		if err := w.signal("0.srv", Resume); err != nil {
			t.Fatal(err)
		}
		got, _, _ := strings.Cut(w.look("0.srv"), "|")
		if got != c.want {
			t.Errorf("beside a job on host %s: %q, want %q", c.word, got, c.want)
		}
	}
}

// All vnodes of a host that a job has to itself show it, those that give it nothing, too; not while it is suspended, and none of another
// host of the same mom.
func TestExclusiveHost_Shown(t *testing.T) {
	for _, c := range []struct{ word, sharing, place, want string }{
		{"h", "", "exclhost", "job-exclusive 0.srv/0"},
		{"h", "", "excl", "free "},
		{"other", "", "exclhost", "free "},
		{"h", "ignore_excl", "exclhost", "free "},
	} {
		w := newSuspending(t, "")
		for name, value := range map[string]string{"resources_available.host": c.word, "sharing": c.sharing} {
			if name, res, _ := strings.Cut(name, "."); value != "" {
				w.must(&ManageVnode{Verb: VerbSet, Vnode: "h[1]", Changes: []AttrChange{{Entry: attr.Entry{Name: name, Resource: res, Value: value}}}})
			}
		}
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).
			Set("Resource_List", "select", "1:ncpus=1").Set("Resource_List", "place", c.place)})
		w.must(&StartJob{Job: "0.srv", ExecVnode: "(h:ncpus=1)"})
		w.facts++
		w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: "0.srv", RunCount: 1, Session: 7})
		shown := func() string {
			vn, _ := w.View().Vnode("h[1]")
			list := w.View().VnodeAttributes(vn)
			return shownAs(list, "state", "") + " " + shownAs(list, "jobs", "")
		}
		if got := shown(); got != c.want {
			t.Errorf("%s on host %s, sharing %q: %q, want %q", c.place, c.word, c.sharing, got, c.want)
		}
		if err := w.signal("0.srv", Suspend); err != nil {
			t.Fatal(err)
		}
		if got := shown(); got != "free " {
			t.Errorf("suspended: %q", got)
		}
	}
}

// Limits and the server's counts do not count what is suspended.
func TestSuspend_CountsAndLimits(t *testing.T) {
	w := newSuspending(t, "ncpus")
	w.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "max_run", Value: "[u:PBS_GENERIC=1]"}}}})
	id := w.started("1:ncpus=4:mem=512mb", "(h:ncpus=4:mem=524288kb)")
	assigned := func() string {
		list := w.View().ServerAttributes()
		return shownAs(list, "resources_assigned", "mem") + " " + shownAs(list, "resources_assigned", "ncpus")
	}
	if got := assigned(); got != "512mb 4" {
		t.Errorf("assigned %s", got)
	}
	if err := w.signal(id, Suspend); err != nil {
		t.Fatal(err)
	}
	if got := assigned(); got != "512mb 0" {
		t.Errorf("assigned while suspended: %s", got)
	}
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}})
	w.must(&StartJob{Job: "1.srv", ExecVnode: "(h:ncpus=1)", WithinLimits: true})
	w.must(&DeleteJob{Job: id, Force: true})
	if got := assigned(); got != "0kb 1" {
		t.Errorf("assigned at the end: %s", got)
	}
}

// shownAs returns a value of a list in the order of the attribute table.
func shownAs(list attr.List, name, res string) string {
	for _, e := range list {
		if e.Name == name && e.Resource == res {
			return e.Value
		}
	}
	return ""
}

// SIGCONT by its name or number is refused while a job is suspended, and while it is about to be: what it gave
// back is not its own until it is resumed (specification: suspend-release section 4).
func TestSignal_ContinuesNothingSuspended(t *testing.T) {
	w := newSuspending(t, "")
	id := w.started("1:ncpus=1", "(h:ncpus=1)")
	each := func(when string, want pbs.Code) {
		t.Helper()
		for _, signal := range []string{"CONT", "18"} {
			if err := w.run(&SignalJob{Job: id, Signal: signal}); pbs.CodeOf(err) != want {
				t.Errorf("%s %s: %v", signal, when, err)
			}
		}
		if err := w.run(&SignalJob{Job: id, Signal: "USR1"}); err != nil {
			t.Errorf("USR1 %s: %v", when, err)
		}
	}
	each("of a running job", pbs.CodeOf(nil))
	w.must(&SignalJob{Job: id, Signal: Suspend})
	h, _ := w.View().Host("h")
	order := h.NextOrder
	each("of a job that is being suspended", pbs.BadState)
	w.must(&OrderConfirmed{Host: "h", Order: order})
	each("of a suspended job", pbs.BadState)
	if err := w.signal(id, Resume); err != nil {
		t.Fatal(err)
	}
	each("of a resumed job", pbs.CodeOf(nil))
}

// A subjob that is suspended does not count against max_run_subjobs of its array: another one may start.
func TestSuspend_SubjobMakesRoom(t *testing.T) {
	w := newSuspending(t, "")
	w.must(&SubmitJob{
		Owner:      pbs.User{Name: "ann", Host: "h"},
		Attributes: attr.List(nil).Set("Resource_List", "select", "1:ncpus=1").Set("array_indices_submitted", "", "1-4").Set("max_run_subjobs", "", "2"),
	})
	array := pbs.JobID("0[].srv")
	start := func(index uint32) error {
		sub := array.Subjob(index)
		if err := w.run(&StartJob{Job: sub, ExecVnode: "(h:ncpus=1)"}); err != nil {
			return err
		}
		w.facts++
		w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: sub, RunCount: 1, Session: 7})
		return nil
	}
	for _, index := range []uint32{1, 2} {
		if err := start(index); err != nil {
			t.Fatal(err)
		}
	}
	if err := start(3); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("a third one: %v", err)
	}
	if err := w.signal(array.Subjob(2), Suspend); err != nil {
		t.Fatal(err)
	}
	if err := start(3); err != nil {
		t.Errorf("in the place of one that is suspended: %v", err)
	}
	if err := w.signal(array.Subjob(2), Resume); err != nil {
		t.Fatal(err)
	}
	if j, _ := w.View().Job(array); j.Array.Running() != 3 || j.Room() != 0 {
		t.Errorf("%d count as running, with room for %d", j.Array.Running(), j.Room())
	}
	if err := w.signal(array.Subjob(1), Suspend); err != nil {
		t.Fatal(err)
	}
	w.must(&RerunJob{Job: array.Subjob(1), Force: true})
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}

// What may be done to a subjob that has ended while its array goes on: nothing, and each request has its words.
func TestSubjob_EndedInArrayThatGoesOn(t *testing.T) {
	w := newSuspending(t, "")
	w.must(&SubmitJob{
		Owner:      pbs.User{Name: "ann", Host: "h"},
		Attributes: attr.List(nil).Set("Resource_List", "select", "1:ncpus=1").Set("array_indices_submitted", "", "1-4"),
	})
	w.must(&DeleteJob{Job: "0[1].srv"})
	for _, c := range []struct {
		request Command
		want    error
	}{
		{&RerunJob{Job: "0[1].srv"}, pbs.Refuse(pbs.BadState)},
		{&SignalJob{Job: "0[1].srv", Signal: "SIGTERM"}, pbs.Refuse(pbs.BadState)},
		{&StartJob{Job: "0[1].srv", ExecVnode: "(hosta:ncpus=1)"}, pbs.Refuse(pbs.BadState)},
		{&MessageJob{Job: "0[1].srv", Text: "hello"}, pbs.Errorf(pbs.NotSupported, "not supported for Array Jobs")},
		{&MoveJob{Job: "0[1].srv", Queue: "workq"}, pbs.Refuse(pbs.InvalidRequest)},
	} {
		if err := w.run(c.request); err == nil || err.Error() != c.want.Error() || pbs.CodeOf(err) != pbs.CodeOf(c.want) {
			t.Errorf("%T: %v", c.request, err)
		}
	}
	w.must(&DeleteJob{Job: "0[].srv"})
	if err := w.run(&RerunJob{Job: "0[1].srv"}); pbs.CodeOf(err) == pbs.BadState {
		t.Errorf("of an array that is over: %v", err)
	}
}

// Of a range of subjobs those that are over are passed by; one that is named by itself is refused.
func TestDelete_RangeOfFinishedSubjobs(t *testing.T) {
	w := newSuspending(t, "")
	w.must(&SubmitJob{
		Owner:      pbs.User{Name: "ann", Host: "h"},
		Attributes: attr.List(nil).Set("Resource_List", "select", "1:ncpus=1").Set("array_indices_submitted", "", "1-4"),
	})
	w.must(&DeleteJob{Job: "0[1-2].srv"})
	if err := w.run(&DeleteJob{Job: "0[1-2].srv"}); err != nil {
		t.Errorf("a range that is over: %v", err)
	}
	if err := w.run(&DeleteJob{Job: "0[1].srv"}); pbs.CodeOf(err) != pbs.HasFinished {
		t.Errorf("one that is over: %v", err)
	}
}

// A subjob that is to start again is shown as one that never started: of a held array it is queued, and does not start.
func TestHold_ReturnedSubjob(t *testing.T) {
	w := newSuspending(t, "")
	w.must(&SubmitJob{
		Owner:      pbs.User{Name: "ann", Host: "h"},
		Attributes: attr.List(nil).Set("Resource_List", "select", "1:ncpus=1").Set("array_indices_submitted", "", "1-2"),
	})
	sub := pbs.JobID("0[1].srv")
	w.must(&StartJob{Job: sub, ExecVnode: "(h:ncpus=1)"})
	w.must(&RerunJob{Job: sub, Force: true})
	w.must(&HoldJob{Job: "0[].srv", Holds: pbs.HoldUser})
	for id, want := range map[pbs.JobID]string{"0[].srv": "H", sub: "Q", "0[2].srv": "Q"} {
		v := w.View()
		j, ok := v.Named(id)
		if !ok || v.JobAttribute(j, "job_state", "") != want {
			t.Errorf("%s is %v, want %s", id, j.State, want)
		}
	}
	if err := w.run(&StartJob{Job: sub, ExecVnode: "(h:ncpus=1)"}); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("it starts: %v", err)
	}
}

// What lsf.shared says RELEASE = N of a suspended job keeps, unless restrict_res_to_release_on_suspend says what it gives back
// (specification: reservation section 6.9).
func TestSuspend_KeepsWhatIsNotReleased(t *testing.T) {
	for restricted, want := range map[string]string{"": "lic=2,ncpus=0", "lic": "lic=0,ncpus=1"} {
		w := newSuspending(t, restricted)
		w.must(&ManageResource{Verb: VerbCreate, Name: "lic", Changes: []AttrChange{{Entry: attr.Entry{Name: "type", Value: "long"}}, {Entry: attr.Entry{Name: "flag", Value: "nh"}}}})
		w.must(&ManageVnode{Verb: VerbSet, Vnode: "h", Changes: []AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "lic", Value: "3"}}}})
		config := lsf.Unconfigured()
		config.Resources = []lsf.Resource{{Name: "lic", Kind: resreq.Numeric, Consumable: true, Kept: true}}
		w.must(&Reconfigure{Config: *config})
		id := w.started("1:ncpus=1:lic=2", "(h:ncpus=1:lic=2)")
		if err := w.signal(id, Suspend); err != nil {
			t.Fatal(err)
		}
		vn, _ := w.View().Vnode("h")
		amount := func(name string) int64 {
			def, _ := w.View().Resource(name)
			text, _ := vn.Assigned.Get(name)
			return def.Measure(text)
		}
		if got := fmt.Sprintf("lic=%d,ncpus=%d", amount("lic"), amount("ncpus")); got != want {
			t.Errorf("restricted to %q it keeps %s, want %s", restricted, got, want)
		}
		if err := w.View().Check(); err != nil {
			t.Error(err)
		}
	}
}
