package service

import (
	"context"

	"connectrpc.com/connect"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// ForgetHost takes an operator's word that a silent host is dead: its jobs are queued
// again or ended without waiting for its fence. Only managers may say so, for a wrong
// word lets a job run twice.
func (c *Cluster) ForgetHost(ctx context.Context, r *connect.Request[api.ForgetHostRequest]) (*connect.Response[api.ForgetHostReply], error) {
	result, err := c.change(ctx, r, func(p person) ([]command.Command, error) {
		if p.perm < attr.Manager {
			return nil, deny(p, "Req", "Node", r.Msg.GetHost(), typeManage)
		}
		return []command.Command{&command.ForgetHost{Host: pbs.HostName(r.Msg.GetHost())}}, nil
	})
	return reply(&api.ForgetHostReply{Requeued: result.Requeued, Ended: result.Finished}, err)
}
