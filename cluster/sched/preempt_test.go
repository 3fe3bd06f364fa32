package sched_test

import (
	"fmt"
	"strings"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// hostOf returns the mother superior of a job.
func (b *bench) hostOf(id pbs.JobID) pbs.HostName {
	j, ok := b.store.View().Job(id)
	if !ok {
		b.t.Fatalf("there is no job %s", id)
	}
	return j.LastRun().MS
}

// begin has moms report that jobs have started.
func (b *bench) begin(ids ...pbs.JobID) {
	b.t.Helper()
	for _, id := range ids {
		h, _ := b.store.View().Host(b.hostOf(id))
		j, _ := b.store.View().Job(id)
		b.do(&command.JobStarted{Source: command.Source{Host: h.Name, Spool: "s", Seq: h.Acked + 1}, Job: id, RunCount: j.RunCount, Session: 7})
	}
}

// confirm has the mother superior of a job do what it was ordered last.
func (b *bench) confirm(id pbs.JobID) {
	b.t.Helper()
	h, _ := b.store.View().Host(b.hostOf(id))
	b.do(&command.OrderConfirmed{Host: h.Name, Order: h.NextOrder})
}

// run plans and starts, and has the moms report the starts.
func (b *bench) run() {
	b.t.Helper()
	p := b.plan()
	for _, s := range p.Starts {
		b.do(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode})
		b.begin(s.Job)
	}
}

// queued submits a job to a queue.
func (b *bench) queued(queue pbs.QueueName, request string) pbs.JobID {
	b.t.Helper()
	list := attr.List{}
	for word := range strings.FieldsSeq(request) {
		name, value, _ := strings.Cut(word, "=")
		if name == "array" {
			list = list.Set("array_indices_submitted", "", value)
			continue
		}
		if name == "Rerunable" {
			list = list.Set(name, "", value)
			continue
		}
		list = list.Set("Resource_List", name, value)
	}
	out := b.try(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: queue, Attributes: list})
	if out.Refusal != nil {
		b.t.Fatalf("submit %s: %v", request, out.Refusal)
	}
	return out.Result.Job
}

// preempted returns what a plan preempts: "ID:METHOD ...", and what it starts and resumes.
func preempted(p sched.Plan) string {
	var all []string
	for _, x := range p.Preempts {
		all = append(all, strings.TrimSuffix(string(x.Job), ".srv")+":"+x.Method)
	}
	return fmt.Sprintf("%s|%s|%v", strings.Join(all, " "), started(p), p.Resumes)
}

// preempting carries out what a plan preempts.
func (b *bench) preempting(p sched.Plan) {
	b.t.Helper()
	for _, x := range p.Preempts {
		b.do(&command.PreemptJob{Job: x.Job, RunCount: x.RunCount, Method: x.Method, For: x.For})
	}
}

// A job of an express queue gets the place of one that is suspended for it, and that goes on
// when it has ended; a job that was queued meanwhile comes behind both. Whoever plans between
// two steps, a new leader for one, neither preempts once more nor starts anything there.
func TestPreempt_EachLeaderPlansAnew(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=4,mem=2gb")
	b.queue("express", "200")
	low := b.queued("workq", "select=1:ncpus=4:mem=512mb")
	b.run()
	check := func(when, want string) {
		t.Helper()
		for range 2 {
			if got := preempted(b.plan()); got != want {
				t.Errorf("%s: %s, want %s", when, got, want)
			}
		}
	}
	high := b.queued("express", "select=1:ncpus=2:mem=512mb")
	b.queued("workq", "select=1:ncpus=1:mem=1mb")
	check("submitted", "0:S||[]")
	b.preempting(b.plan())
	check("ordered", "||[]")
	b.confirm(low)
	check("suspended", "|1 2|[]")
	b.do(&command.StartJob{Job: high, ExecVnode: "(hosta:ncpus=2:mem=524288kb)"})
	b.begin(high)
	check("started", "|2|[]")
	b.do(&command.DeleteJob{Job: high, Force: true})
	check("ended", "||[0.srv]")
}

// Who is preempted, and how.
func TestPreempt_Victims(t *testing.T) {
	for _, c := range []struct{ name, set, jobs, high, want string }{
		{"the last one started", "", "workq 1:ncpus=2;workq 1:ncpus=2", "select=1:ncpus=2", "1:S||[]"},
		{"as many as are needed", "", "workq 1:ncpus=2;workq 1:ncpus=2", "select=1:ncpus=3", "1:S 0:S||[]"},
		{"the one that is enough", "", "workq 1:ncpus=3;workq 1:ncpus=1", "select=1:ncpus=3", "0:S||[]"},
		{"the lower queue", "preempt_prio=express_queue, normal_jobs", "middle 1:ncpus=2;workq 1:ncpus=2;middle 1:ncpus=4", "select=1:ncpus=2", "1:S||[]"},
		{"no equal", "", "express 1:ncpus=4;express 1:ncpus=4", "select=1:ncpus=2", "||[]"},
		{"an express queue of less Priority", "", "middle 1:ncpus=4;middle 1:ncpus=4", "select=1:ncpus=2", "1:S||[]"},
		{"nobody", "preemptive_sched=False", "workq 1:ncpus=4;workq 1:ncpus=4", "select=1:ncpus=2", "||[]"},
		{"nobody below the bound", "preempt_queue_prio=300", "workq 1:ncpus=4;workq 1:ncpus=4", "select=1:ncpus=2", "||[]"},
		{"by checkpointing", "preempt_order=CR", "workq 1:ncpus=4;workq 1:ncpus=4", "select=1:ncpus=2", "1:C||[]"},
		{"by requeuing", "preempt_order=R", "workq 1:ncpus=4;workq 1:ncpus=4", "select=1:ncpus=2", "1:R||[]"},
		{"by the next method", "preempt_order=RD", "workq 1:ncpus=4 Rerunable=False;workq 1:ncpus=4 Rerunable=False", "select=1:ncpus=2", "1:D||[]"},
		{"by what is left of the walltime", "preempt_order=D 99 S", "workq 1:ncpus=4;workq 1:ncpus=4", "select=1:ncpus=2", "1:D||[]"},
		{"suspension frees no memory", "restrict=ncpus", "workq 1:ncpus=4:mem=2gb;workq 1:ncpus=4:mem=2gb", "select=1:ncpus=2:mem=1gb", "1:C||[]"},
		{"and helps where it is enough", "restrict=ncpus", "workq 1:ncpus=4:mem=1gb;workq 1:ncpus=4:mem=1gb", "select=1:ncpus=2:mem=1gb", "1:S||[]"},
		{"over several hosts", "", "workq 1:ncpus=4;workq 1:ncpus=4", "select=2:ncpus=3 place=scatter", "1:S 0:S||[]"},
		{"one that has a vnode for itself", "", "workq 1:ncpus=1 place=excl;workq 1:ncpus=1 place=excl", "select=1:ncpus=4", "1:S||[]"},
		{"an array", "", "workq 1:ncpus=4;workq 1:ncpus=4", "select=1:ncpus=2 array=0-3", "1:S||[]"},
		{"a job that never fits", "", "workq 1:ncpus=4;workq 1:ncpus=4", "select=1:ncpus=5", "||[]"},
		{"none of those it may", "", "workq 1:ncpus=4;workq 1:ncpus=4", "select=1:ncpus=2 preempt_targets=NONE", "||[]"},
		{"of those it may", "", "workq 1:ncpus=4;middle 1:ncpus=4", "select=1:ncpus=2 preempt_targets=queue=middle", "1:S||[]"},
		{"of several queues", "", "workq 1:ncpus=4;middle 1:ncpus=4", "select=1:ncpus=2 preempt_targets=queue=other,queue=middle", "1:S||[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=4,mem=2gb")
			b.host("hostb", "hostb:ncpus=4,mem=2gb")
			b.queue("middle", "160")
			b.queue("express", "200")
			if c.name == "the last one started" || strings.HasPrefix(c.name, "as many") || strings.HasPrefix(c.name, "the one") {
				b.do(&command.ManageVnode{Verb: command.VerbSet, Vnode: "hostb", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "state", Value: "offline"}}}})
			}
			if value, ok := strings.CutPrefix(c.set, "restrict="); ok {
				b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "restrict_res_to_release_on_suspend", Value: value}}}})
			} else if c.set != "" {
				b.scheduler(c.set)
			}
			for job := range strings.SplitSeq(c.jobs, ";") {
				queue, request, _ := strings.Cut(job, " ")
				b.queued(pbs.QueueName(queue), "select="+request)
				b.run()
			}
			b.queued("express", c.high)
			if got := preempted(b.plan()); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Several jobs that come at once preempt in one cycle, each its own victims, and nobody gets
// what they are to have.
func TestPreempt_Several(t *testing.T) {
	b := newBench(t)
	for i := range 4 {
		name := fmt.Sprintf("host%d", i)
		b.host(name, name+":ncpus=4,mem=2gb")
	}
	b.queue("express", "200")
	for range 4 {
		b.queued("workq", "select=1:ncpus=3")
	}
	b.run()
	for range 3 {
		b.queued("express", "select=1:ncpus=4")
	}
	b.queued("workq", "select=1:ncpus=1")
	b.queued("workq", "select=1:ncpus=1")
	if got := preempted(b.plan()); got != "3:S 2:S 1:S|7|[]" {
		t.Errorf("it is %s", got)
	}
}

// The log names who is not preempted since nobody would be over a soft limit any more without it.
func TestPreempt_LogsEscalation(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=2,mem=2gb")
	b.limit("max_run_soft=[u:ann=1]")
	b.scheduler("preemptive_sched=True", "preempt_prio=express_queue, normal_jobs, server_softlimits")
	b.submitAs("ann", "users", "select=1:ncpus=1")
	b.submitAs("ann", "users", "select=1:ncpus=1")
	b.run()
	b.submitAs("bob", "users", "select=1:ncpus=2")
	var told []string
	p := b.plan()
	for _, l := range p.Lines {
		if l.Text == "Preempting job will escalate its priority" {
			told = append(told, string(l.Job))
		}
	}
	if got := strings.Join(told, " "); len(p.Preempts) > 0 || got != "0.srv" && got != "1.srv" {
		t.Errorf("%v are preempted, told of %q", p.Preempts, got)
	}
}

// Whoever is being suspended already leaves what he has, and nobody is preempted in his place; whoever gives vnodes back is not suspended
// meanwhile.
func TestPreempt_WhoLeavesAlready(t *testing.T) {
	for _, c := range []struct {
		name string
		what func(b *bench, id pbs.JobID)
		want string
	}{
		{"is being suspended", func(b *bench, id pbs.JobID) { b.do(&command.SignalJob{Job: id, Signal: command.Suspend}) }, "||[]"},
		{"gives a vnode back", func(b *bench, id pbs.JobID) { b.do(&command.ReleaseNodes{Job: id, Vnodes: []string{"hostb"}}) }, "1:C||[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=2,mem=2gb")
			b.host("hostb", "hostb:ncpus=2,mem=2gb")
			b.queue("express", "200")
			b.queued("workq", "select=2:ncpus=1 place=scatter")
			b.run()
			last := b.queued("workq", "select=2:ncpus=1 place=scatter")
			b.run()
			c.what(b, last)
			b.queued("express", "select=2:ncpus=1 place=scatter")
			if got := preempted(b.plan()); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Whoever made way for one job in vain makes way for another one that asks for the same.
func TestPreempt_ForAnotherOne(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=2,mem=2gb")
	b.queue("express", "200")
	low := b.queued("workq", "select=1:ncpus=2")
	b.run()
	first := b.queued("express", "select=1:ncpus=1")
	b.preempting(b.plan())
	b.confirm(low)
	b.do(&command.HoldJob{Job: first, Holds: pbs.HoldOperator})
	if p := b.plan(); len(p.Resumes) != 1 {
		t.Fatalf("%v go on", p.Resumes)
	}
	b.do(sched.Resumption(b.store.View(), low))
	b.confirm(low)
	b.do(&command.ReleaseJob{Job: first, Holds: pbs.HoldOperator})
	if got := preempted(b.plan()); got != "||[]" {
		t.Errorf("a second time for the first one: %s", got)
	}
	other := b.queued("express", "select=1:ncpus=1")
	if p := b.plan(); len(p.Preempts) != 1 || p.Preempts[0].For != other {
		t.Errorf("for another one: %+v", p.Preempts)
	}
}
