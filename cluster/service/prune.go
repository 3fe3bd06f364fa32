package service

import (
	"context"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// Prune takes vnodes from a run that is being started, for its mother superior.
func (s *Report) Prune(context.Context, *connect.Request[api.PruneRequest]) (*connect.Response[api.PruneReply], error) {
	return nil, pbs.Refuse(pbs.NotSupported)
}
