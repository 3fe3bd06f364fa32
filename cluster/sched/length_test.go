package sched_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// A cycle ends when it has taken sched_cycle_length, after one job at least; those that it did
// not come to are looked at in the next one.
func TestLoop_SchedCycleLength(t *testing.T) {
	for _, c := range []struct {
		name, length string
		considered   []int // of each cycle that started something
	}{
		{"usual", "00:20:00", []int{5}},
		{"none", "00:00:00", []int{1, 1, 1, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &leader{bench: newBench(t), changed: make(chan struct{})}
				l.host("hosta", "hosta:ncpus=8")
				l.do(&command.ManageSched{Verb: command.VerbSet, Changes: []command.AttrChange{
					{Entry: attr.Entry{Name: "sched_cycle_length", Value: c.length}},
				}})
				jobs := []pbs.JobID{l.submit("ncpus=1"), l.submit("ncpus=1"), l.submit("ncpus=1 array=1-3")}
				ctx, cancel := context.WithCancel(t.Context())
				loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)})
				done := make(chan error, 1)
				go func() { done <- loop.Run(ctx) }()
				time.Sleep(time.Second)
				synctest.Wait()
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if got := l.state(jobs[0]) + l.state(jobs[1]) + l.state(jobs[2]); got != "RRB" {
					t.Errorf("jobs are %s", got)
				}
				const tooLong = "Svr;toolong;Leaving the scheduling cycle: Cycle duration of 0 seconds has exceeded sched_cycle_length of 0 seconds"
				var considered []int
				for cycle := range strings.SplitSeq(strings.Join(l.lines, "\n"), "Starting Scheduling Cycle") {
					if n := strings.Count(cycle, "Considering"); n > 0 {
						considered = append(considered, n)
					}
				}
				if !slices.Equal(considered, c.considered) || slices.Contains(l.lines, tooLong) != (len(c.considered) > 1) {
					t.Errorf("considered %v; the log is\n%s", considered, strings.Join(l.lines, "\n"))
				}
			})
		})
	}
}
