package cluster

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/store"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
)

// ErrAgain means that this replica has to be started again, by the same process: its stores
// are another's now.
var ErrAgain = errors.New("the replica has to start again")

// keyRescue is in the stable store of a replica that has been chosen to go on alone, from
// the decision until the new epoch has begun.
var keyRescue = []byte("RampartRescue")

// decision is what is to be done about a disaster. It survives a crash between two steps.
type decision struct {
	Recovery state.Recovery `json:"recovery"`
	Epoch    uint64         `json:"epoch"` // 0: there is none
	Alone    bool           `json:"alone"` // the log says that this is the only voter
}

// goOnAlone writes the decision to the disk, and has Run end.
func (r *Replica) goOnAlone(plan *Rescue, by pbs.User) error {
	again := r.restart()
	if again == nil {
		return pbs.Errorf(pbs.InvalidRequest, "%s is being started or stopped: ask again", r.cfg.Self.Name)
	}
	d := decision{Epoch: randomEpoch(), Recovery: state.Recovery{
		Replica: r.cfg.Self.Name, Index: plan.Chosen().Index, Term: plan.Chosen().Term,
		Lost: plan.Lost, Anew: plan.Anew(), By: by,
	}}
	if err := r.store.Save(keyRescue, d); err != nil {
		return err
	}
	plan.Epoch = d.Epoch
	r.cfg.Logger.Warn("going on without a quorum", "lost", plan.Lost, "anew", plan.Anew(),
		"index", d.Recovery.Index, "term", d.Recovery.Term, "by", by.String())
	again(fmt.Errorf("%w: it goes on without %v", ErrAgain, plan.Lost))
	return nil
}

// wantsAgain returns ErrAgain if that is why the context of Run ended.
func wantsAgain(ctx context.Context) error {
	if err := context.Cause(ctx); errors.Is(err, ErrAgain) {
		return err
	}
	return nil
}

// beginAnew sets the stores aside when another replica's log goes on: the next start finds
// an empty disk.
func (r *Replica) beginAnew(err error) error {
	if !errors.Is(err, errAnew) || r.store.Err() != nil {
		return err
	}
	v := r.cfg.Machine.View()
	index, _, failed := r.store.Last()
	if failed != nil {
		return errors.Join(err, failed)
	}
	where, failed := r.store.SetAside(index, func(w io.Writer) error { return snapshot.Write(w, v) })
	if failed != nil {
		return errors.Join(err, fmt.Errorf("set the stores aside: %w", failed))
	}
	r.cfg.Logger.Warn("the cluster was recovered with the log of another replica: this one begins anew", "aside", where)
	return fmt.Errorf("%w, with empty stores: %w", ErrAgain, err)
}

func randomEpoch() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return binary.BigEndian.Uint64(b[:])>>1 | 1
}

// resume does what was decided before this start: an entry at the end of the log makes this
// replica the only voter. The entries before it stay, and are committed with it.
func (r *Replica) resume() error {
	var d decision
	if err := r.store.Load(keyRescue, &d); err != nil || d.Epoch == 0 {
		return err
	}
	if !d.Alone {
		stands, err := r.standAlone(&d)
		if err == nil && !stands {
			r.cfg.Logger.Error("the log has changed since it was decided to go on alone: nothing is done", "index", d.Recovery.Index)
			d = decision{}
		}
		if err == nil {
			err = r.store.Save(keyRescue, d)
		}
		if err != nil || !stands {
			return err
		}
	}
	r.members, r.rescue = r.alone(), &d
	r.known.part(d.Recovery, r.cfg.Clock())
	return r.store.Save(keyKnown, r.known)
}

func (r *Replica) alone() raft.Configuration {
	self := raft.Server{Suffrage: raft.Voter, ID: r.id, Address: raft.ServerAddress(r.cfg.Self.Address)}
	return raft.Configuration{Servers: []raft.Server{self}}
}

// standAlone appends the entry, unless an earlier start has; not if the log has changed.
func (r *Replica) standAlone(d *decision) (bool, error) {
	index, term, err := r.store.Last()
	if err != nil {
		return false, err
	}
	members := raft.EncodeConfiguration(r.alone())
	if index == d.Recovery.Index+1 {
		var l raft.Log
		err := r.store.Log().GetLog(index, &l)
		d.Alone = err == nil && l.Type == raft.LogConfiguration && slices.Equal(l.Data, members)
		return d.Alone, err
	}
	if index != d.Recovery.Index || term != d.Recovery.Term {
		return false, nil
	}
	stable := r.store.Stable()
	now, err := stable.GetUint64(store.KeyTerm)
	if err != nil && !store.Missing(err) {
		return false, err
	}
	now = max(now, term) + 1 // no leader of the old cluster has written under it
	if err := stable.SetUint64(store.KeyTerm, now); err != nil {
		return false, err
	}
	d.Alone = true
	return true, r.store.Log().StoreLog(&raft.Log{
		Index: index + 1, Term: now, Type: raft.LogConfiguration, Data: members, AppendedAt: r.cfg.Clock(),
	})
}

// beginEpoch commits the new epoch before this leader of one does anything else.
func (r *Replica) beginEpoch(now pbs.Time) error {
	d := r.rescue
	if d == nil {
		return nil
	}
	if c := r.cfg.Machine.View().Cluster(); c.Epoch != d.Epoch {
		var commands []command.Command
		if c.FeatureLevel < command.LevelMembers {
			commands = append(commands, &command.RaiseLevel{Level: command.LevelMembers})
		}
		commands = append(commands, &command.NewEpoch{
			Epoch: d.Epoch, Skip: command.EpochSkip, Cause: cause(d.Recovery), Recovery: &d.Recovery,
		})
		if err := r.proposeAlone(command.Entry{Time: now}, commands...); err != nil {
			return err
		}
	}
	note := fmt.Sprintf("%s %s; epoch %d\n", time.Unix(0, int64(now)).UTC().Format(time.RFC3339), cause(d.Recovery), d.Epoch)
	if err := r.store.Note(note); err != nil {
		r.cfg.Logger.Warn("cannot write down the recovery beside the stores", "err", err)
	}
	if err := r.store.Save(keyRescue, decision{}); err != nil {
		return err
	}
	r.rescue = nil
	return nil
}

// cause says what a recovery did.
func cause(v state.Recovery) string {
	text := fmt.Sprintf("recovered from the loss of %s at request of %s; the log of %s goes on at index %d of term %d",
		strings.Join(v.Lost, ", "), v.By, v.Replica, v.Index, v.Term)
	if len(v.Anew) > 0 {
		text += "; " + strings.Join(v.Anew, ", ") + " begin anew"
	}
	return text
}
