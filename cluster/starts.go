package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/identity"
	"rampart/cluster/member"
	"rampart/fsm/command"
	"rampart/fsm/state"
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

// starts minds that this store takes part once, and that no older copy of it does (package identity
// has the rules): it asks the others before Raft starts and now and then afterwards, and answers them.
type starts struct {
	self     state.Replica
	identity *identity.Record
	raft     *localRaft
	machine  viewer
	peers    Peers
	pace     pace
	age      func() time.Duration // since the leader was heard of
	logger   *slog.Logger

	gone    atomic.Pointer[member.Alarm] // that this replica was removed
	waiting atomic.Pointer[member.Alarm] // for the others, before Raft starts
}

// check asks the other voters whether the cluster knows a later start of this
// store than the store itself does, and whether another process runs with a copy of
// it. When a majority of the voters, this one included, has nothing against it, the
// start is written to the disk, and then told to a majority: from then on a copy of
// the disk as it was is an old one. An error that wraps identity.ErrOldDisk or identity.ErrTwice is
// final; a start that was refused does not count.
func (s *starts) check(ctx context.Context) error {
	voters := slices.DeleteFunc(slices.Clone(s.raft.known), func(v raft.Server) bool { return v.Suffrage != raft.Voter })
	this := identity.StartOf(s.self)
	if !slices.ContainsFunc(voters, func(v raft.Server) bool { return v.ID == s.raft.id }) {
		voters = nil // it has no promise to break, and nobody to ask
	}
	defer s.waiting.Store(nil)
	if err := s.settle(ctx, voters, s.identity.Last(), false); err != nil {
		return err
	}
	if err := s.identity.Begin(this); err != nil {
		return err
	}
	return s.settle(ctx, voters, this, true)
}

// settle asks until a majority has answered without an objection.
func (s *starts) settle(ctx context.Context, voters []raft.Server, mine identity.Start, decided bool) error {
	var told time.Time
	for {
		missing, err := s.ask(ctx, voters, mine, decided)
		if errors.Is(err, identity.ErrRemoved) {
			s.wasRemoved()
			<-ctx.Done()
			return ctx.Err()
		}
		if err != nil || missing == nil {
			return err
		}
		text := fmt.Sprintf("waiting for a majority of the voters to say which start of this replica they know: %v", missing)
		s.waiting.Store(&member.Alarm{Kind: member.AlarmWaiting, Text: text, Advice: "start the other replicas"})
		if time.Since(told) >= startTold {
			told = time.Now()
			s.logger.Warn("not started yet", "why", text)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(startAgain):
		}
	}
}

// ask asks all other voters once. missing says why there was no majority; err
// is an objection: mine is the latest that this store knows of its starts.
func (s *starts) ask(ctx context.Context, voters []raft.Server, mine identity.Start, decided bool) (missing, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.pace.far(startTimeout))
	defer cancel()
	others := slices.DeleteFunc(slices.Clone(voters), func(v raft.Server) bool { return v.ID == s.raft.id })
	answers, failures := make(chan identity.Answer, len(others)), make(chan error, len(others))
	q := identity.Question{ServerID: s.self.ServerID, Address: s.self.Address, Start: identity.StartOf(s.self), Decided: decided}
	for _, v := range others {
		go func() {
			if a, err := s.peers.LastStart(ctx, string(v.Address), q); err != nil {
				failures <- fmt.Errorf("%s: %w", member.NameOf(v.ID), err)
			} else {
				answers <- a
			}
		}()
	}
	got, missing := collect(answers, failures, len(others), len(voters)/2, s.pace.far(startLaggards), cancel)
	for _, a := range got {
		if err := a.Objection(mine); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// last answers another replica's question, before Raft runs here too.
func (s *starts) last(ctx context.Context, q identity.Question) (identity.Answer, error) {
	if s.machine.View().Barred(q.ServerID) {
		return identity.Answer{Removed: true}, nil
	}
	if e := s.identity.Excluded(q.ServerID); e != nil {
		return identity.Answer{Excluded: e.At, Anew: e.Anew}, nil
	}
	a, candidates, err := s.identity.Recall(q)
	if err != nil {
		return identity.Answer{}, err
	}
	if a.ReplacedBy != "" || a.Known.After(q.Start) {
		return a, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.pace.far(statusTimeout))
	defer cancel()
	for _, at := range candidates {
		there, err := s.peers.Status(ctx, at)
		if err == nil && there.Self.ServerID == q.ServerID && there.Self.Start != q.Start.Token {
			a.RunsAt = at
			return a, nil
		}
	}
	return a, nil
}

// watch writes down what the state says of the members, and notices when it
// says that this replica was started elsewhere.
func (s *starts) watch(ctx context.Context, n *node, twice chan<- error) {
	every := time.NewTicker(learnEvery)
	defer every.Stop()
	var asked time.Time
	for {
		select {
		case <-ctx.Done():
			s.identity.Learn()
			return
		case <-every.C:
		}
		s.identity.Learn()
		err := s.superseded()
		if err == nil && s.mayBeAlone(n, &asked) {
			_, err = s.ask(ctx, n.voters(), identity.StartOf(s.self), false)
		}
		if errors.Is(err, identity.ErrRemoved) || s.machine.View().Barred(string(s.raft.id)) {
			s.wasRemoved()
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
func (s *starts) mayBeAlone(n *node, asked *time.Time) bool {
	if !n.isLeader() {
		return s.age() > s.pace.far(lonely)
	}
	if time.Since(*asked) < leaderAsks {
		return false
	}
	*asked = time.Now()
	return true
}

// superseded finds out from the state itself whether another process has started on
// this disk, or a copy of it, since.
func (s *starts) superseded() error {
	self := s.self
	known, ok := s.machine.View().Replica(self.Name)
	if ok && known.ServerID == self.ServerID && identity.StartOf(*known).After(identity.StartOf(self)) && known.Generation > 0 {
		return fmt.Errorf("%w: the cluster knows start %d of it, this is start %d", identity.ErrTwice, known.Generation, self.Generation)
	}
	return nil
}

// refuse answers what Raft asks here in the name of a server that the cluster went on
// without, and reports whether it did: such servers may be a quorum of the members that they know.
func (s *starts) refuse(rpc raft.RPC) bool {
	header, ok := rpc.Command.(raft.WithRPCHeader)
	if !ok {
		return false
	}
	id := string(header.GetRPCHeader().ID)
	if s.identity.Excluded(id) == nil {
		return false
	}
	rpc.Respond(nil, fmt.Errorf("%w: %s", identity.ErrExcluded, id))
	return true
}

// removed reports whether this replica is no member any more.
func (s *starts) removed() bool { return s.gone.Load() != nil }

// wasRemoved notes, once, that this replica is no member any more. It keeps answering, so
// that whoever looks is told why.
func (s *starts) wasRemoved() {
	a := &member.Alarm{
		Kind: member.AlarmRemoved, Text: identity.ErrRemoved.Error(),
		Advice: "stop it; to take its host in again, empty its home and join with a new token: rampart token create --role replica --host " + string(s.self.Name),
	}
	if s.gone.Swap(a) == nil {
		s.logger.Error("no member any more", "why", a.Text, "advice", a.Advice)
	}
}

// checkLevel refuses to start a build that the cluster, as this disk knows it, has
// left behind.
func (s *starts) checkLevel() error {
	if known := s.identity.Level(); known > s.self.FeatureLevel {
		return fmt.Errorf("%w: it is at feature level %d, this build knows %d", command.ErrTooOld, known, s.self.FeatureLevel)
	}
	return nil
}
