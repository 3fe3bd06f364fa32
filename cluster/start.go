package cluster

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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

// after tells whether the start came after o, or beside it on a copy of the disk:
// whoever knows only o has forgotten something.
func (s Start) after(o Start) bool {
	return s.Generation > o.Generation || s.Generation == o.Generation && s.Token != o.Token
}

func startOf(r state.Replica) Start { return Start{Generation: r.Generation, Token: r.Start} }

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

// lastStart returns the last start that was written to the store.
func lastStart(disk *store.Store) (Start, error) {
	var s Start
	return s, disk.Load(keyStart, &s)
}

// next is the start that follows.
func (s Start) next() Start { return Start{Generation: s.Generation + 1, Token: rand.Text()} }

// knowledge is what this disk knows of the cluster before the state is there: the
// starts of all members, of which it is asked, and the feature level.
type knowledge struct {
	Members map[pbs.ReplicaName]known `json:"members"`
	Level   uint32                    `json:"level"`
	Class   pbs.RTTClass              `json:"class,omitempty"`
	Parted  []parted                  `json:"parted,omitempty"` // the latest partedKept
}

type known struct {
	ServerID string   `json:"server"`
	Address  string   `json:"address"`
	Start    Start    `json:"start"`
	Gone     []string `json:"gone,omitempty"` // ids that others have replaced, the latest goneKept
}

const goneKept = 16

// learn takes over what the state says, and tells whether that was
// news.
func (k *knowledge) learn(v *state.View) bool {
	news := v.Cluster().FeatureLevel > k.Level
	k.Level = max(k.Level, v.Cluster().FeatureLevel)
	if class := v.Cluster().RTTClass; class != "" && class != k.Class {
		k.Class, news = class, true
	}
	for _, past := range slices.Backward(v.Cluster().Recoveries) {
		news = k.part(past, time.Unix(0, int64(past.At))) || news
	}
	for r := range v.Replicas() {
		if r.ServerID == "" {
			continue
		}
		old := k.Members[r.Name]
		now := known{ServerID: r.ServerID, Address: r.Address, Start: startOf(*r), Gone: old.Gone}
		same := old.ServerID == now.ServerID
		if same && old.Address == now.Address && old.Start == now.Start {
			continue
		}
		if same && old.Start.Generation > now.Start.Generation || slices.Contains(old.Gone, now.ServerID) || k.parted(now.ServerID) != nil {
			continue // a state that is still catching up
		}
		if old.ServerID != "" && old.ServerID != now.ServerID {
			now.Gone = append(slices.Clone(old.Gone), old.ServerID)
			now.Gone = now.Gone[max(0, len(now.Gone)-goneKept):]
		}
		k.Members[r.Name], news = now, true
	}
	return news
}

var (
	// ErrOldDisk means that the store is an older copy: the cluster knows a later
	// start of it, or has another server in its place. To run on it could break what
	// the later one promised (L1).
	ErrOldDisk = errors.New("this disk is an older copy")

	// ErrTwice means that another process runs under this replica's identity.
	ErrTwice = errors.New("another process runs on a copy of this disk")
)
