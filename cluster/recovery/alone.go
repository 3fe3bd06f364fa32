package recovery

import (
	"crypto/rand"
	"encoding/binary"
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

// keyRescue is in the stable store of a replica that has been chosen to go on alone, from
// the decision until the new epoch has begun.
var keyRescue = []byte("RampartRescue")

// A Decision is a rescue that has begun. It survives a crash between two steps.
type Decision struct {
	Recovery state.Recovery `json:"recovery"`
	Epoch    uint64         `json:"epoch"` // 0: there is none
	Alone    bool           `json:"alone"` // the log says that this is the only voter
}

// Decide writes to the store of the chosen survivor that it is to go on alone, and puts the new
// epoch into the plan.
func Decide(s *store.Store, self pbs.ReplicaName, plan *Rescue, by pbs.User) (Decision, error) {
	d := Decision{Epoch: randomEpoch(), Recovery: state.Recovery{
		Replica: self, Index: plan.Chosen().Index, Term: plan.Chosen().Term,
		Lost: plan.Lost, Anew: plan.Anew(), By: by,
	}}
	if err := s.Save(keyRescue, d); err != nil {
		return Decision{}, err
	}
	plan.Epoch = d.Epoch
	return d, nil
}

// Forget removes the decision: its epoch has begun.
func Forget(s *store.Store) error { return s.Save(keyRescue, Decision{}) }

func randomEpoch() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return binary.BigEndian.Uint64(b[:])>>1 | 1
}

// Resume does what was decided before this start: an entry at the end of the log makes the server
// self the only voter. The entries before it stay, and are committed with it. It returns nil if
// nothing was decided, and an error that wraps ErrVoid, after it has forgotten the decision, if
// the log has changed since.
func Resume(s *store.Store, self raft.Server, at time.Time) (*Decision, error) {
	var d Decision
	if err := s.Load(keyRescue, &d); err != nil || d.Epoch == 0 {
		return nil, err
	}
	if d.Alone {
		return &d, nil
	}
	stands, err := d.standAlone(s, self, at)
	if err != nil {
		return nil, err
	}
	if !stands {
		if err := Forget(s); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: it ended at index %d", ErrVoid, d.Recovery.Index)
	}
	return &d, s.Save(keyRescue, d)
}

// ErrVoid means that the log has changed since it was decided to go on alone: nothing is done.
var ErrVoid = errors.New("the log has changed since it was decided to go on alone")

// Alone returns the configuration of which the server is the only voter.
func Alone(self raft.Server) raft.Configuration {
	self.Suffrage = raft.Voter
	return raft.Configuration{Servers: []raft.Server{self}}
}

// standAlone appends the entry, unless an earlier start has; not if the log has changed.
func (d *Decision) standAlone(s *store.Store, self raft.Server, at time.Time) (bool, error) {
	index, term, err := s.Last()
	if err != nil {
		return false, err
	}
	members := raft.EncodeConfiguration(Alone(self))
	if index == d.Recovery.Index+1 {
		var l raft.Log
		err := s.Log().GetLog(index, &l)
		d.Alone = err == nil && l.Type == raft.LogConfiguration && slices.Equal(l.Data, members)
		return d.Alone, err
	}
	if index != d.Recovery.Index || term != d.Recovery.Term {
		return false, nil
	}
	stable := s.Stable()
	now, err := stable.GetUint64(store.KeyTerm)
	if err != nil && !store.Missing(err) {
		return false, err
	}
	now = max(now, term) + 1 // no leader of the old cluster has written under it
	if err := stable.SetUint64(store.KeyTerm, now); err != nil {
		return false, err
	}
	d.Alone = true
	return true, s.Log().StoreLog(&raft.Log{
		Index: index + 1, Term: now, Type: raft.LogConfiguration, Data: members, AppendedAt: at,
	})
}

// Cause says what a recovery did.
func Cause(v state.Recovery) string {
	text := fmt.Sprintf("recovered from the loss of %s at request of %s; the log of %s goes on at index %d of term %d",
		strings.Join(v.Lost, ", "), v.By, v.Replica, v.Index, v.Term)
	if len(v.Anew) > 0 {
		text += "; " + strings.Join(v.Anew, ", ") + " begin anew"
	}
	return text
}
