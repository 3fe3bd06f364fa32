package service

import (
	"context"
	"errors"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// CountReports returns the handler with a count of what moms tell: taken, refused for
// good, or failed and to be told again.
func CountReports(reg prometheus.Registerer, h apiconnect.ReportHandler) apiconnect.ReportHandler {
	c := reports{ReportHandler: h, total: promauto.With(reg).NewCounterVec(prometheus.CounterOpts{
		Name: "rampart_reports_total", Help: "What moms told this replica while it led: facts, samples, leases and registrations, by what became of them.",
	}, []string{"kind", "result"})}
	for _, kind := range []string{kindFact, kindSample, kindLease, kindRegistration} {
		for _, result := range []string{reportTaken, reportRefused, reportFailed} {
			c.total.WithLabelValues(kind, result)
		}
	}
	return c
}

const (
	kindFact         = "fact"
	kindSample       = "sample"
	kindLease        = "lease"
	kindRegistration = "registration"

	reportTaken   = "taken"
	reportRefused = "refused"
	reportFailed  = "failed"
)

type reports struct {
	apiconnect.ReportHandler
	total *prometheus.CounterVec
}

func (c reports) note(kind string, n int, err error) {
	result := reportTaken
	if err != nil {
		result = reportFailed
	}
	if refusal, ok := errors.AsType[*pbs.Error](err); ok && !passes(refusal.Code) {
		result = reportRefused
	}
	c.total.WithLabelValues(kind, result).Add(float64(n))
}

// passes tells the refusals that a repeat may not meet: they say nothing of the report.
func passes(c pbs.Code) bool {
	return c == pbs.NoQuorum || c == pbs.UnknownResult || c == pbs.ResourceBusy
}

// Register implements apiconnect.ReportHandler.
func (c reports) Register(ctx context.Context, r *connect.Request[api.RegisterRequest]) (*connect.Response[api.RegisterReply], error) {
	reply, err := c.ReportHandler.Register(ctx, r)
	c.note(kindRegistration, 1, err)
	return reply, err
}

// Facts implements apiconnect.ReportHandler.
func (c reports) Facts(ctx context.Context, r *connect.Request[api.FactsRequest]) (*connect.Response[api.FactsReply], error) {
	reply, err := c.ReportHandler.Facts(ctx, r)
	c.note(kindFact, len(r.Msg.GetFacts()), err)
	return reply, err
}

// Samples implements apiconnect.ReportHandler.
func (c reports) Samples(ctx context.Context, r *connect.Request[api.SamplesRequest]) (*connect.Response[api.SamplesReply], error) {
	reply, err := c.ReportHandler.Samples(ctx, r)
	c.note(kindSample, len(r.Msg.GetJobs()), err)
	return reply, err
}

// Lease implements apiconnect.ReportHandler.
func (c reports) Lease(ctx context.Context, r *connect.Request[api.LeaseRequest]) (*connect.Response[api.LeaseReply], error) {
	reply, err := c.ReportHandler.Lease(ctx, r)
	c.note(kindLease, 1, err)
	return reply, err
}
