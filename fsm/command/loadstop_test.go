package command

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A run is suspended by load once, stays so whoever but the scheduler wants it to go on, and is told by which (specification: reservation
// section 9.7).
func TestStopForLoad(t *testing.T) {
	w := newSuspending(t, "ncpus")
	id := w.started("1:ncpus=4:mem=512mb", "(h:ncpus=4:mem=524288kb)")
	waits := w.waits()
	stop := &StopForLoad{Job: id, RunCount: 1, Host: "h", Indices: []string{"r1m", "pg"}}
	for _, bad := range []*StopForLoad{
		{Job: id, RunCount: 2, Host: "h", Indices: []string{"r1m"}},
		{Job: id, RunCount: 1, Host: "elsewhere", Indices: []string{"r1m"}},
		{Job: id, RunCount: 1, Host: "h"},
		{Job: waits, Host: "h", Indices: []string{"r1m"}},
		{Job: "99.srv", RunCount: 1, Host: "h", Indices: []string{"r1m"}},
	} {
		if err := w.run(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	w.must(stop)
	if err := w.run(stop); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("suspended twice: %v", err)
	}
	if err := w.run(&PreemptJob{Job: id, RunCount: 1, Method: PreemptSuspend, For: waits}); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("preempted while load suspends it: %v", err)
	}
	if n := w.orders(state.OrderSignal); n != 1 {
		t.Errorf("%d orders", n)
	}
	if j, _ := w.View().Job(id); strings.HasPrefix(j.CommentText(), "Suspended") {
		t.Errorf("it says %q before it is suspended", j.CommentText())
	}
	w.confirm(nil)
	const stopped = "S|45|free||524288kb|0|(h:ncpus=4) ncpus=4"
	if got := w.look(id); got != stopped {
		t.Errorf("suspended with %s, want %s", got, stopped)
	}
	j, _ := w.View().Job(id)
	if got, want := j.CommentText(), "Suspended by the load of h, which is beyond loadStop: r1m, pg"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	w.must(&SignalJob{Job: id, Signal: Resume})
	if got := w.look(id); got != stopped || w.orders(state.OrderSignal) != 0 {
		t.Errorf("resumed by somebody, it is %s", got)
	}
	w.must(&SignalJob{Job: id, Signal: Resume, Scheduled: true})
	j, _ = w.View().Job(id)
	if got := w.look(id); !strings.HasPrefix(got, "R|42|") || j.LastRun().StoppedByLoad() != nil || j.LastRun().ChangedByLoad() == 0 || strings.HasPrefix(j.CommentText(), "Suspended") {
		t.Errorf("resumed by the scheduler, it is %s and says %q", got, j.CommentText())
	}
	w.must(stop)
}

// A run that its mom has not suspended goes on, one that is queued again has not been suspended, and one that somebody suspends is his.
func TestStopForLoad_ComesToNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		does func(w *suspending, id pbs.JobID)
		want string
	}{
		{"refused", func(w *suspending, id pbs.JobID) { w.confirm(pbs.Refuse(pbs.SystemError)) }, "R|42|"},
		{"queued again", func(w *suspending, id pbs.JobID) { w.must(&RerunJob{Job: id, Force: true}) }, "Q|10|"},
		{"suspended before", func(w *suspending, id pbs.JobID) {
			w.confirm(nil)
			w.must(&SignalJob{Job: id, Signal: Resume, Scheduled: true})
			w.confirm(nil)
			if err := w.signal(id, Suspend); err != nil {
				t.Fatal(err)
			}
		}, "S|43|"},
		{"taken over", func(w *suspending, id pbs.JobID) {
			w.confirm(nil)
			w.must(&SignalJob{Job: id, Signal: Suspend})
			if n := w.orders(state.OrderSignal); n != 0 {
				t.Errorf("%d orders", n)
			}
		}, "S|43|"},
		{"taken over on the way", func(w *suspending, id pbs.JobID) {
			w.must(&SignalJob{Job: id, Signal: Suspend})
			if err := w.run(&SignalJob{Job: id, Signal: AdminSuspend}); pbs.CodeOf(err) != pbs.BadState {
				t.Errorf("admin-suspend is told %v", err)
			}
			if n := w.orders(state.OrderSignal); n != 1 {
				t.Errorf("%d orders", n)
			}
			w.confirm(nil)
		}, "S|43|"},
		{"taken over after a plan to resume it", func(w *suspending, id pbs.JobID) {
			w.confirm(nil)
			w.must(&SignalJob{Job: id, Signal: Suspend})
			if err := w.run(&SignalJob{Job: id, Signal: Resume, Scheduled: true}); pbs.CodeOf(err) != pbs.BadState {
				t.Errorf("the scheduler is told %v", err)
			}
		}, "S|43|"},
	} {
		w := newSuspending(t, "")
		id := w.started("1:ncpus=4", "(h:ncpus=4)")
		w.must(&StopForLoad{Job: id, RunCount: 1, Host: "h", Indices: []string{"r1m"}})
		c.does(w, id)
		j, _ := w.View().Job(id)
		if got := w.look(id); !strings.HasPrefix(got, c.want) || j.LastRun().StoppedByLoad() != nil || strings.HasPrefix(j.CommentText(), "Suspended by") {
			t.Errorf("%s: it is %s and says %q", c.name, got, j.CommentText())
		}
	}
}
