package sched_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// Subjobs that one cycle starts begin in the order of their indices.
func TestLoop_SubjobsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=200")
		l.submit("select=1:ncpus=1 array=0-99")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)}).Run(ctx); err != nil {
			t.Error(err)
		}
		v, _ := l.View().Vnode("hosta")
		var got []int
		for _, held := range v.Jobs {
			got = append(got, int(held.Job.Sub()))
		}
		if len(got) != 100 || !slices.IsSorted(got) {
			t.Errorf("%d were started, in this order: %v", len(got), got)
		}
	})
}

// One of several subjobs that cannot start keeps the others from nothing.
func TestLoop_OneSubjobIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=200")
		l.submit("select=1:ncpus=1 array=0-3")
		old := stale{l, l.View()}
		l.do(&command.DeleteJob{Job: "0[2].srv"})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := sched.New(sched.Options{Source: old, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)}).Run(ctx); err != nil {
			t.Error(err)
		}
		if v, _ := l.View().Vnode("hosta"); len(v.Jobs) != 3 {
			t.Errorf("%d were started", len(v.Jobs))
		}
	})
}

// A job whose start is refused is tried again at PBS's pace, and held after 20 tries.
func TestPlan_PaceOfRetries(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=1")
	id := b.submit("select=1:ncpus=1")
	tries, took := 0, time.Duration(0)
	for ; took < time.Minute; took += 100 * time.Millisecond {
		for _, s := range sched.Make(b.store.View(), start+pbs.Time(took)).Starts {
			tries++
			b.do(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode})
			h, _ := b.store.View().Host("hosta")
			j, _ := b.store.View().Job(id)
			b.at(took, &command.JobEnded{
				Source: command.Source{Host: "hosta", Spool: "s", Seq: h.Acked + 1}, Job: id, RunCount: j.RunCount, ExitStatus: -3, NeverStarted: true,
			})
		}
		if j, _ := b.store.View().Job(id); j.State == pbs.Held {
			break
		}
	}
	if j, _ := b.store.View().Job(id); j.State != pbs.Held || j.Holds != pbs.HoldSystem || j.Comment != "job held, too many failed attempts to run" || tries != 21 {
		t.Errorf("after %d tries it is %v, %v: %q", tries, j.State, j.Holds, j.Comment)
	}
	if took < 10*time.Second || took > 25*time.Second {
		t.Errorf("that took %v", took)
	}
}
