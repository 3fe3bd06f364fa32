package sched_test

import (
	"fmt"
	"strings"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
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

// HOSTS that leave nobody leave the queue's jobs waiting, until the groups that they name have others (specification: reservation section 10.7).
func TestPlanner_HostsOfQueuesByGroups(t *testing.T) {
	c := newTurning(t)
	group := func(name string, members ...string) {
		c.limiting(func(l *lsf.Config) {
			l.HostGroups = []lsf.HostGroup{{Name: name, Members: members}, {Name: "maint", Members: []string{"hosta"}}}
		})
		c.cycle()
	}
	c.host("hosta", "hosta:ncpus=1")
	c.host("hostb", "hostb:ncpus=1")
	group("fast", "hosta")
	c.making("quick", "lsf_hosts=fast,~maint")
	c.making("other", "lsf_hosts=hosta,~hosta")
	c.job("a", "quick", "select=1:ncpus=1")
	c.job("b", "other", "select=1:ncpus=1")
	c.cycle()
	c.want("nobody", "a: nothing", "b: nothing")
	group("fast", "hosta", "hostb")
	c.want("hostb", "a: runs (hostb:ncpus=1)", "b: nothing")
	c.kill(c.names["a"])
	group("slow", "hostb")
	c.job("c", "quick", "select=1:ncpus=1")
	c.want("fast is gone", "c: nothing", "b: nothing")
}

// Who is in the groups of HOSTS is found out once, not for each vnode.
func TestPlanner_HostsOfQueuesOnce(t *testing.T) {
	allocations := func(members int) float64 {
		c := newTurning(t)
		c.limiting(func(l *lsf.Config) {
			rest := lsf.HostGroup{Name: "rest"}
			for i := range members {
				rest.Members = append(rest.Members, fmt.Sprint("other", i))
			}
			l.HostGroups = []lsf.HostGroup{rest}
		})
		c.making("quick", "lsf_hosts=rest")
		for i := range 50 {
			name := fmt.Sprint("host", i)
			c.host(name, name+":ncpus=1")
		}
		c.submit("u1", "j", "quick", "select=1:ncpus=1")
		v := c.store.View()
		return testing.AllocsPerRun(3, func() { sched.NewPlanner().Plan(v, c.now) })
	}
	if few, many := allocations(10), allocations(2000); many > few+1000 {
		t.Errorf("a cycle allocates %v times with a group of 10 hosts, %v times with one of 2000", few, many)
	}
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
