package service

import (
	"context"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// JobScript returns the script of a job to its owner, or to an operator: printjob -s.
func (b *Batch) JobScript(ctx context.Context, r *connect.Request[api.JobScriptRequest], stream *connect.ServerStream[api.JobScriptReply]) error {
	v, err := b.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return err
	}
	p, err := b.reader(ctx, v)
	if err != nil {
		return err
	}
	j, err := jobOf(v, r.Msg.GetJob())
	if err != nil {
		return err
	}
	if err := mayChange(p, j, typeStatus); err != nil {
		return b.told(ctx, err)
	}
	if _, there := v.Script(j.ID); !there {
		return pbs.Errorf(pbs.InvalidRequest, "%s has no script: it was submitted without one, or is over", j.ID)
	}
	return sendScript(ctx, b.Blobs, v, j.ID, func(piece []byte) error { return stream.Send(&api.JobScriptReply{Data: piece}) })
}
