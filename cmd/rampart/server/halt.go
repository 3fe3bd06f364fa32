package server

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster/service"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// endReplica asks a replica to end, this one too.
func (s *Server) endReplica(ctx context.Context, r *state.Replica, scheds bool) error {
	c := apiconnect.NewHaltClient(s.peers.http, "https://"+r.Address, transport.Uncompressed())
	_, err := c.End(ctx, connect.NewRequest(&api.EndRequest{Scheds: scheds}))
	return err
}

func (s *Server) endMom(ctx context.Context, h *state.Host, r *api.EndMomRequest) error {
	_, err := s.moms.Agent(h.Address).EndMom(ctx, connect.NewRequest(r))
	return err
}

// endScheds has the processes of the schedulers of this host end, as SIGTERM does.
func (s *Server) endScheds() {
	now := s.machine.View().Server()
	locks := []string{s.config.Home.SchedLock()}
	for i := range now.Scheds {
		locks = append(locks, filepath.Join(service.SchedFolder(now, string(s.config.Home), now.Scheds[i].Name, "sched_priv"), "sched.lock"))
	}
	for _, lock := range locks {
		if pid := schedAt(lock); pid != 0 {
			if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
				s.logger.Warn("end a scheduler", "lock", lock, "error", err)
			}
		}
	}
}

// schedAt returns the pid of the scheduler that runs with a lock file; 0: none does.
func schedAt(lock string) int {
	text, err := os.ReadFile(lock)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil || pid <= 1 || endedOf(lock) != "" {
		return 0
	}
	return pid
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
