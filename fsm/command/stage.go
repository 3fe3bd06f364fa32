package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

const (
	// MaxPart is how many bytes of a snapshot file one StagePart carries at most.
	MaxPart = 192 << 10
	// maxParts bounds what is staged: 12 GiB.
	maxParts = 65_536
)

// StagePart puts the next piece of a snapshot file into the state, for Restore to read. The
// first piece drops what was staged before; pieces that nothing becomes of are dropped after
// state.StagingTTL.
type StagePart struct {
	Key    string `cbor:"1,keyasint,omitempty"` // random, the same for all pieces; empty: what is staged is dropped
	Number uint32 `cbor:"2,keyasint,omitempty"` // from 0
	Data   []byte `cbor:"3,keyasint,omitempty"`
}

// Apply keeps the piece. One that does not follow the last one of its key is refused.
func (c *StagePart) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	if c.Key == "" {
		tx.DropParts()
		return nil
	}
	if len(c.Data) == 0 || len(c.Data) > MaxPart || c.Number >= maxParts {
		return pbs.Errorf(pbs.InvalidRequest, "piece %d of a snapshot has %d bytes, it may have 1 to %d", c.Number, len(c.Data), MaxPart)
	}
	if c.Number == 0 {
		tx.Stage(c.Key)
	}
	switch s := tx.Cluster().Staging; {
	case s == nil || s.Key != c.Key:
		return pbs.Errorf(pbs.InvalidRequest, "the snapshot is not being sent any more: somebody has begun to send another one, or it took too long")
	case s.Parts != c.Number:
		return pbs.Errorf(pbs.InvalidRequest, "piece %d of the snapshot cannot follow %d pieces", c.Number, s.Parts)
	}
	tx.PutPart(c.Data)
	return nil
}

// expireParts drops a snapshot file that nobody has put back in time.
func expireParts(tx *state.Tx) {
	if s := tx.Cluster().Staging; s != nil && s.At <= tx.Now()-state.StagingTTL {
		tx.DropParts()
	}
}
