package meter

import "github.com/prometheus/client_golang/prometheus"

// Silence has the registry tell for how many seconds a service of the host has not answered.
func Silence(reg prometheus.Registerer, service string, seconds func() float64) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rampart_service_silent_seconds", ConstLabels: prometheus.Labels{"service": service},
		Help: "Since when a service of the host has not answered: accounts (getent), names (the resolver). 0: it answers.",
	}, seconds))
}
