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

// A job that is to be resumed gets its own back before others start, and not while they
// have it; one that somebody suspended is left alone.
func TestResume_BeforeOthers(t *testing.T) {
	for _, restricted := range []string{"", "ncpus"} {
		b := newBench(t)
		b.host("hosta", "hosta:ncpus=4,mem=8gb")
		if restricted != "" {
			b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{
				Name: "restrict_res_to_release_on_suspend", Value: restricted,
			}}}})
		}
		seq := uint64(0)
		run := func(id pbs.JobID) {
			seq++
			b.do(&command.JobStarted{Source: command.Source{Host: "hosta", Spool: "s", Seq: seq}, Job: id, RunCount: 1, Session: 7})
		}
		first := b.submit("select=1:ncpus=3:mem=1gb")
		b.apply(b.plan())
		run(first)
		b.do(&command.SignalJob{Job: first, Signal: command.Suspend})
		h, _ := b.store.View().Host("hosta")
		b.do(&command.OrderConfirmed{Host: "hosta", Order: h.NextOrder})
		other := b.submit("select=1:ncpus=2:mem=1gb")
		b.apply(b.plan())
		run(other)
		check := func(when, want string) {
			t.Helper()
			if got := fmt.Sprint(b.plan().Resumes, started(b.plan())); got != want {
				t.Errorf("%s: %s, want %s", when, got, want)
			}
		}
		check("suspended by somebody", "[]")
		b.do(&command.SignalJob{Job: first, Signal: command.Resume})
		check("no room", "[]")
		b.submit("select=1:ncpus=2")
		check("there is room for another", "[]2")
		b.do(&command.DeleteJob{Job: other, Force: true})
		check("room", "[0.srv]")
		p := sched.Make(b.store.View(), start)
		b.do(&command.SignalJob{Job: p.Resumes[0], Signal: command.Resume, Scheduled: true})
		check("resumed", "[]")
	}
}

// A suspended job hears why it does not go on, and when it does how it runs; what delays a job that comes before it keeps it waiting, too.
func TestResume_SaysWhyNot(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=4,mem=8gb", "hosta[1]:ncpus=4,mem=8gb")
	seq := uint64(0)
	run := func(id pbs.JobID, on string) {
		seq++
		b.do(&command.StartJob{Job: id, ExecVnode: on})
		b.do(&command.JobStarted{Source: command.Source{Host: "hosta", Spool: "s", Seq: seq}, Job: id, RunCount: 1, Session: 7})
	}
	first := b.submit("select=1:ncpus=3:mem=1gb")
	run(first, "(hosta:ncpus=3:mem=1gb)")
	b.do(&command.SignalJob{Job: first, Signal: command.Suspend})
	h, _ := b.store.View().Host("hosta")
	b.do(&command.OrderConfirmed{Host: "hosta", Order: h.NextOrder})
	b.do(&command.SignalJob{Job: first, Signal: command.Resume})
	other := b.submit("select=1:ncpus=2:mem=1gb")
	run(other, "(hosta:ncpus=2:mem=1gb)")
	said := func() string {
		p := b.plan()
		text := fmt.Sprint(p.Resumes)
		for _, c := range p.Comments {
			text += " " + c.Why.Comment()
		}
		for _, l := range p.Lines {
			if l.Job == first {
				text += " | " + l.Text
			}
		}
		return text
	}
	set := func(queue string) {
		b.do(&command.ManageQueue{Verb: command.VerbSet, Queue: "workq", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "started", Value: queue}}}})
	}
	const short = "Insufficient amount of resource: ncpus (R: 3 A: 2 T: 4)"
	if got, want := said(), "[] Not Running: "+short+" | "+short; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	waits := &command.SetWaits{}
	waits.Add(command.JobWait{Job: first}, b.plan().Comments[0].Why)
	b.do(waits)
	if got := said(); got != "[]" {
		t.Errorf("said again: %s", got)
	}
	set("False")
	if got, want := said(), "[] Not Running: Queue not started. | Queue not started."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	set("True")
	b.do(&command.DeleteJob{Job: other, Force: true})
	if got, want := said(), "[0.srv]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if c := sched.Resumption(b.store.View(), first); !strings.HasSuffix(c.Comment, " on (hosta:ncpus=3:mem=1gb)") || !strings.HasPrefix(c.Comment, "Job run at ") {
		t.Errorf("its comment will be %q", c.Comment)
	}
}

// A suspended job that has its vnode to itself is expected to go on when nobody else runs there, whatever is free before.
func TestResume_ExclusiveIsExpectedAlone(t *testing.T) {
	for place, want := range map[string]int{"excl": 1000, "shared": 100} {
		c := newClock(t)
		c.host("hosta", "hosta:ncpus=4,mem=8gb")
		c.queue("express", "200")
		c.scheduler("sched_preempt_enforce_resumption=True", "strict_ordering=True")
		low := c.in("workq", "select=1:ncpus=2 walltime=500 place="+place)
		c.begin()
		c.in("express", "select=1:ncpus=3 walltime=100")
		c.in("express", "select=1:ncpus=1 walltime=1000")
		c.preempting(c.begin())
		c.confirm(low)
		c.begin()
		start := 0
		for _, x := range sched.Make(c.store.View(), c.now).Comments {
			if x.Job == low && x.Start != 0 {
				start = int((x.Start - c.now) / secs(1))
			}
		}
		if j, _ := c.store.View().Job(low); start == 0 {
			start = int((j.EstimatedStart() - c.now) / secs(1))
		}
		if start != want {
			t.Errorf("%s: it is expected to go on in %d s, want %d", place, start, want)
		}
	}
}
