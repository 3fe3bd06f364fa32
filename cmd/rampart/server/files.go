package server

import (
	"context"
	"os"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/mover"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// carrier moves files of jobs that were submitted on this host, where no mom and no login daemon
// does. A replica that is not root can do so for its own account only.
func (s *Server) carrier(staging apiconnect.StagingHandler) *mover.Service {
	return &mover.Service{
		Accounts: s.outside.Accounts, Servers: ownStaging{staging, transport.Caller{Role: transport.RoleReplica, Host: pbs.HostName(s.config.Host)}},
		SwitchUser: os.Geteuid() == 0, SelfUID: uint32(os.Geteuid()), Logger: s.logger,
	}
}

// ownStaging asks this very replica, as itself.
type ownStaging struct {
	apiconnect.StagingHandler
	self transport.Caller
}

func (o ownStaging) Permit(ctx context.Context, r *connect.Request[api.PermitRequest]) (*connect.Response[api.PermitReply], error) {
	return o.StagingHandler.Permit(transport.WithCaller(ctx, o.self), r)
}
