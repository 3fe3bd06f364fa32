package cluster

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"rampart/fsm/state"
)

// ErrParted means that the cluster went on without this disk, when a majority was lost. What
// only this disk has is not part of the cluster's past any more.
var ErrParted = errors.New("the cluster went on without this disk")

// errAnew means the same of a disk of which the cluster knows that it was there: the replica
// sets its stores aside, and begins with empty ones.
var errAnew = errors.New("the log of another replica goes on")

// parted is a server that the cluster went on without.
type parted struct {
	ServerID string    `json:"server"`
	Anew     bool      `json:"anew,omitempty"` // it was there, and is to begin anew
	At       time.Time `json:"at"`
}

// partedKept bounds what is remembered of such servers.
const partedKept = 64

// part notes who was left behind, and tells whether that was news.
func (k *knowledge) part(v state.Recovery, at time.Time) bool {
	news := false
	note := func(ids []string, anew bool) {
		for _, id := range ids {
			if k.parted(id) == nil {
				k.Parted, news = append(k.Parted, parted{id, anew, at}), true
			}
		}
	}
	note(v.Lost, false)
	note(v.Anew, true)
	k.Parted = k.Parted[max(0, len(k.Parted)-partedKept):]
	return news
}

func (k *knowledge) parted(id string) *parted {
	for i := range k.Parted {
		if k.Parted[i].ServerID == id {
			return &k.Parted[i]
		}
	}
	return nil
}

// publishParted lets separated see what is known without the lock of it: that is held while
// the disk is written, and each heartbeat asks.
func (r *Replica) publishParted() {
	all := slices.Clone(r.known.Parted)
	r.apart.Store(&all)
}

// separated returns what is known of a server that the cluster went on without, nil if it
// did not.
func (r *Replica) separated(id string) *parted {
	if v := r.cfg.Machine.View().Parted(id); v != nil {
		return &parted{ServerID: id, Anew: !slices.Contains(v.Lost, id), At: time.Unix(0, int64(v.At))}
	}
	return (&knowledge{Parted: *r.apart.Load()}).parted(id)
}

// partedError says to a server what it has to do.
func partedError(at time.Time, anew bool) error {
	if anew {
		return errAnew
	}
	return fmt.Errorf("%w, by a recovery at %s. Move server_priv/raft and server_priv/accounting away and start again: "+
		"this replica then joins as an empty disk and is sent the state", ErrParted, at.UTC().Format(time.RFC3339))
}

// refuseParted answers what Raft asks here in the name of a server that the cluster went on
// without, and tells whether it did: such servers may be a quorum of the members that they know.
func (r *Replica) refuseParted(rpc raft.RPC) bool {
	header, ok := rpc.Command.(raft.WithRPCHeader)
	if !ok {
		return false
	}
	id := string(header.GetRPCHeader().ID)
	if r.separated(id) == nil {
		return false
	}
	rpc.Respond(nil, fmt.Errorf("%w: %s", ErrParted, id))
	return true
}
