package sched_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// The scheduler's log says at DEBUG3 how many sets of jobs there are that it need not tell apart.
func TestLoop_CountsSetsOfJobs(t *testing.T) {
	for _, c := range []struct {
		name, set string // of the server, or of the queue workq: NAME=VALUE or workq NAME=VALUE
		jobs      string // of them USER QUEUE RESOURCE=VALUE,...; the first one runs
		want      string
	}{
		{"the same", "", "ann workq ncpus=4;ann workq ncpus=4;bob workq ncpus=4", "1"},
		{"requests", "", "ann workq ncpus=4;ann workq ncpus=4;ann workq ncpus=2", "2"},
		{"placements", "", "ann workq select=1:ncpus=4;ann workq select=1:ncpus=4;ann workq select=1:ncpus=4,place=excl", "2"},
		{"times", "", "ann workq ncpus=4,walltime=10;ann workq ncpus=4,walltime=20;ann workq ncpus=4,walltime=20", "2"},
		{"queues do not matter", "", "ann workq ncpus=4;ann other ncpus=4", "1"},
		{"but with limits", "workq max_run=[u:PBS_GENERIC=9]", "ann workq ncpus=4;ann other ncpus=4;ann other ncpus=4", "2"},
		{"and where they are for a time", "", "ann workq ncpus=4;ann ded_1 ncpus=4", "2"},
		{"users with limits of users", "max_run=[u:ann=9]", "ann workq ncpus=4;ann workq ncpus=4;bob workq ncpus=4", "2"},
		{"users without", "max_run=[o:PBS_ALL=9]", "ann workq ncpus=4;ann workq ncpus=4;bob workq ncpus=4", "1"},
		{"users of one group", "max_run_res.ncpus=[g:PBS_GENERIC=9]", "ann workq ncpus=4;bob workq ncpus=4", "1"},
		{"nobody", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &leader{bench: newBench(t), changed: make(chan struct{})}
				l.host("hosta", "hosta:ncpus=4")
				l.queue("other", "10")
				l.queue("ded_1", "10")
				l.do(&command.ManageSched{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "log_events", Value: "2047"}}}})
				queue, text, inQueue := strings.Cut(c.set, " ")
				if !inQueue {
					queue, text = "", c.set
				}
				if name, value, ok := strings.Cut(text, "="); ok {
					name, res, _ := strings.Cut(name, ".")
					changes := []command.AttrChange{{Entry: attr.Entry{Name: name, Resource: res, Value: value}}}
					if inQueue {
						l.do(&command.ManageQueue{Verb: command.VerbSet, Queue: pbs.QueueName(queue), Changes: changes})
					} else {
						l.do(&command.ManageServer{Verb: command.VerbSet, Changes: changes})
					}
				}
				ctx, cancel := context.WithCancel(t.Context())
				loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)})
				done := make(chan error, 1)
				go func() { done <- loop.Run(ctx) }()
				for job := range strings.SplitSeq(c.jobs, ";") {
					if w := strings.Fields(job); len(w) == 3 {
						var list attr.List
						for item := range strings.SplitSeq(w[2], ",") {
							name, value, _ := strings.Cut(item, "=")
							list = list.Set("Resource_List", name, value)
						}
						l.now(func() {
							l.do(&command.SubmitJob{Owner: pbs.User{Name: w[0], Host: "hosta"}, Queue: pbs.QueueName(w[1]), Attributes: list})
						})
					}
					time.Sleep(time.Second)
					synctest.Wait()
				}
				got := ""
				for _, line := range l.lines {
					if n, ok := strings.CutPrefix(line, "Sched;;Number of job equivalence classes: "); ok {
						got = n
					}
				}
				if got != c.want {
					t.Errorf("%q, want %q\n%s", got, c.want, strings.Join(l.lines, "\n"))
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
