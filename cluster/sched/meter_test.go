package sched_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rampart/cluster/sched"
)

// TestMeter_CountsStarts that were planned, committed, and refused.
func TestMeter_CountsStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=4")
		job := l.submit("ncpus=4")
		old := stale{l, l.View()}
		reg := prometheus.NewPedanticRegistry()
		meter := sched.NewMeter(reg)
		run := func(source sched.Source) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
			defer cancel()
			loop := sched.New(sched.Options{Source: source, Proposer: l, Log: l, Meter: meter, Logger: slog.New(slog.DiscardHandler)})
			if err := loop.Run(ctx); err != nil {
				t.Error(err)
			}
		}
		run(l)   // starts it
		run(old) // would start it once more
		if s := l.state(job); s != "R" {
			t.Fatalf("the job is %s", s)
		}
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			got[f.GetName()] = f.GetMetric()[0].GetCounter().GetValue() + float64(f.GetMetric()[0].GetHistogram().GetSampleCount())
		}
		for name, want := range map[string]float64{
			"rampart_sched_planned_total": 2, "rampart_sched_started_total": 1, "rampart_sched_rejected_total": 1,
			"rampart_sched_cycle_duration_seconds": 2, "rampart_sched_plan_duration_seconds": 2,
		} {
			if got[name] != want {
				t.Errorf("%s is %v, want %v", name, got[name], want)
			}
		}
	})
}
