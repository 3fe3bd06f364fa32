package cluster

import (
	"github.com/prometheus/client_golang/prometheus"

	"rampart/cluster/member"
)

// gauges collects what a replica knows of itself whenever the metrics are read.
type gauges struct {
	report *report
	role, term, commit, applied, lag, contact,
	voters, zone, last, p99, most, sick, stalled, free, low, alarm *prometheus.Desc
}

var _ prometheus.Collector = (*gauges)(nil)

// register puts what can be asked for at any time into the registry.
func (r *report) register(reg prometheus.Registerer) {
	if reg == nil {
		return
	}
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	reg.MustRegister(&gauges{
		report:  r,
		role:    desc("rampart_raft_role", "1 for the role that this replica has, 0 for the others.", "role"),
		term:    desc("rampart_raft_term", "Present term."),
		commit:  desc("rampart_raft_commit_index", "Highest index known to be committed."),
		applied: desc("rampart_raft_applied_index", "Highest index in the state."),
		lag:     desc("rampart_raft_lag_entries", "Committed entries that are not in the state yet."),
		contact: desc("rampart_raft_last_contact_seconds", "Time since the leader was heard of; 0 at the leader."),
		voters:  desc("rampart_raft_voters", "Members that have a vote."),
		zone:    desc("rampart_raft_zone_holds_quorum", "1 while the loss of one zone would leave no quorum of the voters."),
		last:    desc("rampart_raft_last_log_index", "Highest index in the log of this replica."),
		p99:     desc("rampart_store_write_p99_seconds", "99th percentile of the writes of the last 15 seconds; 0 when there were none."),
		most:    desc("rampart_store_write_max_seconds", "The longest write of the last 15 seconds."),
		sick:    desc("rampart_store_slow", "1 while the disk is slow: p99 over 100 ms for ten seconds, and not under 50 ms for as long since."),
		stalled: desc("rampart_store_stalled_seconds", "How long the store has not answered by now, while the replica keeps silent for it; 0: it answers."),
		free:    desc("rampart_store_free_bytes", "Room on the disk of the log; -1 when it cannot be told."),
		low:     desc("rampart_store_low", "1 while less than 64 MiB are free, until 96 are."),
		alarm:   desc("rampart_replica_alarm", "1 while the replica has this to say in `rampart cluster status`.", "kind"),
	})
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		g.role, g.term, g.commit, g.applied, g.lag, g.contact, g.voters, g.zone, g.last, g.p99, g.most, g.sick, g.stalled, g.free, g.low, g.alarm,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	s := g.report.status()
	put := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, role := range []member.Role{member.Leader, member.Follower, member.Nonvoter} {
		put(g.role, one(s.Role == role), string(role))
	}
	put(g.term, float64(s.Term))
	put(g.commit, float64(s.Commit))
	put(g.applied, float64(s.Applied))
	put(g.lag, float64(max(s.Commit, s.Applied)-s.Applied))
	put(g.contact, s.LastContact.Seconds())
	if n := g.report.raft.node.Load(); n != nil {
		put(g.voters, float64(len(n.voters())))
		put(g.zone, one(zoneHolds(g.report.machine.View(), n.voters())))
		put(g.last, float64(n.raft.LastIndex()))
	}
	put(g.p99, s.Disk.P99.Seconds())
	put(g.most, s.Disk.Max.Seconds())
	put(g.sick, one(s.Disk.Sick))
	put(g.stalled, g.report.silence.lasts().Seconds())
	put(g.free, float64(s.Disk.Free))
	put(g.low, one(s.Disk.Low))
	raised := make(map[member.AlarmKind]bool)
	for _, a := range s.Alarms {
		raised[a.Kind] = true
	}
	for _, kind := range member.AlarmKinds() {
		put(g.alarm, one(raised[kind]), string(kind))
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
