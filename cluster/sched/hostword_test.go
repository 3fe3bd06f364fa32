package sched_test

import (
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/command"
)

// Vnodes of one mom that call their host differently are on different hosts.
func TestHostWord(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=0", "hosta[0]:ncpus=2,host=hx", "hosta[1]:ncpus=2,host=hx", "hosta[2]:ncpus=2", "hosta[3]:ncpus=2")
	b.offer("hosta[2]", "host", "hy")
	b.offer("hosta[3]", "host", "hy")
	for _, c := range []struct{ request, where, why string }{
		{"select=1:ncpus=1:host=hy", "(hosta[2]:ncpus=1)", ""},
		{"select=1:ncpus=1:host=hx+1:ncpus=1:host=hy place=scatter", "(hosta[0]:ncpus=1)+(hosta[2]:ncpus=1)", ""},
		{"select=2:ncpus=1 place=scatter", "(hosta[0]:ncpus=1)+(hosta[2]:ncpus=1)", ""},
		{"select=3:ncpus=1 place=vscatter", "(hosta[0]:ncpus=1)+(hosta[1]:ncpus=1)+(hosta[2]:ncpus=1)", ""},
		{"select=1:ncpus=4", "(hosta[0]:ncpus=2+hosta[1]:ncpus=2)", ""},
		{"select=3:ncpus=2 place=free", "(hosta[0]:ncpus=2)+(hosta[1]:ncpus=2)+(hosta[2]:ncpus=2)", ""},
		{"select=3:ncpus=2 place=pack", "", "Insufficient amount of resource: ncpus (R: 6 A: 4 T: 4)"},
		{"select=1:ncpus=1:host=hosta", "", "Insufficient amount of resource: ncpus"},
		{"select=1:ncpus=1:host=hz", "", "Insufficient amount of resource: host"},
		{"select=1:ncpus=1:host=hx+1:ncpus=1:host=hy place=pack", "", "Insufficient amount of resource: ncpus"},
	} {
		id := b.submit(c.request)
		v := b.store.View()
		j, _ := v.Job(id)
		if where, _, why := sched.PlaceOne(v, j, nil); where != c.where || why != c.why {
			t.Errorf("%s: %q, %q, want %q, %q", c.request, where, why, c.where, c.why)
		}
		b.do(&command.DeleteJob{Job: id, Force: true})
	}
}

// Who has a host for himself leaves the other hosts of the mom to others, and a planner follows what hosts are called.
func TestHostWord_Exclusive(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta[0]:ncpus=2,host=hx", "hosta[1]:ncpus=2,host=hx", "hosta[2]:ncpus=2,host=hy")
	planner := sched.NewPlanner()
	plan := func(want string) {
		t.Helper()
		p := planner.Plan(b.store.View(), start)
		p.Comments = nil
		if got := text(p); got != want {
			t.Errorf("planned\n%s\nwant\n%s", got, want)
		}
	}
	b.do(&command.StartJob{Job: b.submit("select=1:ncpus=1:host=hy"), ExecVnode: "(hosta[2]:ncpus=1)"})
	b.submit("select=1:ncpus=1 place=exclhost")
	b.submit("select=1:ncpus=1")
	plan("start 1 (hosta[0]:ncpus=1)\nstart 2 (hosta[2]:ncpus=1)")
	b.offer("hosta[1]", "host", "hz")
	plan("start 1 (hosta[0]:ncpus=1)\nstart 2 (hosta[1]:ncpus=1)")
	b.offer("hosta[2]", "host", "hx")
	plan("start 1 (hosta[1]:ncpus=1)\nstart 2 (hosta[0]:ncpus=1)")
}

// in_multivnode_host tells which vnodes share their host.
func TestHostWord_Shown(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta[0]:ncpus=2,host=hx", "hosta[1]:ncpus=2,host=hx", "hosta[2]:ncpus=2,host=hy")
	b.host("hostb", "hostb:ncpus=2,host=hx")
	v := b.store.View()
	for vn := range v.Vnodes() {
		want := ""
		if vn.Name == "hosta[0]" || vn.Name == "hosta[1]" {
			want = "1"
		}
		got := ""
		for _, e := range v.VnodeAttributes(vn) {
			if e.Name == "in_multivnode_host" {
				got = e.Value
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", vn.Name, got, want)
		}
	}
}
