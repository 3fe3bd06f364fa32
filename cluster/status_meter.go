package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"rampart/fsm/pbs"
)

// meter counts and measures what happens; what can be asked for at any time is in
// gauges. No label names a job, a user or a host of jobs.
type meter struct {
	applied   prometheus.Counter
	applyTook prometheus.Histogram

	proposals    map[string]prometheus.Counter
	proposalTook prometheus.Histogram
	inFlight     prometheus.Gauge

	rounds    map[string]prometheus.Counter
	roundTook prometheus.Histogram

	elections, changes, stalls prometheus.Counter
}

var applyBuckets = []float64{.0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2}

// Outcomes of proposals, and results of rounds of readers.
const (
	outcomeDone      = "done"
	outcomeRefused   = "refused"
	outcomeBusy      = "busy"
	outcomeNotLeader = "not_leader"
	outcomeUnknown   = "unknown"

	roundConfirmed = "confirmed"
	roundFailed    = "failed"
)

func newMeter(reg prometheus.Registerer) *meter {
	with := promauto.With(reg)
	counters := func(name, help, label string, values ...string) map[string]prometheus.Counter {
		vec := with.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
		all := make(map[string]prometheus.Counter, len(values))
		for _, v := range values {
			all[v] = vec.WithLabelValues(v)
		}
		return all
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return with.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	counter := func(name, help string) prometheus.Counter {
		return with.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return &meter{
		applied:   counter("rampart_apply_entries_total", "Log entries applied to the state."),
		applyTook: histogram("rampart_apply_duration_seconds", "Time to apply the entries that were committed together.", applyBuckets),
		proposals: counters("rampart_proposals_total", "Proposals by outcome. An unknown one may yet take effect.", "outcome",
			outcomeDone, outcomeRefused, outcomeBusy, outcomeNotLeader, outcomeUnknown),
		proposalTook: histogram("rampart_proposal_duration_seconds", "Time from a proposal to its outcome.",
			[]float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10}),
		inFlight: with.NewGauge(prometheus.GaugeOpts{Name: "rampart_proposals_in_flight", Help: "Proposals without an outcome yet."}),
		rounds: counters("rampart_read_rounds_total", "Rounds in which leadership was to be confirmed, each for all readers who waited.", "result",
			roundConfirmed, roundFailed),
		roundTook: histogram("rampart_read_round_duration_seconds", "Time of a round.", []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1}),
		elections: counter("rampart_raft_elections_total", "Elections that this replica stood for."),
		stalls:    counter("rampart_store_stalls_total", "Times that a write was not done within a second and the replica fell silent until it was."),
		changes:   counter("rampart_raft_leader_changes_total", "Times that this replica heard of another leader, or of none."),
	}
}

// apply notes that entries are being applied; the function that it returns, that they are.
func (m *meter) apply(entries int) func() {
	began := time.Now()
	return func() {
		m.applied.Add(float64(entries))
		m.applyTook.Observe(time.Since(began).Seconds())
	}
}

// propose notes a proposal; the function that it returns, its outcome.
func (m *meter) propose() func(error) {
	m.inFlight.Inc()
	began := time.Now()
	return func(err error) {
		m.inFlight.Dec()
		m.proposalTook.Observe(time.Since(began).Seconds())
		m.proposals[outcomeOf(err)].Inc()
	}
}

func outcomeOf(err error) string {
	_, refused := errors.AsType[*pbs.Error](err)
	switch {
	case err == nil:
		return outcomeDone
	case errors.Is(err, ErrBusy), errors.Is(err, ErrNoRoom):
		return outcomeBusy
	case errors.Is(err, ErrNotLeader):
		return outcomeNotLeader
	case refused:
		return outcomeRefused
	}
	return outcomeUnknown
}

// round measures the rounds of a question.
func (m *meter) round(ask func(context.Context) (uint64, error)) func(context.Context) (uint64, error) {
	return func(ctx context.Context) (uint64, error) {
		began := time.Now()
		index, err := ask(ctx)
		result := roundConfirmed
		if err != nil {
			result = roundFailed
		}
		m.rounds[result].Inc()
		m.roundTook.Observe(time.Since(began).Seconds())
		return index, err
	}
}

// observer counts in its filter, which Raft calls, so that nobody has to read it.
func (m *meter) observer() *raft.Observer {
	return raft.NewObserver(nil, false, func(o *raft.Observation) bool {
		switch what := o.Data.(type) {
		case raft.RaftState:
			if what == raft.Candidate {
				m.elections.Inc()
			}
		case raft.LeaderObservation:
			m.changes.Inc()
		}
		return false
	})
}
