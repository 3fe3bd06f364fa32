package identity

import (
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/hashicorp/raft"

	"rampart/cluster/store"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A Start is one start of a store. The number tells the later from the earlier;
// the token tells apart those that two copies of a disk counted alike.
type Start struct {
	Generation uint64 `json:"generation"`
	Token      string `json:"token"`
}

// StartOf returns the start that a replica announces.
func StartOf(r state.Replica) Start { return Start{Generation: r.Generation, Token: r.Start} }

// After reports whether the start came after o, or beside it on a copy of the disk:
// whoever knows only o has forgotten something.
func (s Start) After(o Start) bool {
	return s.Generation > o.Generation || s.Generation == o.Generation && s.Token != o.Token
}

// Next returns a start that follows.
func (s Start) Next() Start { return Start{Generation: s.Generation + 1, Token: rand.Text()} }

// Keys in the stable store, beside Raft's own. They are on every disk.
var (
	keyDisk  = []byte("RampartDisk")
	keyStart = []byte("RampartStart")
	keyKnown = []byte("RampartKnown")
)

// serverID returns NAME.DISKID. The disk id is made with the store: an empty disk
// is a new server, that has promised nothing and cannot break a promise (L1).
func serverID(s *store.Store, name pbs.ReplicaName) (raft.ServerID, error) {
	disk, err := s.Get(keyDisk)
	if err != nil {
		return "", fmt.Errorf("read disk id: %w", err)
	}
	if len(disk) == 0 {
		disk = []byte(strings.ToLower(rand.Text()[:10]))
		if err := s.Stable().Set(keyDisk, disk); err != nil {
			return "", fmt.Errorf("make disk id: %w", err)
		}
	}
	return raft.ServerID(string(name) + "." + string(disk)), nil
}
