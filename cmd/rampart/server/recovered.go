package server

import (
	"context"
	"fmt"
	"net"
	"time"

	"rampart/cluster"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// recoveredPause is how long a replica waits for a leader before it looks again.
const recoveredPause = time.Second

// tellRecovered logs, once at the start of this replica, the reservations that there are, and the jobs that wait, as soon as it
// knows what was decided meanwhile (specification: advance-reservations section 15, logs section 2). A replica that leads has logged
// them: lead.
func (s *Server) tellRecovered(ctx context.Context) error {
	for {
		v, err := s.replica.Read(ctx, cluster.Fresh)
		if err == nil {
			s.tellFound(v)
			s.tell(pbs.LogSystem|pbs.LogAdmin, s.ready())
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(recoveredPause):
		}
	}
}

// tellFound logs what the replica has found when it started, the first time that it is called.
func (s *Server) tellFound(v *state.View) {
	s.found.Do(func() {
		self := "Server@" + s.config.Host
		for r := range v.Reservations() {
			err := s.serverLog.Write(time.Now(), pbs.LogSystem|pbs.LogAdmin|pbs.LogDebug, "Svr", self, "Recovered reservation "+string(r.ID))
			if err != nil {
				s.logger.Error("write the server log", "error", err)
				return
			}
		}
		s.tellRequeued(v)
	})
}

// ready returns the line that tells, in PBS's words, that requests are answered.
func (s *Server) ready() string {
	_, port, err := net.SplitHostPort(s.config.Address())
	if err != nil {
		port = "-"
	}
	return fmt.Sprintf("Server pid = %d ready;  using ports Server:%s", s.outside.Process.PID, port)
}

// tell logs a line about this replica itself.
func (s *Server) tell(event uint16, text string) {
	if err := s.serverLog.Write(time.Now(), event, "Svr", "Server@"+s.config.Host, text); err != nil {
		s.logger.Error("write the server log", "error", err)
	}
}

// tellRequeued logs the jobs that wait in queues, as a PBS does of those that it has read from its disk.
func (s *Server) tellRequeued(v *state.View) {
	for j := range v.Jobs() {
		if line := requeued(j); line != "" {
			if err := s.serverLog.Write(time.Now(), pbs.LogSystem|pbs.LogAdmin|pbs.LogDebug, "Job", string(j.ID), line); err != nil {
				s.logger.Error("write the server log", "error", err)
				return
			}
		}
	}
}

// requeued returns the line of a job that waits; empty for others: what runs goes on.
func requeued(j *state.Job) string {
	switch j.State {
	case pbs.Queued, pbs.Held, pbs.Waiting, pbs.Begun:
		return fmt.Sprintf("Requeueing job, substate: %d Requeued in queue: %s", j.Substate, j.Queue)
	}
	return ""
}
