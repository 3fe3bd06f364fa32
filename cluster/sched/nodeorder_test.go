package sched_test

import (
	"slices"
	"strings"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// hosts returns where the starts of a plan go, in their order.
func hostsOf(p sched.Plan) string {
	var all []string
	for _, s := range p.Starts {
		name, _, _ := strings.Cut(strings.TrimPrefix(s.ExecVnode, "("), ":")
		all = append(all, strings.TrimPrefix(name, "host"))
	}
	return strings.Join(all, " ")
}

// Vnodes are filled in the order of their creation, or of node_sort_key; a planner that has
// seen another order follows.
func TestNodeOrder(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=4,mem=4gb")
	b.host("hostb", "hostb:ncpus=6,mem=2gb")
	b.host("hostc", "hostc:ncpus=4,mem=8gb")
	b.node("hostc", "Priority", "7")
	for range 8 {
		b.submit("select=1:ncpus=2")
	}
	planner := sched.NewPlanner()
	for _, c := range []struct{ keys, want string }{
		{"", "a a b b b c c"},
		{"sort_priority HIGH", "c c a a b b b"},
		{"ncpus LOW, mem HIGH", "c c a a b b b"},
		{"mem LOW", "b b b a a c c"},
		{"", "a a b b b c c"},
	} {
		b.scheduler("node_sort_key=" + c.keys)
		if got := hostsOf(planner.Plan(b.store.View(), start)); got != c.want {
			t.Errorf("%q: %s, want %s", c.keys, got, c.want)
		}
	}
	b.node("hosta", "Priority", "9")
	b.scheduler("node_sort_key=sort_priority HIGH")
	planner.Plan(b.store.View(), start)
	b.node("hostb", "Priority", "10")
	if got := hostsOf(planner.Plan(b.store.View(), start)); got != "b b b a a c c" {
		t.Errorf("after a change of Priority: %s", got)
	}
	b.scheduler("node_sort_key=ncpus HIGH unused")
	b.do(&command.StartJob{Job: "0.srv", ExecVnode: "(hostb:ncpus=2)"})
	b.do(&command.StartJob{Job: "1.srv", ExecVnode: "(hostb:ncpus=2)"})
	if got := hostsOf(planner.Plan(b.store.View(), start)); got != "a c a b c" {
		t.Errorf("by what is unused: %s", got)
	}
}

// An order by what is used moves with each start of a cycle, as in PBS; of a host's vnodes, too. smp_cluster_dist stands
// before node_sort_key.
func TestNodeOrder_MovesWithStarts(t *testing.T) {
	for _, c := range []struct{ keys, dist, want string }{
		{"ncpus HIGH unused", "", "b b a b d a b c c d"},
		{"ncpus LOW unused", "", "c c a a d d b b b b"},
		{"ncpus HIGH assigned", "", "a a b b b b c c d d"},
		{"ncpus LOW assigned", "pack", "a b c c d a b d b b"},
		{"", "round_robin", "a b c c d a b d b b"},
		{"sort_priority HIGH", "round_robin", "d a b c c d a b b b"},
		{"", "lowest_load", "a b c c d a b d b b"},
		{"sort_priority HIGH", "pack", "d d a a b b b b c c"},
	} {
		b := newBench(t)
		b.host("hosta", "hosta:ncpus=4")
		b.host("hostb", "hostb:ncpus=8")
		b.host("hostc", "hostc:ncpus=0", "hostc[0]:ncpus=2", "hostc[1]:ncpus=2")
		b.host("hostd", "hostd:ncpus=4")
		b.node("hostd", "Priority", "7")
		b.scheduler("node_sort_key="+c.keys, "smp_cluster_dist="+c.dist)
		for range 10 {
			b.submit("select=1:ncpus=2")
		}
		planner := sched.NewPlanner()
		for range 2 { // a plan leaves what the planner keeps as it was
			if got := strings.NewReplacer("[0]", "", "[1]", "").Replace(hostsOf(planner.Plan(b.store.View(), start))); got != c.want {
				t.Errorf("%q, %q: %s, want %s", c.keys, c.dist, got, c.want)
			}
		}
	}
}

// A vnode takes no more jobs of a user, or of a group, than it says; a queue in a partition
// has the vnodes of that, and no others.
func TestPlanner_VnodeLimitsAndPartitions(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"", "0 1 2 3 4 5"},
		{"max_user_run=1", "0 2 4"},
		{"max_user_run=2", "0 1 2 3 4 5"},
		{"max_group_run=1", "0 2"},
		{"max_group_run=2", "0 1 2 3"},
		{"partition=P", ""},
	} {
		b := newBench(t)
		b.host("hosta", "hosta:ncpus=8")
		for range 2 {
			b.submitAs("ann", "users", "select=1:ncpus=1")
		}
		for range 2 {
			b.submitAs("bob", "staff", "select=1:ncpus=1")
		}
		for range 2 {
			b.submitAs("eve", "staff", "select=1:ncpus=1")
		}
		if name, value, ok := strings.Cut(c.set, "="); ok {
			b.node("hosta", name, value)
		}
		p := b.plan()
		if got := started(p); got != c.want {
			t.Errorf("%s: started %q, want %q", c.set, got, c.want)
		}
		for _, s := range p.Starts {
			b.do(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode, WithinLimits: true})
		}
		if again := started(b.plan()); again != "" {
			t.Errorf("%s: started %s again", c.set, again)
		}
		for j := range b.store.View().Jobs() {
			if j.State == pbs.Queued {
				if out := b.try(&command.StartJob{Job: j.ID, ExecVnode: "(hosta:ncpus=1)", WithinLimits: true}); out.Refusal == nil {
					t.Errorf("%s: %s was started", c.set, j.ID)
				}
			}
		}
		if c.set == "partition=P" {
			b.do(&command.ManageQueue{Verb: command.VerbSet, Queue: "workq", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "partition", Value: "P"}}}})
			if got := started(b.plan()); got != "0 1 2 3 4 5" {
				t.Errorf("in the partition: started %s", got)
			}
		}
	}
}

// TestNodeOrder_NamedHost: the vnodes of a host that a job names stand as those of others do after each start.
func TestNodeOrder_NamedHost(t *testing.T) {
	b := newBench(t)
	b.host("h1", "h1[0]:ncpus=3", "h1[1]:ncpus=4")
	b.scheduler("node_sort_key=ncpus HIGH unused")
	b.submit("select=1:ncpus=2")
	b.submit("select=1:ncpus=1:host=h1")
	b.submit("select=2:ncpus=1:host=h1 place=free")
	p := sched.Make(b.store.View(), start)
	var got []string
	for _, s := range p.Starts {
		got = append(got, s.ExecVnode)
	}
	want := []string{"(h1[1]:ncpus=2)", "(h1[0]:ncpus=1)", "(h1[0]:ncpus=1)+(h1[0]:ncpus=1)"}
	if !slices.Equal(got, want) {
		t.Errorf("planned %s", got)
	}
}
