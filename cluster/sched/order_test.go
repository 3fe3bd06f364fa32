package sched_test

import (
	"strings"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// scheduler sets attributes of the scheduler, written NAME=VALUE.
func (b *bench) scheduler(attributes ...string) {
	b.t.Helper()
	for _, text := range attributes {
		name, value, _ := strings.Cut(text, "=")
		b.do(&command.ManageSched{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: name, Value: value}}}})
	}
}

// queue makes a queue with a Priority.
func (b *bench) queue(name pbs.QueueName, priority string) {
	b.t.Helper()
	b.do(&command.ManageQueue{Verb: command.VerbCreate, Queue: name, Changes: []command.AttrChange{
		{Entry: attr.Entry{Name: "enabled", Value: "True"}},
		{Entry: attr.Entry{Name: "started", Value: "True"}},
		{Entry: attr.Entry{Name: "Priority", Value: priority}},
	}})
}

// into queues a job of one cpu in a queue.
func (b *bench) into(queue pbs.QueueName, resources ...string) {
	b.t.Helper()
	list := attr.List{}.Set("Resource_List", "select", "1:ncpus=1")
	for _, text := range resources {
		name, value, _ := strings.Cut(text, "=")
		if name == "priority" {
			list = list.Set("Priority", "", value)
			continue
		}
		list = list.Set("Resource_List", name, value)
	}
	b.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: queue, Attributes: list})
}

// Which job comes first: by the Priority of its queue, by the formula, by keys, or in turn.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name, set, want string
	}{
		{"as submitted, by the Priority of queues", "", "4 3 0 1 2 5"},
		{"whatever the queue", "by_queue=False", "4 0 1 2 3 5"},
		{"a queue of the same Priority in turn", "round_robin=True", "4 3 5 0 1 2"},
		{"the shortest first", "job_sort_key=walltime LOW", "4 3 2 0 5 1"},
		{"two keys", "by_queue=False;job_sort_key=job_priority HIGH, walltime HIGH", "4 1 5 0 2 3"},
		{"a formula", "formula=walltime/3600 + 10*(queue_priority > 0)", "3 4 1 5 0 2"},
		{"a formula with a threshold", "formula=walltime;job_sort_formula_threshold=5000;by_queue=False", "1 5"},
		{"priorities in a formula", "formula=-job_priority;by_queue=False", "0 1 2 3 5 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=8,mem=8gb")
			b.queue("high", "10")
			b.queue("other", "0")
			b.into("workq", "walltime=01:00:00")
			b.into("workq", "walltime=03:00:00")
			b.into("workq", "walltime=00:10:00")
			b.into("high", "walltime=00:00:01")
			b.into("high", "walltime=00:00:00", "priority=5")
			b.into("other", "walltime=02:00:00")
			for set := range strings.SplitSeq(c.set, ";") {
				if text, ok := strings.CutPrefix(set, "formula="); ok {
					b.limit("job_sort_formula=" + text)
				} else if set != "" {
					b.scheduler(set)
				}
			}
			p := b.plan()
			if got := started(p); got != c.want {
				t.Errorf("started %s, want %s", got, c.want)
			}
			b.apply(p)
			if again := started(b.plan()); again != "" {
				t.Errorf("started %s again", again)
			}
		})
	}
}

// Jobs beyond their soft limits come after those of others, and run when there is room.
func TestOrder_SoftLimits(t *testing.T) {
	for _, limit := range []string{"max_run_soft=[u:PBS_GENERIC=1]", "workq.max_user_run_soft=1", "max_user_res_soft.ncpus=1"} {
		b := newBench(t)
		b.host("hosta", "hosta:ncpus=8,mem=8gb")
		b.limit(limit)
		b.submitAs("ann", "users", "select=1:ncpus=1")
		b.submitAs("ann", "users", "select=1:ncpus=1")
		b.submitAs("bob", "staff", "select=1:ncpus=1")
		b.submitAs("bob", "staff", "select=1:ncpus=1")
		b.submitAs("eve", "staff", "select=1:ncpus=1")
		if got := started(b.plan()); got != "0 2 4 1 3" {
			t.Errorf("%s: started %s", limit, got)
		}
	}
}

// An array takes no more than its owner's soft limit before the jobs of others.
func TestOrder_ArrayAtASoftLimit(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=4,mem=8gb")
	b.limit("max_run_soft=[u:PBS_GENERIC=2]")
	b.submit("ncpus=1 array=0-9")
	b.submitAs("bob", "staff", "select=1:ncpus=1")
	p := b.plan()
	if got := started(p); got != "0[0] 0[1] 1 0[2]" {
		t.Errorf("started %s", got)
	}
	b.apply(p)
}

// BenchmarkMake_Formula is the full cycle with a score for each of 100,000 jobs.
func BenchmarkMake_Formula(b *testing.B) {
	s := bigStore(100_000, 1000, 10_000, true)
	set := &command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "job_sort_formula", Value: "10*ncpus + job_priority"}}}}
	command.Run(s, 2, 1, command.Entry{Time: start, Proposals: []command.Proposal{{Commands: []command.Command{set}}}})
	v := s.Publish()
	for b.Loop() {
		sched.Make(v, start)
	}
}
