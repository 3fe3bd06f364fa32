package server

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"rampart/cluster/dispatch"
	"rampart/cluster/member"
	"rampart/cluster/sched"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/build"
	"rampart/transport/meter"
)

// metrics is what one process counts, over all of its terms.
type metrics struct {
	registry *prometheus.Registry
	sched    *sched.Meter
	orders   *dispatch.Meter
}

func newMetrics() metrics {
	reg := meter.New(string(transport.RoleReplica), pbs.Version, build.Version())
	return metrics{registry: reg, sched: sched.NewMeter(reg), orders: dispatch.NewMeter(reg)}
}

// Registry returns the metrics of the replica.
func (s *Server) Registry() *prometheus.Registry { return s.metrics.registry }

// readers returns who may read the metrics.
func readers(open bool) transport.Audience {
	if open {
		return transport.ForAnybody
	}
	return transport.ForKnown
}

// alarms returns the alarms of the parts that the replica does not know.
func (s *Server) alarms() []member.Alarm {
	all := slices.Concat(s.backup.alarms(), s.missingScripts(), s.silenceAlarms())
	why, holdsUp := s.ledger.Trouble()
	if why == "" {
		return all
	}
	return append(all, member.Alarm{
		Kind: member.AlarmLedger, Text: why, Serves: !holdsUp,
		Advice: "look at the disk of " + s.config.Home.Accounting() + "; what is not written yet is in the log",
	})
}

// census is what the state holds, counted when somebody looks.
type census struct{ view func() *state.View }

// figures are the descriptions of what a census counts.
type figures struct{ jobs, hosts, open, oldest *prometheus.Desc }

func describe() figures {
	return figures{
		jobs:  prometheus.NewDesc("rampart_jobs", "Jobs by state, those in the history included.", []string{"state"}, nil),
		hosts: prometheus.NewDesc("rampart_hosts", "Execution hosts that are up, down, up and in trouble as their moms say, or sick: several starts in a row failed there.", []string{"state"}, nil),
		open:  prometheus.NewDesc("rampart_orders_open", "Orders to moms that are not confirmed yet.", nil, nil),
		oldest: prometheus.NewDesc("rampart_orders_oldest_age_seconds",
			"Age of the oldest order that a host which is up has not confirmed; 0 if there is none.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c census) Describe(out chan<- *prometheus.Desc) {
	f := describe()
	out <- f.jobs
	out <- f.hosts
	out <- f.open
	out <- f.oldest
}

// Collect implements prometheus.Collector.
func (c census) Collect(out chan<- prometheus.Metric) {
	v, f := c.view(), describe()
	put := func(d *prometheus.Desc, n float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, labels...)
	}
	for s, n := range jobs(v) {
		put(f.jobs, float64(n), s)
	}
	for s, n := range hosts(v) {
		put(f.hosts, float64(n), s)
	}
	open, oldest := orders(v)
	put(f.open, float64(open))
	put(f.oldest, oldest)
}

func jobs(v *state.View) map[string]int {
	n, counts := make(map[string]int), v.AllCounts()
	for _, s := range pbs.JobStates() {
		n[s.String()] = counts.Of(s)
	}
	return n
}

func hosts(v *state.View) map[string]int {
	n := map[string]int{"up": 0, "down": 0, "trouble": 0, "sick": 0}
	for h := range v.Hosts() {
		switch {
		case !h.Up:
			n["down"]++
		case h.Trouble != "":
			n["trouble"]++
		case h.Sick != "":
			n["sick"]++
		default:
			n["up"]++
		}
	}
	return n
}

// orders returns how many are open, and how old the oldest is that could be confirmed.
func orders(v *state.View) (open int, oldest float64) {
	for name := range v.HostsWithOrders() {
		h, ok := v.Host(name)
		for o := range v.Orders(name) {
			open++
			if ok && h.Up && o.Created > 0 {
				oldest = max(oldest, float64(v.Now()-o.Created)/1e9)
			}
		}
	}
	return open, oldest
}
