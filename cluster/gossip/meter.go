package gossip

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Register puts into the registry how many members there are.
func (g *Gossip) Register(reg prometheus.Registerer) error { return reg.Register(census{g.events}) }

// census counts the members when somebody looks.
type census struct{ events *events }

var membersDesc = prometheus.NewDesc("rampart_gossip_members",
	"Members by role that gossip believes to be there (alive), or does not hear any more (gone).", []string{"role", "state"}, nil)

// Describe implements prometheus.Collector.
func (c census) Describe(out chan<- *prometheus.Desc) { out <- membersDesc }

// Collect implements prometheus.Collector.
func (c census) Collect(out chan<- prometheus.Metric) {
	for key, n := range c.events.count() {
		out <- prometheus.MustNewConstMetric(membersDesc, prometheus.GaugeValue, float64(n), key.role, key.state)
	}
}
