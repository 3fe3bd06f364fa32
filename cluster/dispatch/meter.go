package dispatch

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"rampart/fsm/command"
)

// A Meter counts orders on their way; one serves all terms of a process.
type Meter struct {
	sent, done, refused, failed prometheus.Counter
	took                        prometheus.Histogram
}

// NewMeter returns a meter whose figures go to the registry; nil: nobody reads them.
func NewMeter(reg prometheus.Registerer) *Meter {
	with := promauto.With(reg)
	confirmed := with.NewCounterVec(prometheus.CounterOpts{
		Name: "rampart_orders_confirmed_total", Help: "Orders that moms answered, and whose answers were committed.",
	}, []string{"answer"})
	return &Meter{
		sent: with.NewCounter(prometheus.CounterOpts{
			Name: "rampart_orders_sent_total", Help: "Orders delivered to moms; one that comes again counts again.",
		}),
		done: confirmed.WithLabelValues("done"), refused: confirmed.WithLabelValues("refused"),
		failed: with.NewCounter(prometheus.CounterOpts{
			Name: "rampart_orders_deliveries_failed_total", Help: "Calls of moms that failed, and will be repeated.",
		}),
		took: with.NewHistogram(prometheus.HistogramOpts{
			Name: "rampart_orders_delivery_duration_seconds", Help: "Time of a call that delivers orders to a mom.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
	}
}

// confirmed counts answers that were committed.
func (m *Meter) confirmed(answers []command.Command) {
	for _, c := range answers {
		if a, ok := c.(*command.OrderConfirmed); ok && a.Refusal != nil {
			m.refused.Inc()
		} else {
			m.done.Inc()
		}
	}
}
