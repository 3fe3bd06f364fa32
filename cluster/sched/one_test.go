package sched_test

import (
	"strings"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

func TestPlaceOne(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=4,mem=8gb")
	b.host("hostb", "hostb:ncpus=8,mem=8gb")
	b.do(&command.ManageQueue{Verb: command.VerbSet, Queue: "workq", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "started", Value: "False"}}}})
	for _, c := range []struct{ request, where, why string }{
		{"select=1:ncpus=6:mem=1gb", "(hostb:ncpus=6:mem=1048576kb)", ""},
		{"select=1:ncpus=1", "(hosta:ncpus=1)", ""},
		{"select=1:ncpus=64", "", "Insufficient amount of resource: ncpus (R: 64 A: 12 T: 12)"},
	} {
		id := b.submit(c.request)
		v := b.store.Publish()
		j, _ := v.Job(id)
		if where, _, why := sched.PlaceOne(v, j, nil); where != c.where || why != c.why {
			t.Errorf("%s: %q, %q, want %q, %q", c.request, where, why, c.where, c.why)
		}
	}
}

// A job gets no host that has failed to start it while another one has room; else it gets that one.
func TestMake_AvoidsHostsThatFailed(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=2")
	b.host("hostb", "hostb:ncpus=1")
	id := b.submit("select=1:ncpus=1")
	b.submit("select=1:ncpus=1")
	b.do(&command.StartJob{Job: id, ExecVnode: "(hosta:ncpus=1)"})
	h, _ := b.store.View().Host("hosta")
	b.do(&command.OrderConfirmed{Host: "hosta", Order: h.NextOrder, Refusal: pbs.Errorf(pbs.SystemError, "no space left on device")})
	if got, want := text(b.plan()), "start 0 (hostb:ncpus=1)\nstart 1 (hosta:ncpus=1)"; !strings.HasPrefix(got, want) {
		t.Errorf("planned %q, want %q", got, want)
	}
	j, _ := b.store.View().Job(id)
	if on, _, _ := sched.PlaceOne(b.store.View(), j, nil); on != "(hostb:ncpus=1)" {
		t.Errorf("placed by hand on %s", on)
	}
	b.do(&command.ManageVnode{Verb: command.VerbSet, Vnode: "hostb", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "state", Value: "offline"}}}})
	if got, want := text(b.plan()), "start 0 (hosta:ncpus=1)\nstart 1 (hosta:ncpus=1)"; !strings.HasPrefix(got, want) {
		t.Errorf("planned %q, want %q", got, want)
	}
}

// What a chunk asks none of stands in its first part, also where it needs several vnodes.
func TestPlaceOne_AsksForNone(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=1,mem=1gb", "hosta[0]:ncpus=1,mem=1gb")
	for request, want := range map[string]string{
		"select=1:ncpus=0:mem=1gb": "(hosta:ncpus=0:mem=1048576kb)",
		"select=1:ncpus=0:mem=2gb": "(hosta:ncpus=0:mem=1048576kb+hosta[0]:mem=1048576kb)",
	} {
		id := b.submit(request)
		v := b.store.Publish()
		j, _ := v.Job(id)
		if where, _, why := sched.PlaceOne(v, j, nil); where != want {
			t.Errorf("%s: %q, %q, want %q", request, where, why, want)
		}
	}
}

// Who is started by an operator preempts whom it needs, whatever the levels of the queues say, but no subjob of its own array;
// the subjob may be one more than max_run_subjobs.
func TestPlaceOne_Preempts(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=8,mem=8gb")
	first := b.submit("select=1:ncpus=2")
	b.run()
	array := b.submit("select=1:ncpus=2 array=1-9 most=3")
	b.run()
	fourth := array.Subjob(4)
	v := b.store.Publish()
	j, ok := v.Named(fourth)
	if !ok {
		t.Fatal("there is no fourth subjob")
	}
	where, makeWay, why := sched.PlaceOne(v, j, nil)
	if where != "" || why != "" || len(makeWay) != 1 || makeWay[0].Job != first || makeWay[0].Method != command.PreemptSuspend {
		t.Fatalf("on %q, preempting %+v, %q; want %s suspended", where, makeWay, why, first)
	}
	b.do(makeWay[0])
	if where, again, why := sched.PlaceOne(b.store.Publish(), j, nil); where != "" || why != "" || len(again) != 0 {
		t.Errorf("while it is suspended: on %q, preempting %v, %q", where, again, why)
	}
	b.confirm(first)
	where, _, why = sched.PlaceOne(b.store.Publish(), j, nil)
	if where == "" {
		t.Fatalf("no room: %s", why)
	}
	b.do(&command.StartJob{Job: fourth, ExecVnode: where, Wish: true})
}
