package server

import (
	"context"
	"os"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// endReplica asks a replica to end, this one too.
func (s *Server) endReplica(ctx context.Context, r *state.Replica) error {
	c := apiconnect.NewHaltClient(s.peers.http, "https://"+r.Address, transport.Uncompressed())
	_, err := c.End(ctx, connect.NewRequest(&api.EndRequest{}))
	return err
}

func (s *Server) endMom(ctx context.Context, h *state.Host, r *api.EndMomRequest) error {
	_, err := s.moms.Agent(h.Address).EndMom(ctx, connect.NewRequest(r))
	return err
}

// endSelf ends this replica after a while; the first word counts.
func (s *Server) endSelf(after time.Duration) {
	select {
	case s.ending <- after:
	default:
	}
}

// awaitEnd ends the replica, as a signal does, when it was asked to end.
func (s *Server) awaitEnd(ctx context.Context, end func()) error {
	var after time.Duration
	select {
	case <-ctx.Done():
		return nil
	case after = <-s.ending:
	}
	s.logger.Info("ending, as somebody wished", "after", after)
	// Whoever starts a server from now on is to wait for the end of this one.
	_ = os.Truncate(s.config.Home.ServerLock(), 0) // a bubble has none
	select {
	case <-ctx.Done():
	case <-time.After(after):
		end()
	}
	return nil
}
