package sched

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// A Meter counts what the scheduler does; one serves all terms of a process.
type Meter struct {
	cycle, plan                prometheus.Histogram
	planned, started, rejected prometheus.Counter

	cycling atomic.Bool // of the default scheduler
	others  named[atomic.Bool]
}

// InCycle reports whether a cycle of a scheduler is under way in this process.
func (m *Meter) InCycle(sched string) bool { return m.cyclingOf(sched).Load() }

func (m *Meter) cyclingOf(sched string) *atomic.Bool {
	if ofDefault(sched) {
		return &m.cycling
	}
	return m.others.of(sched, func() *atomic.Bool { return new(atomic.Bool) })
}

// NewMeter returns a meter whose figures go to the registry; nil: nobody reads them.
func NewMeter(reg prometheus.Registerer) *Meter {
	with := promauto.With(reg)
	buckets := []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	return &Meter{
		cycle: with.NewHistogram(prometheus.HistogramOpts{
			Name: "rampart_sched_cycle_duration_seconds", Help: "Time of a scheduling cycle, the commits of its decisions included.", Buckets: buckets,
		}),
		plan: with.NewHistogram(prometheus.HistogramOpts{
			Name: "rampart_sched_plan_duration_seconds", Help: "Time to decide in a scheduling cycle.", Buckets: buckets,
		}),
		planned: with.NewCounter(prometheus.CounterOpts{
			Name: "rampart_sched_planned_total", Help: "Starts of jobs that were planned.",
		}),
		started: with.NewCounter(prometheus.CounterOpts{
			Name: "rampart_sched_started_total", Help: "Planned starts that were committed.",
		}),
		rejected: with.NewCounter(prometheus.CounterOpts{
			Name: "rampart_sched_rejected_total", Help: "Planned starts that the state refused, since the plan was old.",
		}),
	}
}

// timed measures until the returned function is called.
func timed(h prometheus.Histogram) func() {
	began := time.Now()
	return func() { h.Observe(time.Since(began).Seconds()) }
}
