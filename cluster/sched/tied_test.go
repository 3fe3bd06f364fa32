package sched_test

import (
	"strings"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

func (b *bench) node(name, attribute, value string) {
	b.t.Helper()
	b.do(&command.ManageVnode{Verb: command.VerbSet, Vnode: pbs.VnodeName(name), Changes: []command.AttrChange{
		{Entry: attr.Entry{Name: attribute, Value: value}},
	}})
}

// Vnodes that belong to a queue are for its jobs, and these for no others; a vnode takes no
// more jobs than its max_running.
func TestPlanner_VnodesOfQueues(t *testing.T) {
	b := newBench(t)
	b.do(&command.ManageQueue{Verb: command.VerbCreate, Queue: "fast", Changes: []command.AttrChange{
		{Entry: attr.Entry{Name: "enabled", Value: "True"}}, {Entry: attr.Entry{Name: "started", Value: "True"}},
	}})
	b.host("hosta", "hosta:ncpus=8")
	b.host("hostb", "hostb:ncpus=8")
	b.node("hostb", "queue", "fast")
	planner := sched.NewPlanner()
	in := func(queue pbs.QueueName) {
		t.Helper()
		b.do(&command.SubmitJob{
			Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: queue, Attributes: attr.List{}.Set("Resource_List", "select", "1:ncpus=4"),
		})
	}
	want := func(starts string) {
		t.Helper()
		p := planner.Plan(b.store.View(), start)
		p.Comments = nil
		if got := strings.ReplaceAll(text(p), "start ", ""); got != starts {
			t.Errorf("planned\n%s\nwant\n%s", got, starts)
		}
		b.apply(p)
	}
	for range 3 {
		in("workq")
	}
	in("fast")
	want("0 (hosta:ncpus=4)\n1 (hosta:ncpus=4)\n3 (hostb:ncpus=4)")
	in("fast")
	b.node("hostb", "max_running", "1")
	want("")
	b.node("hostb", "max_running", "2")
	want("4 (hostb:ncpus=4)")
	b.host("hostc", "hostc:ncpus=4")
	b.node("hostc", "queue", "fast")
	want("")
	b.node("hostc", "queue", "workq")
	want("2 (hostc:ncpus=4)")
}

// A queue with lsf_hosts has these alone, others have all; what it has can change.
func TestPlanner_HostsOfQueues(t *testing.T) {
	b := newBench(t)
	b.do(&command.ManageQueue{Verb: command.VerbCreate, Queue: "fast", Changes: []command.AttrChange{
		{Entry: attr.Entry{Name: "enabled", Value: "True"}}, {Entry: attr.Entry{Name: "started", Value: "True"}}, {Entry: attr.Entry{Name: "lsf_hosts", Value: "hostb"}},
	}})
	b.host("hosta", "hosta:ncpus=8")
	b.host("hostb", "hostb:ncpus=4")
	planner := sched.NewPlanner()
	want := func(starts string) {
		t.Helper()
		p := planner.Plan(b.store.View(), start)
		p.Comments = nil
		if got := strings.ReplaceAll(text(p), "start ", ""); got != starts {
			t.Errorf("planned\n%s\nwant\n%s", got, starts)
		}
		b.apply(p)
	}
	for _, queue := range []pbs.QueueName{"fast", "fast", "workq"} {
		b.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: queue, Attributes: attr.List{}.Set("Resource_List", "select", "1:ncpus=4")})
	}
	want("0 (hostb:ncpus=4)\n2 (hosta:ncpus=4)")
	b.do(&command.ManageQueue{Verb: command.VerbSet, Queue: "fast", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "lsf_hosts", Value: "~hostb"}}}})
	want("1 (hosta:ncpus=4)")
}

// A vnode with no_multinode_jobs takes jobs of one chunk only, wherever their chunks would be.
func TestPlanner_NoMultinodeJobs(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=2")
	b.host("hostb", "hostb:ncpus=8")
	b.node("hostb", "no_multinode_jobs", "True")
	planner := sched.NewPlanner()
	in := func(sel string) {
		b.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Attributes: attr.List{}.Set("Resource_List", "select", sel)})
	}
	want := func(starts string) {
		t.Helper()
		p := planner.Plan(b.store.View(), start)
		p.Comments = nil
		if got := strings.ReplaceAll(text(p), "start ", ""); got != starts {
			t.Errorf("planned\n%s\nwant\n%s", got, starts)
		}
		b.apply(p)
	}
	in("2:ncpus=2")
	in("2:ncpus=1")
	in("1:ncpus=4")
	want("1 (hosta:ncpus=1)+(hosta:ncpus=1)\n2 (hostb:ncpus=4)")
	b.node("hostb", "no_multinode_jobs", "False")
	want("0 (hostb:ncpus=2)+(hostb:ncpus=2)")
}
