package sched_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// The log has a cycle for what a PBS begins one for. Those that follow from the scheduler's own decisions are in it only if something
// comes of them.
func TestLoop_QuietCycles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)})
		done := make(chan error, 1)
		go func() { done <- loop.Run(ctx) }()
		// news returns the cycles that the log has got since, each with the jobs that it considered.
		at := 0
		news := func(wait time.Duration) (cycles []string) {
			time.Sleep(wait)
			synctest.Wait()
			l.now(func() {
				for _, line := range l.lines[at:] {
					switch line {
					case "Req;;Starting Scheduling Cycle":
						cycles = append(cycles, "")
					case "Job;0.srv;Considering job to run", "Job;1.srv;Considering job to run":
						cycles[len(cycles)-1] += line[4:5]
					}
				}
				at = len(l.lines)
			})
			return cycles
		}
		expect := func(what string, wait time.Duration, want ...string) {
			t.Helper()
			if got := news(wait); !slices.Equal(got, want) {
				t.Errorf("%s: cycles %q, want %q", what, got, want)
			}
		}
		var first pbs.JobID
		news(time.Second)
		l.now(func() {
			l.host("hosta", "hosta:ncpus=4")
			first = l.submit("ncpus=4")
			l.submit("ncpus=4")
		})
		expect("two jobs, of which one starts and the other gets its comment", 3*time.Second, "01")
		l.now(func() { l.begin(first) })
		expect("a mom tells that a job runs", time.Second)
		l.now(func() { l.do(&command.TimeTick{}) })
		expect("time goes by", time.Second)
		l.now(func() { l.do(scheduling("True")) })
		expect("a cycle is wished for", time.Second, "1")
		expect("scheduler_iteration passes", 10*time.Minute, "1")
		l.now(func() { l.do(&command.DeleteJob{Job: first, Force: true}) })
		expect("a job ends", time.Second, "1")
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Each change of the site's resources has the scheduler say that it reads its configuration again, and nothing else has.
func TestLoop_Reconfigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		resource := func(verb command.Verb, name, kind string) *command.ManageResource {
			m := &command.ManageResource{Verb: verb, Name: name}
			if kind != "" {
				m.Changes = []command.AttrChange{{Entry: attr.Entry{Name: "type", Value: kind}}}
			}
			return m
		}
		l.do(resource(command.VerbCreate, "before", "long"))
		ctx, cancel := context.WithCancel(t.Context())
		loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)})
		done := make(chan error, 1)
		go func() { done <- loop.Run(ctx) }()
		time.Sleep(time.Second)
		for i, c := range []struct {
			what  command.Command
			lines int
		}{
			{scheduling("True"), 0},
			{resource(command.VerbCreate, "foo", ""), 1},
			{resource(command.VerbSet, "foo", "long"), 2},
			{scheduling("False"), 2},
			{resource(command.VerbDelete, "foo", ""), 3},
		} {
			l.now(func() { l.do(c.what) })
			time.Sleep(time.Second)
			synctest.Wait()
			count := 0
			l.now(func() {
				for _, line := range l.lines {
					if line == "Sched;reconfigure;Scheduler is reconfiguring" {
						count++
					}
				}
			})
			if count != c.lines {
				t.Errorf("after command %d: %d lines, want %d", i, count, c.lines)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
