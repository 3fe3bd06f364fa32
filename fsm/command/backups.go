package command

import (
	"path"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// LeastBackupEvery is the shortest time between two backups, in seconds.
const LeastBackupEvery = int64(time.Minute / time.Second)

// maxBackups bounds how many are kept.
const maxBackups = 10_000

// ScheduleBackups has every replica make backups, or ends that.
type ScheduleBackups struct {
	Plan *state.BackupPlan `cbor:"1,keyasint,omitempty"` // nil: none are made any more
}

// Apply keeps the plan; one that cannot be carried out is refused.
func (c *ScheduleBackups) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if p := c.Plan; p != nil {
		switch {
		case p.Every < LeastBackupEvery:
			return pbs.Errorf(pbs.InvalidRequest, "backups are made every minute at most")
		case p.Keep == 0 || p.Keep > maxBackups:
			return pbs.Errorf(pbs.InvalidRequest, "1 to %d backups can be kept", maxBackups)
		case p.Dir != "" && !path.IsAbs(p.Dir):
			return pbs.Errorf(pbs.InvalidRequest, "the folder of the backups is to be an absolute path, not %q", p.Dir)
		}
	}
	tx.EditCluster().Backups = c.Plan
	tx.Emit(state.Event{Kind: state.ObjectChanged, Object: "backups", By: m.Asker, Text: c.Plan.String()})
	return nil
}
