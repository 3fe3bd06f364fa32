package sched_test

import (
	"fmt"
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
		b.raise()
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
