package sched_test

import (
	"strings"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// at runs commands at a time after the start of the bench.
func (b *bench) at(after time.Duration, commands ...command.Command) {
	b.t.Helper()
	b.index++
	out, _ := command.Run(b.store, b.index, 1, command.Entry{
		Time: start + pbs.Time(after), Proposals: []command.Proposal{{Asker: pbs.User{Name: "ann", Host: "hosta"}, Commands: commands}},
	})
	b.store.Publish()
	if out[0].Refusal != nil {
		b.t.Fatalf("%T refused: %v", commands[0], out[0].Refusal)
	}
}

// A job that has waited for max_starve comes before those of its level that have not, the
// one that waits longest first, and keeps its turn among those of its own request.
func TestStarve_ComesFirst(t *testing.T) {
	for _, c := range []struct{ name, set, want string }{
		{"by default after a day", "", "0 1 3 2"},
		{"sooner", "max_starve=00:10:00", "0 1 2 3"},
		{"never", "help_starving_jobs=False", "3 2 0 1"},
		{"above express queues", "preempt_prio=starving_jobs, express_queue, normal_jobs", "0 1 3 2"},
		{"below express queues", "preempt_queue_prio=10", "3 0 1 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=8,mem=8gb")
			b.queue("express", "20")
			if c.set != "" {
				b.scheduler(c.set)
			}
			submit := func(after time.Duration, queue pbs.QueueName, priority string) {
				b.at(after, &command.SubmitJob{
					Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: queue,
					Attributes: attr.List{}.Set("Resource_List", "select", "1:ncpus=1").Set("Priority", "", priority),
				})
			}
			submit(0, "workq", "0")
			submit(time.Minute, "workq", "0")
			submit(24*time.Hour/25, "workq", "5")
			submit(59*time.Minute, "express", "0")
			if got := started(sched.Make(b.store.View(), start+pbs.Time(24*time.Hour+2*time.Minute))); got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
		})
	}
}

// Nothing delays a job that starves, strict ordering or not.
func TestStarve_IsTop(t *testing.T) {
	for _, c := range []struct{ name, set, want string }{
		{"a job starves", "", "2"},
		{"none does", "help_starving_jobs=False", "2 3"},
		{"the queue has its own depth", "queue", "2"},
		{"no depth for queues that have none", "server", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=4,mem=8gb")
			depth := attr.Entry{Name: "backfill_depth", Value: "0"}
			switch c.set {
			case "":
			case "server":
				b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: depth}}})
			case "queue":
				depth.Value = "1"
				b.do(&command.ManageQueue{Verb: command.VerbSet, Queue: "workq", Changes: []command.AttrChange{{Entry: depth}}})
			default:
				b.scheduler(c.set)
			}
			b.scheduler("max_starve=01:00:00")
			b.submit("select=1:ncpus=2 walltime=03:00:00")
			b.run()
			b.submit("select=1:ncpus=4 walltime=01:00:00")
			b.at(50*time.Minute, &command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Attributes: attr.List{}.Set("Resource_List", "select", "1:ncpus=1").Set("Resource_List", "walltime", "01:00:00")})
			b.at(50*time.Minute, &command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Attributes: attr.List{}.Set("Resource_List", "select", "1:ncpus=1").Set("Resource_List", "walltime", "100:00:00")})
			p := sched.Make(b.store.View(), start+pbs.Time(65*time.Minute))
			if got := started(p); got != c.want {
				t.Errorf("it is %s, want %s: %s", got, c.want, told(p))
			}
		})
	}
}

// With a depth of its own a queue's jobs do not use up that of the others.
func TestTop_DepthOfQueues(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=4,mem=8gb")
	b.queue("other", "0")
	b.scheduler("strict_ordering=True")
	b.do(&command.ManageQueue{Verb: command.VerbSet, Queue: "other", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "backfill_depth", Value: "2"}}}})
	b.queued("workq", "select=1:ncpus=4 walltime=01:00:00")
	b.run()
	for _, queue := range []pbs.QueueName{"workq", "other", "workq", "other", "other"} {
		b.queued(queue, "select=1:ncpus=4 walltime=01:00:00")
	}
	var tops []string
	for _, c := range b.plan().Comments {
		if c.Start != 0 {
			tops = append(tops, strings.TrimSuffix(string(c.Job), ".srv")+time.Duration(c.Start-start).String())
		}
	}
	if got, want := strings.Join(tops, " "), "11h0m0s 22h0m0s 43h0m0s"; got != want {
		t.Errorf("tops %s, want %s", got, want)
	}
}

// A job that was preempted by requeuing starts again before those that were queued before it.
func TestPreempt_ComesBackFirst(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=4,mem=8gb")
	b.queue("express", "200")
	b.scheduler("preempt_order=R")
	b.submit("select=1:ncpus=8")
	b.do(&command.HoldJob{Job: "0.srv", Holds: pbs.HoldUser})
	low := b.queued("workq", "select=1:ncpus=3")
	b.run()
	b.do(&command.DeleteJob{Job: "0.srv"})
	b.submit("select=1:ncpus=2 priority=100")
	b.queued("express", "select=1:ncpus=1")
	high := b.queued("express", "select=1:ncpus=1")
	b.do(&command.DeleteJob{Job: high})
	b.run()
	high = b.queued("express", "select=1:ncpus=2")
	b.preempting(b.plan())
	h, _ := b.store.View().Host("hosta")
	b.do(&command.JobEnded{Source: command.Source{Host: "hosta", Spool: "s", Seq: h.Acked + 1}, Job: low, RunCount: 1, ExitStatus: 271})
	b.run()
	b.do(&command.DeleteJob{Job: high, Force: true})
	if got := preempted(b.plan()); got != "|1|[]" {
		t.Errorf("it is %s", got)
	}
}

// With sched_preempt_enforce_resumption nothing that would delay it starts where a preempted
// job has to go on; others do.
func TestPreempt_EnforcedResumption(t *testing.T) {
	for _, c := range []struct{ enforce, want string }{{"False", "|2 3|[]"}, {"True", "|2|[]"}} {
		b := newBench(t)
		b.host("hosta", "hosta:ncpus=4,mem=8gb")
		b.queue("express", "200")
		b.scheduler("sched_preempt_enforce_resumption=" + c.enforce)
		low := b.queued("workq", "select=1:ncpus=4")
		b.run()
		b.queued("express", "select=1:ncpus=2 walltime=01:00:00")
		b.preempting(b.plan())
		b.confirm(low)
		b.run()
		b.queued("workq", "select=1:ncpus=1 walltime=00:30:00")
		b.queued("workq", "select=1:ncpus=1 walltime=02:00:00")
		p := b.plan()
		if got := preempted(p); got != c.want {
			t.Errorf("%s: %s, want %s", c.enforce, got, c.want)
		}
		for _, l := range p.Lines {
			if strings.Contains(l.Text, "find start time") {
				t.Errorf("the log says %s of %s", l.Text, l.Job)
			}
		}
	}
}
