package service

import (
	"context"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// explained are the attributes of a job that say what has become of it.
var explained = []string{
	"job_state", "substate", "queue", "comment", "Hold_Types", "Execution_Time", "depend", "qtime", "stime", "obittime", "Exit_status",
	"exec_vnode", "Resource_List", "reserve_ID", "array",
}

// Explain says why a job does not run, at any replica: where the state of the job does not say it, what is held by others.
func (b *Batch) Explain(ctx context.Context, r *connect.Request[api.ExplainRequest]) (*connect.Response[api.ExplainReply], error) {
	v, err := b.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return nil, err
	}
	p, err := b.reader(ctx, v)
	if err != nil {
		return nil, err
	}
	msg, err := b.explain(p, r.Msg.GetJob())
	return reply(msg, err)
}

func (b *Batch) explain(p person, name string) (*api.ExplainReply, error) {
	j, err := jobOf(p.view, name)
	if err != nil {
		return nil, err
	}
	if !maySee(p, j) {
		return nil, denyJob(p, j, typeStatus)
	}
	shown, err := newFields(attr.Job, explained, p.perm, p.view)
	if err != nil {
		return nil, err
	}
	msg := &api.ExplainReply{
		Job: string(j.ID), Attributes: shown.ofJob(p.view, j), Now: p.view.Now().Unix(),
		Scheduling: p.view.ForQueue(j.Queue).Server().Scheduling(),
	}
	if name := p.view.SchedulerOf(j.Queue); name != state.DefaultScheduler {
		msg.Scheduler = name
	}
	for _, run := range j.Unconfirmed {
		msg.Unconfirmed = append(msg.Unconfirmed, string(run.Host))
	}
	if b.Scheduler.Explain != nil && waitsForVnodes(p.view, j) {
		msg.Obstacle = b.Scheduler.Explain(p.view, j)
	}
	return msg, nil
}

// waitsForVnodes reports whether the scheduler is to start a job, or more subjobs of it.
func waitsForVnodes(v *state.View, j *state.Job) bool {
	q, ok := v.Queue(j.Queue)
	return ok && !q.Routes() && (j.State == pbs.Queued || j.State == pbs.Begun && len(j.Array.Queued) > 0)
}
