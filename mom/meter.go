package mom

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"rampart/mom/task"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// meter counts and measures what the mom tells the servers; it stands before the
// reporter.
type meter struct {
	apiconnect.ReportClient
	took  *prometheus.HistogramVec
	total *prometheus.CounterVec

	mu      sync.Mutex
	answer  time.Time // when a lease or registration was answered last
	trouble string    // as it was told last
}

const (
	toldFacts        = "facts"
	toldSamples      = "samples"
	toldLease        = "lease"
	toldRegistration = "registration"
)

func newMeter(reg prometheus.Registerer, r apiconnect.ReportClient) *meter {
	with := promauto.With(reg)
	m := &meter{
		ReportClient: r,
		took: with.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rampart_mom_report_duration_seconds", Help: "Time until the servers answered a report, attempts at several replicas included.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"kind"}),
		total: with.NewCounterVec(prometheus.CounterOpts{
			Name: "rampart_mom_reports_total", Help: "Reports by result; failed ones are repeated.",
		}, []string{"kind", "result"}),
	}
	for _, kind := range []string{toldFacts, toldSamples, toldLease, toldRegistration} {
		m.total.WithLabelValues(kind, "ok")
		m.total.WithLabelValues(kind, "failed")
	}
	return m
}

// measure notes a report; the function that it returns, what became of it.
func (m *meter) measure(kind string) func(error) {
	began := time.Now()
	return func(err error) {
		m.took.WithLabelValues(kind).Observe(time.Since(began).Seconds())
		if err != nil {
			m.total.WithLabelValues(kind, "failed").Inc()
			return
		}
		m.total.WithLabelValues(kind, "ok").Inc()
		if kind == toldLease || kind == toldRegistration {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.answer = time.Now()
		}
	}
}

func (m *meter) told(trouble string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trouble = trouble
}

func (m *meter) last() (answer time.Time, trouble string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answer, m.trouble
}

// Register implements apiconnect.ReportClient.
func (m *meter) Register(ctx context.Context, r *connect.Request[api.RegisterRequest]) (*connect.Response[api.RegisterReply], error) {
	m.told(r.Msg.GetTrouble())
	end := m.measure(toldRegistration)
	reply, err := m.ReportClient.Register(ctx, r)
	end(err)
	return reply, err
}

// Facts implements apiconnect.ReportClient.
func (m *meter) Facts(ctx context.Context, r *connect.Request[api.FactsRequest]) (*connect.Response[api.FactsReply], error) {
	end := m.measure(toldFacts)
	reply, err := m.ReportClient.Facts(ctx, r)
	end(err)
	return reply, err
}

// Samples implements apiconnect.ReportClient.
func (m *meter) Samples(ctx context.Context, r *connect.Request[api.SamplesRequest]) (*connect.Response[api.SamplesReply], error) {
	end := m.measure(toldSamples)
	reply, err := m.ReportClient.Samples(ctx, r)
	end(err)
	return reply, err
}

// Lease implements apiconnect.ReportClient.
func (m *meter) Lease(ctx context.Context, r *connect.Request[api.LeaseRequest]) (*connect.Response[api.LeaseReply], error) {
	m.told(r.Msg.GetTrouble())
	end := m.measure(toldLease)
	reply, err := m.ReportClient.Lease(ctx, r)
	end(err)
	return reply, err
}

// gauges puts what can be asked for at any time into the registry.
func (m *Mom) gauges(reg prometheus.Registerer) {
	if reg == nil {
		return
	}
	with := promauto.With(reg)
	gauge := func(name, help string, f func() float64) {
		with.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
	}
	gauge("rampart_mom_spool_facts", "Facts on disk that no replica has acknowledged yet.", func() float64 {
		if l := m.running(); l != nil {
			return float64(l.spool.Depth())
		}
		return 0
	})
	gauge("rampart_mom_lease_age_seconds", "Time since the servers last answered a lease or registration; -1 if they never did.", func() float64 {
		answer, _ := m.meter.last()
		if answer.IsZero() {
			return -1
		}
		return time.Since(answer).Seconds()
	})
	gauge("rampart_mom_trouble", "1 while the mom tells the servers that it can take no jobs, such as for a full disk.", func() float64 {
		if _, trouble := m.meter.last(); trouble != "" {
			return 1
		}
		return 0
	})
	reg.MustRegister(tasks{m, prometheus.NewDesc("rampart_mom_tasks", "Tasks on this host by state.", []string{"state"}, nil)})
}

// tasks counts the tasks when somebody looks.
type tasks struct {
	mom  *Mom
	desc *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (t tasks) Describe(out chan<- *prometheus.Desc) { out <- t.desc }

// Collect implements prometheus.Collector.
func (t tasks) Collect(out chan<- prometheus.Metric) {
	n := make(map[task.State]int)
	if l := t.mom.running(); l != nil {
		for _, r := range l.all() {
			n[r.Task().State()]++
		}
	}
	for s := task.Accepted; s <= task.Ended; s++ {
		out <- prometheus.MustNewConstMetric(t.desc, prometheus.GaugeValue, float64(n[s]), s.String())
	}
}

// readyAge is how old the last answer of the servers may be: two leases and a bit.
const readyAge = 15 * time.Second

// Unready tells why the mom cannot take jobs now, "" if it can.
func (m *Mom) Unready() string {
	answer, trouble := m.meter.last()
	l := m.running()
	switch {
	case l == nil:
		return "the mom does not run"
	case trouble != "":
		return trouble
	case !l.known():
		return "the servers do not know the mom yet"
	case time.Since(answer) > readyAge:
		return fmt.Sprintf("no word of the servers for %s", time.Since(answer).Round(time.Second))
	}
	return ""
}

// Healthz answers as long as the process serves.
func (m *Mom) Healthz() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
}

// Readyz answers with success while the mom can take jobs.
func (m *Mom) Readyz() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if why := m.Unready(); why != "" {
			http.Error(w, why, http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ok")
	})
}
