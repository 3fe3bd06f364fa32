package meter

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// New returns a registry that tells of the process, its runtime, and what it is:
// "replica", "mom" or "submit", and of which version.
func New(role, version, build string) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	promauto.With(reg).NewGauge(prometheus.GaugeOpts{
		Name: "rampart_build_info", Help: "1; the labels tell what runs here.",
		ConstLabels: prometheus.Labels{"role": role, "version": version, "build": build},
	}).Set(1)
	return reg
}

// readersAtOnce bounds what impatient readers can cost.
const readersAtOnce = 4

// Handler returns the page that Prometheus reads.
func Handler(reg *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: readersAtOnce,
	})
}
