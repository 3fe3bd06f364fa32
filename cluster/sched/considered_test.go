package sched_test

import "testing"

// What the scheduler's attribute resources does not name keeps no job waiting, and is not counted; without it all counts but
// what only moms enforce.
func TestHeeded(t *testing.T) {
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
