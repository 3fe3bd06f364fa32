package sched_test

import (
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/command"
)

// What vnodes share is given out once, on whichever hosts, and a planner that has seen the
// vnodes before follows what is taken of it and given back.
func TestIndirect(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=1,mem=4gb")
	b.host("hostb", "hostb:ncpus=4,mem=@hosta")
	b.host("hostc", "hostc:ncpus=4,mem=@hosta")
	planner := sched.NewPlanner()
	plan := func(when, want string) {
		t.Helper()
		p := planner.Plan(b.store.View(), start)
		if got := hostsOf(p); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
		if got := hostsOf(sched.NewPlanner().Plan(b.store.View(), start)); got != want {
			t.Errorf("%s, seen for the first time: %q, want %q", when, got, want)
		}
	}
	for range 5 {
		b.submit("select=1:ncpus=2:mem=1gb")
	}
	plan("all free", "b b c c")
	b.do(&command.StartJob{Job: "0.srv", ExecVnode: "(hostb:ncpus=2:mem=1048576kb)"})
	plan("one runs", "b c c")
	b.do(&command.StartJob{Job: "1.srv", ExecVnode: "(hostc:ncpus=2:mem=3145728kb)"})
	plan("nothing left", "")
	b.do(&command.DeleteJob{Job: "4.srv"})
	id := b.submit("select=1:ncpus=1:mem=5gb")
	v := b.store.View()
	j, _ := v.Job(id)
	if where, _, why := sched.PlaceOne(v, j, nil); where != "" || why != "Insufficient amount of resource: mem (R: 5242880kb A: 4194304kb T: 4194304kb)" {
		t.Errorf("beyond what there is: %q, %q", where, why)
	}
	b.host("hostc", "hostc:ncpus=4,mem=8gb")
	plan("shares no more", "b c")
}

// Chunks of one job that share are not promised the same twice.
func TestIndirect_WithinAJob(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=0,mem=3gb")
	b.host("hostb", "hostb:ncpus=4,mem=@hosta", "hostb[1]:ncpus=4,mem=@hosta")
	b.host("hostc", "hostc:ncpus=4,mem=@hosta", "hostc[1]:ncpus=4,mem=@nosuch")
	for _, c := range []struct{ request, where string }{
		{"select=2:ncpus=3:mem=2gb place=scatter", ""},
		{"select=2:ncpus=3:mem=2gb place=pack", ""},
		{"select=2:ncpus=3:mem=1gb place=pack", "(hostb:ncpus=3:mem=1048576kb)+(hostb[1]:ncpus=3:mem=1048576kb)"},
		{"select=3:ncpus=3:mem=1gb", "(hostb:ncpus=3:mem=1048576kb)+(hostb[1]:ncpus=3:mem=1048576kb)+(hostc:ncpus=3:mem=1048576kb)"},
		{"select=2:ncpus=3:mem=1gb place=scatter", "(hostb:ncpus=3:mem=1048576kb)+(hostc:ncpus=3:mem=1048576kb)"},
		{"select=1:ncpus=1:mem=1kb:vnode=hostc[1]", ""},
	} {
		id := b.submit(c.request)
		v := b.store.View()
		j, _ := v.Job(id)
		where, _, _ := sched.PlaceOne(v, j, nil)
		if where != c.where {
			t.Errorf("%s: %q, want %q", c.request, where, c.where)
			continue
		}
		if where != "" { // and the state agrees
			b.do(&command.StartJob{Job: id, ExecVnode: where})
			b.do(&command.DeleteJob{Job: id, Force: true})
		}
	}
}
