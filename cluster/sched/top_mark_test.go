package sched_test

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// A job says whether it is a top job. One that is none any more keeps the start that was foretold, unless
// clear_topjob_estimates_enable is set, now or later; one that starts says nothing of it.
func TestTop_Marks(t *testing.T) {
	for _, c := range []struct {
		name, first, later string // clear_topjob_estimates_enable, and what it becomes at last
		kept, left         string // the estimate when the job is no top job any more, and at last
	}{
		{"unset", "", "", "+1h0m0s (hosta:ncpus=1)", "+1h0m0s (hosta:ncpus=1)"},
		{"false", "False", "False", "+1h0m0s (hosta:ncpus=1)", "+1h0m0s (hosta:ncpus=1)"},
		{"true", "True", "True", "never ", "never "},
		{"true later", "False", "True", "+1h0m0s (hosta:ncpus=1)", "never "},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=1,mem=8gb")
			b.scheduler("strict_ordering=True")
			set := func(value string) {
				if value != "" {
					b.limit("clear_topjob_estimates_enable=" + value)
				}
			}
			set(c.first)
			b.limit("backfill_depth=2")
			b.submit("select=1:ncpus=1 walltime=01:00:00")
			b.run()
			var waits []pbs.JobID
			for range 3 {
				waits = append(waits, b.submit("select=1:ncpus=1 walltime=01:00:00"))
			}
			expect := func(when string, marks ...string) {
				t.Helper()
				b.tell(b.plan())
				if again := b.plan(); len(again.Comments) > 0 {
					t.Errorf("%s: it is said again: %s", when, told(again))
				}
				for i, want := range marks {
					if got := b.shown(waits[i], "topjob"); got != want {
						t.Errorf("%s: topjob of %s is %q, want %q", when, waits[i], got, want)
					}
				}
			}
			estimate := func(when, want string) {
				t.Helper()
				if got := b.estimated(waits[0]); got != want {
					t.Errorf("%s: it is said to start %s, want %s", when, got, want)
				}
			}
			expect("two may be", "True", "True", "")
			estimate("as a top job", "+1h0m0s (hosta:ncpus=1)")
			b.limit("backfill_depth=0")
			expect("none may be", "False", "False", "")
			estimate("as no top job", c.kept)
			set(c.later)
			expect("later", "False", "False", "")
			estimate("at last", c.left)
			b.limit("backfill_depth=1")
			expect("one may be", "True", "False", "")
			estimate("again", "+1h0m0s (hosta:ncpus=1)")
			b.do(&command.HoldJob{Job: waits[0], Holds: pbs.HoldUser})
			expect("it is held", "False", "True", "")
			b.do(&command.ReleaseJob{Job: waits[0], Holds: pbs.HoldUser})
			expect("it is released", "True", "False", "")
			b.do(&command.DeleteJob{Job: "0.srv", Force: true})
			b.apply(b.plan())
			if j, _ := b.store.View().Job(waits[0]); j.State != pbs.Running || b.shown(waits[0], "topjob") != "" || b.estimated(waits[0]) != "never " {
				t.Errorf("it is %s, topjob %q, estimated %s", j.State.Letter(), b.shown(waits[0], "topjob"), b.estimated(waits[0]))
			}
		})
	}
}

// shown returns an attribute of a job.
func (b *bench) shown(id pbs.JobID, name string) string {
	b.t.Helper()
	v := b.store.View()
	j, ok := v.Job(id)
	if !ok {
		b.t.Fatalf("no job %s", id)
	}
	return v.JobAttribute(j, name, "")
}

// With topjob_ineligible others may delay a job for ever.
func TestTop_Ineligible(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=2,mem=8gb")
	b.scheduler("strict_ordering=True")
	b.submit("select=1:ncpus=1 walltime=01:00:00")
	b.run()
	wide := b.submit("select=1:ncpus=2 walltime=01:00:00")
	b.submit("select=1:ncpus=1 walltime=02:00:00")
	if got := started(b.plan()); got != "" {
		t.Errorf("%s delays a top job", got)
	}
	b.do(&command.AlterJob{Job: wide, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "topjob_ineligible", Value: "True"}}}})
	p := b.plan()
	if got := started(p); got != "2" {
		t.Errorf("started %q beside a job that is no top job", got)
	}
	for _, c := range p.Comments {
		if c.Start != 0 || c.Top != command.TopAsBefore {
			t.Errorf("comment %+v", c)
		}
	}
}
