package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/cluster/store"
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

// A StartQuestion is what a voter asks the others before its Raft starts.
type StartQuestion struct {
	ServerID string // its own
	Address  string // where it answers
	Start    Start  // that it is about to make
	Decided  bool   // nobody objected and its disk knows of it: remember it
}

// A StartAnswer is what another replica knows of the asking server.
type StartAnswer struct {
	Known      Start  // the latest start of it; zero: none
	ReplacedBy string // the server that took its place; empty: none did
	RunsAt     string // where another process answers under its id; empty: nowhere
	Removed    bool   // somebody has removed it from the cluster
	// Parted is when the cluster went on without it, after the loss of a majority, and Anew
	// whether it was there then; zero: it did not.
	Parted time.Time
	Anew   bool
}

// checkStart asks the other voters whether the cluster knows a later start of this
// store than the store itself does, and whether another process runs with a copy of
// it. When a majority of the voters, this one included, has nothing against it, the
// start is written to the disk, and then told to a majority: from then on a copy of
// the disk as it was is an old one. An error that wraps ErrOldDisk or ErrTwice is
// final; a start that was refused does not count.
func (r *Replica) checkStart(ctx context.Context) error {
	voters := slices.DeleteFunc(slices.Clone(r.members.Servers), func(s raft.Server) bool { return s.Suffrage != raft.Voter })
	this := startOf(r.cfg.Self)
	if !slices.ContainsFunc(voters, func(s raft.Server) bool { return s.ID == r.id }) {
		voters = nil // it has no promise to break, and nobody to ask
	}
	defer r.waiting.Store(nil)
	if err := r.settleStart(ctx, voters, r.began, false); err != nil {
		return err
	}
	if err := r.store.Save(keyStart, this); err != nil {
		return err
	}
	return r.settleStart(ctx, voters, this, true)
}

// settleStart asks until a majority has answered without an objection.
func (r *Replica) settleStart(ctx context.Context, voters []raft.Server, mine Start, decided bool) error {
	var told time.Time
	for {
		missing, err := r.askStarts(ctx, voters, mine, decided)
		if errors.Is(err, ErrRemoved) {
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
func (r *Replica) askStarts(ctx context.Context, voters []raft.Server, mine Start, decided bool) (missing, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.far(startTimeout))
	defer cancel()
	others := slices.DeleteFunc(slices.Clone(voters), func(s raft.Server) bool { return s.ID == r.id })
	answers, failures := make(chan StartAnswer, len(others)), make(chan error, len(others))
	self := r.cfg.Self
	q := StartQuestion{ServerID: self.ServerID, Address: self.Address, Start: startOf(self), Decided: decided}
	for _, s := range others {
		go func() {
			if a, err := r.cfg.Peers.LastStart(ctx, string(s.Address), q); err != nil {
				failures <- fmt.Errorf("%s: %w", member.NameOf(s.ID), err)
			} else {
				answers <- a
			}
		}()
	}
	got, missing := collect(answers, failures, len(others), len(voters)/2, r.far(startLaggards), cancel)
	for _, a := range got {
		if err := a.objection(mine); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// objection says why a store that knows of its starts up to mine must not be used.
func (a StartAnswer) objection(mine Start) error {
	switch {
	case a.Removed:
		return ErrRemoved
	case !a.Parted.IsZero():
		return partedError(a.Parted, a.Anew)
	case a.ReplacedBy != "":
		return fmt.Errorf("%w: server %s has taken the place of this one", ErrOldDisk, a.ReplacedBy)
	case a.RunsAt != "":
		return fmt.Errorf("%w: it answers at %s", ErrTwice, a.RunsAt)
	case a.Known.Generation > 0 && a.Known.after(mine):
		return fmt.Errorf("%w: the cluster knows start %d of it, the disk only start %d", ErrOldDisk, a.Known.Generation, mine.Generation)
	}
	return nil
}

// LastStart answers another replica's question, before Raft runs here too.
func (r *Replica) LastStart(ctx context.Context, q StartQuestion) (StartAnswer, error) {
	if r.cfg.Machine.View().Barred(q.ServerID) {
		return StartAnswer{Removed: true}, nil
	}
	if p := r.separated(q.ServerID); p != nil {
		return StartAnswer{Parted: p.At, Anew: p.Anew}, nil
	}
	a, candidates, err := r.recall(q)
	if err != nil {
		return StartAnswer{}, err
	}
	if a.ReplacedBy != "" || a.Known.after(q.Start) {
		return a, nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.far(statusTimeout))
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

// recall returns what is known of the server, and where processes of its id may run;
// a start that was decided is on the disk when it returns.
func (r *Replica) recall(q StartQuestion) (a StartAnswer, candidates []string, err error) {
	r.knowing.take()
	defer r.knowing.give()
	r.learnLocked()
	if last, ok := r.asked[q.ServerID]; ok && last.Start.Token != q.Start.Token {
		candidates = append(candidates, last.Address)
	}
	r.asked[q.ServerID] = q
	name := member.NameOf(raft.ServerID(q.ServerID))
	k, ok := r.known.Members[name]
	switch {
	case !ok:
	case k.ServerID == q.ServerID:
		a.Known = k.Start
		candidates = append(candidates, k.Address)
	case slices.Contains(k.Gone, q.ServerID):
		a.ReplacedBy = k.ServerID
	}
	if q.Decided && a.ReplacedBy == "" && !a.Known.after(q.Start) && (!ok || k.ServerID == q.ServerID) {
		r.known.Members[name] = known{ServerID: q.ServerID, Address: q.Address, Start: q.Start, Gone: k.Gone}
		if err := r.store.Save(keyKnown, r.known); err != nil {
			return a, nil, err
		}
	}
	slices.Sort(candidates)
	return a, slices.Compact(candidates), nil
}

// replaced returns the server that has taken the place of this one, "" if none has.
func (r *Replica) replaced(joined state.Replica) string {
	r.knowing.take()
	defer r.knowing.give()
	r.learnLocked()
	if k := r.known.Members[joined.Name]; slices.Contains(k.Gone, joined.ServerID) {
		return k.ServerID
	}
	return ""
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
			r.learn()
			return
		case <-every.C:
		}
		r.learn()
		err := r.superseded()
		if err == nil && r.mayBeAlone(n, &asked) {
			_, err = r.askStarts(ctx, n.voters(), startOf(r.cfg.Self), false)
		}
		if errors.Is(err, ErrRemoved) || r.cfg.Machine.View().Barred(string(r.id)) {
			r.removed()
		}
		if errors.Is(err, ErrOldDisk) || errors.Is(err, ErrTwice) || errors.Is(err, ErrParted) || errors.Is(err, errAnew) {
			select {
			case twice <- err:
			default:
			}
		}
	}
}

// mayBeAlone tells whether it is time to ask the others: a follower does when it hears of no
// leader, and a leader now and then, since the cluster may have gone on without it and those
// that follow it.
func (r *Replica) mayBeAlone(n *node, asked *time.Time) bool {
	if !n.isLeader() {
		return r.Age() > r.far(lonely)
	}
	if time.Since(*asked) < leaderAsks {
		return false
	}
	*asked = time.Now()
	return true
}

// turn is who may look at and write down what is known. It is no mutex since it is held over
// writes, and a store may take its time.
type turn chan struct{}

func (t turn) take() { t <- struct{}{} }
func (t turn) give() { <-t }

func (r *Replica) learn() {
	r.knowing.take()
	defer r.knowing.give()
	r.learnLocked()
}

// learnLocked writes down what is news, since it is news only once.
func (r *Replica) learnLocked() {
	if !r.known.learn(r.cfg.Machine.View()) {
		return
	}
	r.publishParted()
	if err := r.store.Save(keyKnown, r.known); err != nil && !errors.Is(err, store.ErrFailed) {
		r.cfg.Logger.Warn("cannot write down who the members are", "err", err)
	}
}

// superseded tells from the state itself whether another process has started on
// this disk, or a copy of it, since.
func (r *Replica) superseded() error {
	self := r.cfg.Self
	known, ok := r.cfg.Machine.View().Replica(self.Name)
	if ok && known.ServerID == self.ServerID && startOf(*known).after(startOf(self)) && known.Generation > 0 {
		return fmt.Errorf("%w: the cluster knows start %d of it, this is start %d", ErrTwice, known.Generation, self.Generation)
	}
	return nil
}
