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
)

// The scheduler's log takes the events of its own log_events, from the next cycle on
// (specification: logs section 1).
func TestLoop_KeepsToLogEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=4")
		mask := func(value string) {
			l.do(&command.ManageSched{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "log_events", Value: value}}}})
		}
		mask("64") // SCHED, without DEBUG
		ctx, cancel := context.WithCancel(t.Context())
		loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)})
		done := make(chan error, 1)
		go func() { done <- loop.Run(ctx) }()
		l.now(func() { l.submit("ncpus=1") })
		time.Sleep(time.Second)
		synctest.Wait()
		if !slices.Equal(l.lines, []string{"Job;0.srv;Job run"}) {
			t.Errorf("with log_events 64 the log has %q", l.lines)
		}
		l.now(func() { mask("0") })
		l.now(func() { l.submit("ncpus=1") })
		time.Sleep(time.Second)
		synctest.Wait()
		if len(l.lines) != 1 {
			t.Errorf("with log_events 0 the log has %q", l.lines)
		}
		l.now(func() { mask("-1") }) // all
		l.now(func() { l.submit("ncpus=1") })
		time.Sleep(time.Second)
		synctest.Wait()
		if !slices.Contains(l.lines[1:], "Job;2.srv;Considering job to run") || !slices.Contains(l.lines[1:], "Job;2.srv;Job run") {
			t.Errorf("with log_events -1 the log has %q", l.lines[1:])
		}
		for _, want := range []struct{ request, text string }{
			{"select=1:ncpus=1", "Node;3.srv;Allocated one subchunk: 1:ncpus=1"},
			{"select=1:ncpus=8", "Node;4.srv;Failed to satisfy subchunk: 1:ncpus=8"},
			{"select=2:ncpus=3+1:ncpus=1 place=scatter:excl", "Job;5.srv;Chunk: 2:ncpus=3"},
			{"select=1:ncpus=1 place=pack:excl", "Node;6.srv;Evaluating subchunk: 1:ncpus=1"},
			{"select=1:ncpus=1:host=hosta place=excl", "Node;7.srv;Evaluating subchunk: 1:ncpus=1:host=hosta"},
		} {
			before := len(l.lines)
			l.now(func() { l.submit(want.request) })
			time.Sleep(time.Second)
			synctest.Wait()
			if !slices.Contains(l.lines[before:], want.text) {
				t.Errorf("%s: no %q in %q", want.request, want.text, l.lines[before:])
			}
		}
		if slices.ContainsFunc(l.lines, func(line string) bool {
			return strings.HasPrefix(line, "Node;5.srv;") || strings.HasPrefix(line, "Job;3.srv;Chunk")
		}) {
			t.Error("jobs alike and others are not told apart")
		}
		if l.mask != 0xffff {
			t.Errorf("the log itself takes %#x", l.mask)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
