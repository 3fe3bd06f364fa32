package sched_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// told returns what a plan says of jobs: "ID words".
func told(p sched.Plan) string {
	var all []string
	for _, c := range p.Comments {
		line := strings.TrimSuffix(string(c.Job), ".srv") + " " + c.Why.Comment()
		if c.Start != 0 {
			line = fmt.Sprintf("%s start +%s on %s", strings.TrimSuffix(string(c.Job), ".srv"), time.Duration(c.Start-start), c.ExecVnode)
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

// With strict ordering nothing delays the job that comes next: it gets the first time at
// which running jobs will have ended, and only what has ended by then, or leaves it room,
// starts before.
func TestTop_Backfill(t *testing.T) {
	const strict = "strict_ordering=True"
	for _, c := range []struct {
		name, set, want, told string
	}{
		{"no order", "", "3 4 5", "2 Not Running: Insufficient amount of resource: ncpus (R: 5 A: 3 T: 7)"},
		{
			"backfill", strict, "3 5",
			"2 Not Running: Insufficient amount of resource: ncpus (R: 5 A: 3 T: 7)\n2 start +1h0m0s on (hosta:ncpus=5)\n" +
				"4 Not Running: Job would conflict with reservation or top job",
		},
		{
			"without backfill", strict + ";backfill=False", "",
			"2 Not Running: Insufficient amount of resource: ncpus (R: 5 A: 3 T: 7)\n3 Not Running: Job would break strict sorted order\n" +
				"4 Not Running: Job would break strict sorted order\n5 Not Running: Job would break strict sorted order",
		},
		{
			"two tops", strict + ";server.backfill_depth=2", "3 5",
			"2 Not Running: Insufficient amount of resource: ncpus (R: 5 A: 3 T: 7)\n2 start +1h0m0s on (hosta:ncpus=5)\n" +
				"4 Not Running: Job would conflict with reservation or top job",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=5,mem=8gb")
			b.host("hostb", "hostb:ncpus=2,mem=8gb")
			b.submit("select=1:ncpus=3 walltime=01:00:00")
			b.submit("select=1:ncpus=1:host=hostb walltime=02:00:00")
			b.apply(b.plan()) // 0 and 1 run
			b.submit("select=1:ncpus=5 walltime=01:00:00")
			b.submit("select=1:ncpus=1:host=hosta walltime=00:30:00")
			b.submit("select=1:ncpus=1:host=hosta walltime=03:00:00")
			b.submit("select=1:ncpus=1:host=hostb walltime=03:00:00")
			for set := range strings.SplitSeq(c.set, ";") {
				if text, ok := strings.CutPrefix(set, "server."); ok {
					b.limit(text)
				} else if set != "" {
					b.scheduler(set)
				}
			}
			p := b.plan()
			if got := started(p); got != c.want || told(p) != c.told {
				t.Errorf("started %q, want %q\n%s\nwant\n%s", got, c.want, told(p), c.told)
			}
			for _, s := range p.Starts {
				b.do(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode})
			}
			b.tell(p)
			if p := b.plan(); len(p.Starts) > 0 || len(p.Comments) > 0 && strings.Contains(told(p), "start +") {
				t.Errorf("planned again: %s\n%s", started(p), told(p))
			}
		})
	}
}

// A job that is about to come next keeps its estimate until it starts.
func TestTop_EstimateIsShownUntilTheStart(t *testing.T) {
	b := newBench(t)
	b.scheduler("strict_ordering=True")
	b.host("hosta", "hosta:ncpus=4,mem=8gb")
	first := b.submit("select=1:ncpus=3 walltime=00:10:00")
	b.apply(b.plan())
	next := b.submit("select=1:ncpus=4 walltime=01:00:00")
	p := b.plan()
	b.tell(p)
	estimate := func() string {
		v := b.store.View()
		j, _ := v.Job(next)
		return v.JobAttribute(j, "estimated", "start_time") + " " + v.JobAttribute(j, "estimated", "exec_vnode")
	}
	if got, want := estimate(), fmt.Sprint((start+pbs.Time(10*time.Minute)).Unix())+" (hosta:ncpus=4)"; got != want {
		t.Errorf("estimated %q, want %q", got, want)
	}
	b.do(&command.DeleteJob{Job: first, Force: true})
	b.apply(b.plan())
	if got := estimate(); got != " " {
		t.Errorf("running, and estimated %q", got)
	}
}

// BenchmarkMake_Strict is the full cycle with a profile of the ends of 10,000 running jobs.
func BenchmarkMake_Strict(b *testing.B) {
	s := bigStore(100_000, 1000, 10_000, true)
	set := []command.AttrChange{{Entry: attr.Entry{Name: "strict_ordering", Value: "True"}}}
	command.Run(s, 2, 1, command.Entry{Time: start, Proposals: []command.Proposal{{Commands: []command.Command{
		&command.ManageSched{Verb: command.VerbSet, Changes: set},
	}}}})
	tx := s.Tx()
	for vn := range s.View().Vnodes() {
		seq := tx.NextJob()
		next, id := *vn, pbs.NewJobID(seq, "srv")
		next.Jobs = []state.VnodeJob{{Job: id, RunCount: 1, Items: vn.Assigned}}
		tx.PutVnode(&next)
		tx.PutJob(&state.Job{
			ID: id, Seq: seq, State: pbs.Running, Queue: "workq", RunCount: 1, Run: &state.Run{Number: 1, MS: vn.Host}, Started: start,
			Resources: resource.List{}.Set("walltime", fmt.Sprintf("%d:00:00", 1+seq%50)),
		})
	}
	s.Commit(tx)
	v := s.Publish()
	for b.Loop() {
		sched.Make(v, start)
	}
}

// A job that can never start is no top job, and the log says so; the next one is.
func TestTop_LogsWhoIs(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=1")
	b.host("hostb", "hostb:ncpus=1")
	b.scheduler("strict_ordering=True")
	b.submit("select=2:ncpus=1 walltime=01:00:00")
	b.run()
	never := b.submit("select=1:ncpus=2 walltime=01:00:00")
	next := b.submit("select=1:ncpus=1 walltime=01:00:00")
	var told []string
	for _, l := range b.plan().Lines {
		if text, _, _ := strings.Cut(l.Text, " at "); strings.Contains(text, "top job") {
			told = append(told, string(l.Job)+" "+text)
		}
	}
	want := []string{string(never) + " Error in calculation of start time of top job", string(next) + " Job is a top job and will run"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
