package lsf

import (
	"context"

	"rampart/fsm/lsf"
	"rampart/fsm/resreq"
	"rampart/transport/api"
)

// bounds are the thresholds of load that hold for jobs: those of their queues, and of the hosts on which they run.
type bounds struct {
	config lsf.Config
	site   resreq.Site
	queues map[string]string // lsf_thresholds
}

// learnBounds reads them, for the long form.
func (v *jobsView) learnBounds(ctx context.Context) error {
	b := &bounds{site: v.site.site.site, queues: map[string]string{}}
	var err error
	if b.config, err = v.configuration(ctx); err != nil {
		return err
	}
	_, queues, err := v.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Attributes: []string{lsf.QueueThresholds}})
	for _, q := range queues {
		b.queues[q.Name] = value(q, lsf.QueueThresholds)
	}
	v.site.bounds = b
	return err
}

// of returns the table of the thresholds that hold for a job.
func (b *bounds) of(j job) string {
	if b == nil {
		return noThresholds
	}
	queue, _ := lsf.ParseThresholds(b.queues[j.get("queue")], b.site) // of a resource that is there no more: nothing holds
	all := [][]lsf.Threshold{queue}
	if !j.pending() {
		for _, s := range j.shares() {
			all = append(all, b.config.Host(s.host).Thresholds)
		}
	}
	return thresholds(lsf.ThresholdsText(lsf.Tightest(b.site, all...)))
}
