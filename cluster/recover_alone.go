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
func (r *rescue) goOnAlone(plan *recovery.Rescue, by pbs.User) error {
	again := r.again()
	if again == nil {
		return pbs.Errorf(pbs.InvalidRequest, "%s is being started or stopped: ask again", r.self.Name)
	}
	d, err := recovery.Decide(r.store, r.self.Name, plan, by)
	if err != nil {
		return err
	}
	r.logger.Warn("going on without a quorum", "lost", plan.Lost, "anew", plan.Anew(),
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
func (r *rescue) beginAnew(err error) error {
	if !errors.Is(err, identity.ErrAnew) || r.store.Err() != nil {
		return err
	}
	v := r.machine.View()
	index, _, failed := r.store.Last()
	if failed != nil {
		return errors.Join(err, failed)
	}
	where, failed := r.store.Quarantine(index, func(w io.Writer) error { return snapshot.Write(w, v) })
	if failed != nil {
		return errors.Join(err, fmt.Errorf("set the stores aside: %w", failed))
	}
	r.logger.Warn("the cluster was recovered with the log of another replica: this one begins anew", "aside", where)
	return fmt.Errorf("%w, with empty stores: %w", ErrAgain, err)
}

// resume does what was decided before this start.
func (r *rescue) resume() error {
	self := raft.Server{Suffrage: raft.Voter, ID: r.raft.id, Address: raft.ServerAddress(r.self.Address)}
	d, err := recovery.Resume(r.store, self, r.clock())
	if errors.Is(err, recovery.ErrVoid) {
		r.logger.Error("nothing is recovered", "why", err)
		return nil
	}
	if err != nil || d == nil {
		return err
	}
	r.raft.known, r.decision = recovery.Alone(self).Servers, d
	return r.identity.Exclude(d.Recovery, r.clock())
}

// beginEpoch commits the new epoch before this leader of one does anything else.
func (r *rescue) beginEpoch(now pbs.Time, propose func(command.Entry, ...command.Command) error) error {
	d := r.decision
	if d == nil {
		return nil
	}
	if c := r.machine.View().Cluster(); c.Epoch != d.Epoch {
		var commands []command.Command
		commands = append(commands, &command.NewEpoch{
			Epoch: d.Epoch, Skip: command.EpochSkip, Cause: recovery.Cause(d.Recovery), Recovery: &d.Recovery,
		})
		if err := propose(command.Entry{Time: now}, commands...); err != nil {
			return err
		}
	}
	note := fmt.Sprintf("%s %s; epoch %d\n", time.Unix(0, int64(now)).UTC().Format(time.RFC3339), recovery.Cause(d.Recovery), d.Epoch)
	if err := r.store.Note(note); err != nil {
		r.logger.Warn("cannot write down the recovery beside the stores", "err", err)
	}
	if err := recovery.Forget(r.store); err != nil {
		return err
	}
	r.decision = nil
	return nil
}
