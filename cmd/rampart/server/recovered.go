package server

import (
	"context"
	"time"

	"rampart/cluster"
	"rampart/fsm/pbs"
)

// recoveredPause is how long a replica waits for a leader before it looks again.
const recoveredPause = time.Second

// tellRecovered logs, once at the start of this replica, the reservations that there are, as soon as it knows what was
// decided meanwhile (specification: advance-reservations section 15).
func (s *Server) tellRecovered(ctx context.Context) error {
	for {
		v, err := s.replica.Read(ctx, cluster.Fresh)
		if err == nil {
			self := "Server@" + s.config.Host
			for r := range v.Reservations() {
				err := s.serverLog.Write(time.Now(), pbs.LogSystem|pbs.LogAdmin|pbs.LogDebug, "Svr", self, "Recovered reservation "+string(r.ID))
				if err != nil {
					s.logger.Error("write the server log", "error", err)
					return nil
				}
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(recoveredPause):
		}
	}
}
