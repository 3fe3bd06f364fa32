package server

import (
	"context"
	"errors"
	"time"

	"rampart/transport"
)

// logged writes what the leader has logged about a request that was asked here and passed on.
func (s *Server) logged(l transport.LogLine) {
	if err := s.serverLog.Write(time.Now(), l.Event, l.Class, l.Object, l.Text); err != nil {
		s.logger.Error("write the server log", "error", err)
	}
}

// reopen closes the logs at each SIGHUP, for whoever has moved their files: the next lines open them again. Accounting files are
// the ledger's, which knows what lies where in them.
func (s *Server) reopen(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.outside.Process.Hangups:
		}
		if err := errors.Join(s.serverLog.Close(), s.schedLogs.Close()); err != nil {
			s.logger.Error("close the logs to open them again", "error", err)
		}
	}
}
