package service

import (
	"context"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// ReleaseNodes takes vnodes from a running job: pbs_release_nodes.
func (b *Batch) ReleaseNodes(context.Context, *connect.Request[api.ReleaseNodesRequest]) (*connect.Response[api.ReleaseNodesReply], error) {
	return nil, pbs.Refuse(pbs.NotSupported)
}
