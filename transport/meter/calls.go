package meter

import (
	"context"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// calls counts what is asked of this process. A call that a replica passes on is
// counted at the leader, where it is done.
type calls struct {
	done    *prometheus.CounterVec
	took    *prometheus.HistogramVec
	present prometheus.Gauge
}

var _ connect.Interceptor = calls{}

// Calls returns the interceptor that counts calls by method and code, and measures them.
// It must be the outermost: the code is the one that the caller sees.
func Calls(reg prometheus.Registerer) connect.Interceptor {
	with := promauto.With(reg)
	return calls{
		done: with.NewCounterVec(prometheus.CounterOpts{
			Name: "rampart_rpc_requests_total", Help: "Calls that were answered here, by method and code (ok, or Connect's name of the failure).",
		}, []string{"method", "code"}),
		took: with.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rampart_rpc_duration_seconds", Help: "Time from a call's arrival to its answer; of a stream, to its end.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"method"}),
		present: with.NewGauge(prometheus.GaugeOpts{
			Name: "rampart_rpc_in_flight_requests", Help: "Calls that have not been answered yet.",
		}),
	}
}

// begin notes a call; the function that it returns notes its end.
func (c calls) begin(procedure string) func(error) {
	c.present.Inc()
	began := time.Now()
	return func(err error) {
		method := strings.TrimPrefix(procedure, "/rampart.v1.")
		c.present.Dec()
		c.took.WithLabelValues(method).Observe(time.Since(began).Seconds())
		c.done.WithLabelValues(method, code(err)).Inc()
	}
}

func code(err error) string {
	if err == nil {
		return "ok"
	}
	return connect.CodeOf(err).String()
}

// WrapUnary implements connect.Interceptor.
func (c calls) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		if r.Spec().IsClient {
			return next(ctx, r)
		}
		end := c.begin(r.Spec().Procedure)
		reply, err := next(ctx, r)
		end(err)
		return reply, err
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (c calls) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		end := c.begin(conn.Spec().Procedure)
		err := next(ctx, conn)
		end(err)
		return err
	}
}

// WrapStreamingClient implements connect.Interceptor; calls of our own are not counted.
func (c calls) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}
