package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/identity"
	"rampart/cluster/member"
)

const (
	// startTimeout bounds one round of questions, startAgain is the pause before the next.
	startTimeout = time.Second
	startAgain   = 200 * time.Millisecond
	// startLaggards: when a majority has answered, the others get this long to object.
	startLaggards = 300 * time.Millisecond
	// startTold is how often the log says what is still waited for.
	startTold = 10 * time.Second
	// learnEvery is how often a replica writes down what the state says of the members.
	learnEvery = time.Second
	// A replica that hears of no leader for this long asks whether it was superseded.
	lonely = 5 * time.Second
	// leaderAsks is how often a leader asks.
	leaderAsks = 10 * time.Second
)

// checkStart asks the other voters whether the cluster knows a later start of this
// store than the store itself does, and whether another process runs with a copy of
// it. When a majority of the voters, this one included, has nothing against it, the
// start is written to the disk, and then told to a majority: from then on a copy of
// the disk as it was is an old one. An error that wraps identity.ErrOldDisk or identity.ErrTwice is
// final; a start that was refused does not count.
func (r *Replica) checkStart(ctx context.Context) error {
	voters := slices.DeleteFunc(slices.Clone(r.raft.known), func(s raft.Server) bool { return s.Suffrage != raft.Voter })
	this := identity.StartOf(r.cfg.Self)
	if !slices.ContainsFunc(voters, func(s raft.Server) bool { return s.ID == r.id }) {
		voters = nil // it has no promise to break, and nobody to ask
	}
	defer r.waiting.Store(nil)
	if err := r.settleStart(ctx, voters, r.identity.Last(), false); err != nil {
		return err
	}
	if err := r.identity.Begin(this); err != nil {
		return err
	}
	return r.settleStart(ctx, voters, this, true)
}

// settleStart asks until a majority has answered without an objection.
func (r *Replica) settleStart(ctx context.Context, voters []raft.Server, mine identity.Start, decided bool) error {
	var told time.Time
	for {
		missing, err := r.askStarts(ctx, voters, mine, decided)
		if errors.Is(err, identity.ErrRemoved) {
			r.removed()
			<-ctx.Done()
			return ctx.Err()
		}
		if err != nil || missing == nil {
			return err
		}
		text := fmt.Sprintf("waiting for a majority of the voters to say which start of this replica they know: %v", missing)
		r.waiting.Store(&member.Alarm{Kind: member.AlarmWaiting, Text: text, Advice: "start the other replicas"})
		if time.Since(told) >= startTold {
			told = time.Now()
			r.cfg.Logger.Warn("not started yet", "why", text)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(startAgain):
		}
	}
}

// askStarts asks all other voters once. missing says why there was no majority; err
// is an objection: mine is the latest that this store knows of its starts.
func (r *Replica) askStarts(ctx context.Context, voters []raft.Server, mine identity.Start, decided bool) (missing, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.pace.far(startTimeout))
	defer cancel()
	others := slices.DeleteFunc(slices.Clone(voters), func(s raft.Server) bool { return s.ID == r.id })
	answers, failures := make(chan identity.Answer, len(others)), make(chan error, len(others))
	self := r.cfg.Self
	q := identity.Question{ServerID: self.ServerID, Address: self.Address, Start: identity.StartOf(self), Decided: decided}
	for _, s := range others {
		go func() {
			if a, err := r.cfg.Peers.LastStart(ctx, string(s.Address), q); err != nil {
				failures <- fmt.Errorf("%s: %w", member.NameOf(s.ID), err)
			} else {
				answers <- a
			}
		}()
	}
	got, missing := collect(answers, failures, len(others), len(voters)/2, r.pace.far(startLaggards), cancel)
	for _, a := range got {
		if err := a.Objection(mine); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// LastStart answers another replica's question, before Raft runs here too.
func (r *Replica) LastStart(ctx context.Context, q identity.Question) (identity.Answer, error) {
	if r.cfg.Machine.View().Barred(q.ServerID) {
		return identity.Answer{Removed: true}, nil
	}
	if e := r.identity.Excluded(q.ServerID); e != nil {
		return identity.Answer{Excluded: e.At, Anew: e.Anew}, nil
	}
	a, candidates, err := r.identity.Recall(q)
	if err != nil {
		return identity.Answer{}, err
	}
	if a.ReplacedBy != "" || a.Known.After(q.Start) {
		return a, nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.pace.far(statusTimeout))
	defer cancel()
	for _, at := range candidates {
		s, err := r.cfg.Peers.Status(ctx, at)
		if err == nil && s.Self.ServerID == q.ServerID && s.Self.Start != q.Start.Token {
			a.RunsAt = at
			return a, nil
		}
	}
	return a, nil
}

// watchStarts writes down what the state says of the members, and notices when it
// says that this replica was started elsewhere.
func (r *Replica) watchStarts(ctx context.Context, n *node, twice chan<- error) {
	every := time.NewTicker(learnEvery)
	defer every.Stop()
	var asked time.Time
	for {
		select {
		case <-ctx.Done():
			r.identity.Learn()
			return
		case <-every.C:
		}
		r.identity.Learn()
		err := r.superseded()
		if err == nil && r.mayBeAlone(n, &asked) {
			_, err = r.askStarts(ctx, n.voters(), identity.StartOf(r.cfg.Self), false)
		}
		if errors.Is(err, identity.ErrRemoved) || r.cfg.Machine.View().Barred(string(r.id)) {
			r.removed()
		}
		if errors.Is(err, identity.ErrOldDisk) || errors.Is(err, identity.ErrTwice) || errors.Is(err, identity.ErrExcluded) || errors.Is(err, identity.ErrAnew) {
			select {
			case twice <- err:
			default:
			}
		}
	}
}

// mayBeAlone reports whether it is time to ask the others: a follower does when it hears of no
// leader, and a leader now and then, since the cluster may have gone on without it and those
// that follow it.
func (r *Replica) mayBeAlone(n *node, asked *time.Time) bool {
	if !n.isLeader() {
		return r.reads.age() > r.pace.far(lonely)
	}
	if time.Since(*asked) < leaderAsks {
		return false
	}
	*asked = time.Now()
	return true
}

// superseded finds out from the state itself whether another process has started on
// this disk, or a copy of it, since.
func (r *Replica) superseded() error {
	self := r.cfg.Self
	known, ok := r.cfg.Machine.View().Replica(self.Name)
	if ok && known.ServerID == self.ServerID && identity.StartOf(*known).After(identity.StartOf(self)) && known.Generation > 0 {
		return fmt.Errorf("%w: the cluster knows start %d of it, this is start %d", identity.ErrTwice, known.Generation, self.Generation)
	}
	return nil
}

// refuseExcluded answers what Raft asks here in the name of a server that the cluster went on
// without, and reports whether it did: such servers may be a quorum of the members that they know.
func (r *Replica) refuseExcluded(rpc raft.RPC) bool {
	header, ok := rpc.Command.(raft.WithRPCHeader)
	if !ok {
		return false
	}
	id := string(header.GetRPCHeader().ID)
	if r.identity.Excluded(id) == nil {
		return false
	}
	rpc.Respond(nil, fmt.Errorf("%w: %s", identity.ErrExcluded, id))
	return true
}
