package state

import (
	"fmt"
	"time"
)

// A BackupPlan is when and where replicas make backups, each for itself.
type BackupPlan struct {
	Every int64  `cbor:"1,keyasint"`           // seconds
	Keep  uint32 `cbor:"2,keyasint"`           // so many are kept, the latest
	Dir   string `cbor:"3,keyasint,omitempty"` // absolute; each replica has a folder in it. Empty: in its home
}

// String returns the plan as people read it.
func (p *BackupPlan) String() string {
	if p == nil {
		return "no backups are made"
	}
	where := "PBS_HOME/backups"
	if p.Dir != "" {
		where = p.Dir
	}
	return fmt.Sprintf("every %s in %s, the last %d are kept", time.Duration(p.Every)*time.Second, where, p.Keep)
}
