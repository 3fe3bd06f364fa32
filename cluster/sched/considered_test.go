package sched_test

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
)

// What the scheduler's attribute resources does not name keeps no job waiting, and is not counted; without it all counts but
// what only moms enforce.
func TestConsidered(t *testing.T) {
	for _, c := range []struct{ name, set, vnode, request, want string }{
		{"only the mom enforces vmem", "", "ncpus=2", "select=1:ncpus=1:vmem=1gb", "(hosta:ncpus=1)"},
		{"where it is offered it counts", "", "ncpus=2,vmem=2gb", "select=1:ncpus=1:vmem=1gb", "(hosta:ncpus=1:vmem=1048576kb)"},
		{"and may be too little", "", "ncpus=2,vmem=2gb", "select=1:ncpus=1:vmem=3gb", ""},
		{"memory that nobody offers", "", "ncpus=2", "select=1:ncpus=1:mem=1gb", ""},
		{"named", "resources=ncpus, mem", "ncpus=2,mem=1gb", "select=1:ncpus=1:mem=2gb", ""},
		{"not named", "resources=ncpus, arch", "ncpus=2,mem=1gb", "select=1:ncpus=1:mem=2gb", "(hosta:ncpus=1)"},
		{"a property that is not named", "resources=ncpus, mem", "ncpus=2", "select=1:ncpus=1:arch=vax", "(hosta:ncpus=1)"},
		{"a property that is", "resources=ncpus, arch", "ncpus=2", "select=1:ncpus=1:arch=vax", ""},
		{"hosts always hold", "resources=ncpus", "ncpus=2", "select=1:ncpus=1:host=elsewhere", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:"+c.vnode)
			if c.set != "" {
				b.scheduler(c.set)
			}
			b.submit(c.request)
			got := ""
			for _, s := range b.plan().Starts {
				got = s.ExecVnode
			}
			if got != c.want {
				t.Errorf("it gets %q, want %q", got, c.want)
			}
		})
	}
}

// A number without flags that server or queue have bounds each job by itself, where resources names it.
func TestConsidered_NumbersOfTheServer(t *testing.T) {
	for _, c := range []struct{ name, set, limit, request, want string }{
		{"not named", "", "resources_available.foo=5", "foo=6", ""},
		{"others are named", "resources=ncpus", "resources_available.foo=5", "foo=6", ""},
		{"named", "resources=ncpus, foo", "resources_available.foo=5", "foo=6", "Can Never Run: Insufficient amount of server resource: foo (R: 6 A: 5 T: 5)"},
		{"as much as there is", "resources=ncpus, foo", "resources_available.foo=5", "foo=5", ""},
		{"of a queue", "resources=ncpus, foo", "workq.resources_available.foo=5", "foo=6", "Can Never Run: Insufficient amount of queue resource: foo (R: 6 A: 5 T: 5)"},
		{"the server has none", "resources=ncpus, foo", "", "foo=6", ""},
		{"the job wants none", "resources=ncpus, foo", "resources_available.foo=5", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=2")
			b.do(&command.ManageResource{Verb: command.VerbCreate, Name: "foo", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "type", Value: "long"}}}})
			if c.set != "" {
				b.scheduler(c.set)
			}
			if c.limit != "" {
				b.limit(c.limit)
			}
			b.submit("select=1:ncpus=1 " + c.request)
			b.submit("select=1:ncpus=1 " + c.request)
			p := b.plan()
			got := ""
			for _, c := range p.Comments {
				got = c.Why.Comment()
			}
			if started := len(p.Starts) == 2; got != c.want || started != (c.want == "") {
				t.Errorf("%d start, %q, want %q", len(p.Starts), got, c.want)
			}
		})
	}
}
