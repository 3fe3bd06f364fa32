package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/identity"
	"rampart/cluster/recovery"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/snapshot"
)

// goOnAlone writes the decision to the disk, and has Run end.
func (r *Replica) goOnAlone(plan *recovery.Rescue, by pbs.User) error {
	again := r.restart()
	if again == nil {
		return pbs.Errorf(pbs.InvalidRequest, "%s is being started or stopped: ask again", r.cfg.Self.Name)
	}
	d, err := recovery.Decide(r.store, r.cfg.Self.Name, plan, by)
	if err != nil {
		return err
	}
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
	if !errors.Is(err, identity.ErrAnew) || r.store.Err() != nil {
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

// resume does what was decided before this start.
func (r *Replica) resume() error {
	self := raft.Server{Suffrage: raft.Voter, ID: r.id, Address: raft.ServerAddress(r.cfg.Self.Address)}
	d, err := recovery.Resume(r.store, self, r.cfg.Clock())
	if errors.Is(err, recovery.ErrVoid) {
		r.cfg.Logger.Error("nothing is recovered", "why", err)
		return nil
	}
	if err != nil || d == nil {
		return err
	}
	r.raft.known, r.rescue = recovery.Alone(self).Servers, d
	return r.identity.Exclude(d.Recovery, r.cfg.Clock())
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
			Epoch: d.Epoch, Skip: command.EpochSkip, Cause: recovery.Cause(d.Recovery), Recovery: &d.Recovery,
		})
		if err := r.proposals.alone(command.Entry{Time: now}, commands...); err != nil {
			return err
		}
	}
	note := fmt.Sprintf("%s %s; epoch %d\n", time.Unix(0, int64(now)).UTC().Format(time.RFC3339), recovery.Cause(d.Recovery), d.Epoch)
	if err := r.store.Note(note); err != nil {
		r.cfg.Logger.Warn("cannot write down the recovery beside the stores", "err", err)
	}
	if err := recovery.Forget(r.store); err != nil {
		return err
	}
	r.rescue = nil
	return nil
}
