package identity

import (
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/cluster/store"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A Record is what a disk knows of its server and of all members before the state is there.
type Record struct {
	store  *store.Store
	view   func() *state.View
	logger *slog.Logger
	id     raft.ServerID
	last   Start

	turn  turn
	known knowledge
	asked map[string]Question // by server, who asked last and was not refused

	excluded atomic.Pointer[[]Exclusion] // known.Excluded, for those who must not wait for a turn
}

// knowledge is the part of a record that one key of the stable store has: the starts of all
// members, of which it is asked, and what a start needs of the cluster.
type knowledge struct {
	Members  map[pbs.ReplicaName]known `json:"members"`
	Level    uint32                    `json:"level"`
	Class    pbs.RTTClass              `json:"class,omitempty"`
	Excluded []Exclusion               `json:"excluded,omitempty"` // the latest exclusionsKept
}

type known struct {
	ServerID string   `json:"server"`
	Address  string   `json:"address"`
	Start    Start    `json:"start"`
	Gone     []string `json:"gone,omitempty"` // ids that others have replaced, the latest goneKept
	// Index is the entry after which the state said so; 0: the server has told it, and the state may not know of it yet.
	Index uint64 `json:"index,omitempty"`
}

const goneKept = 16

// turn lets one goroutine at a time read and write down what is known. It is no mutex since it is
// held over writes, and a store may take its time.
type turn chan struct{}

func (t turn) take() { t <- struct{}{} }
func (t turn) give() { <-t }

// Open reads the record of a store, and makes the id of its server if it is empty.
// What it learns later it takes from view.
func Open(s *store.Store, name pbs.ReplicaName, view func() *state.View, logger *slog.Logger) (*Record, error) {
	r := &Record{store: s, view: view, logger: logger, turn: make(turn, 1), asked: make(map[string]Question)}
	var err error
	if r.id, err = serverID(s, name); err != nil {
		return nil, err
	}
	if err := s.Load(keyStart, &r.last); err != nil {
		return nil, err
	}
	if err := s.Load(keyKnown, &r.known); err != nil {
		return nil, err
	}
	if r.known.Members == nil {
		r.known.Members = make(map[pbs.ReplicaName]known)
	}
	r.publish()
	return r, nil
}

// ID returns the id of the server: NAME.DISKID.
func (r *Record) ID() raft.ServerID { return r.id }

// Last returns the last start that the store knew when it was opened.
func (r *Record) Last() Start { return r.last }

// Begin writes a start to the store.
func (r *Record) Begin(s Start) error { return r.store.Save(keyStart, s) }

// Level returns the highest feature level that the cluster is known to have had.
func (r *Record) Level() uint32 {
	r.turn.take()
	defer r.turn.give()
	return r.known.Level
}

// Class returns the class of round-trip times that the cluster is known to have; empty: none is.
func (r *Record) Class() pbs.RTTClass {
	r.turn.take()
	defer r.turn.give()
	return r.known.Class
}

// Learn writes down what the state says of the members.
func (r *Record) Learn() {
	r.turn.take()
	defer r.turn.give()
	r.learnLocked()
}

// learnLocked writes down what is news, since it is news only once.
func (r *Record) learnLocked() {
	if !r.known.learn(r.view()) {
		return
	}
	r.publish()
	if err := r.store.Save(keyKnown, r.known); err != nil && !errors.Is(err, store.ErrFailed) {
		r.logger.Warn("cannot write down who the members are", "err", err)
	}
}

// learn takes over what the state says, and reports whether that was news.
func (k *knowledge) learn(v *state.View) bool {
	news := v.Cluster().FeatureLevel > k.Level
	k.Level = max(k.Level, v.Cluster().FeatureLevel)
	if class := v.Cluster().RTTClass; class != "" && class != k.Class {
		k.Class, news = class, true
	}
	for _, past := range slices.Backward(v.Cluster().Recoveries) {
		news = k.exclude(past, time.Unix(0, int64(past.At))) || news
	}
	for r := range v.Replicas() {
		if r.ServerID == "" {
			continue
		}
		old := k.Members[r.Name]
		now := known{ServerID: r.ServerID, Address: r.Address, Start: StartOf(*r), Gone: old.Gone, Index: v.Index()}
		same := old.ServerID == now.ServerID
		if same && old.Address == now.Address && old.Start == now.Start && old.Index != 0 {
			continue
		}
		if same && old.Start.Generation > now.Start.Generation || !same && v.Index() < old.Index || slices.Contains(old.Gone, now.ServerID) || exclusion(k.Excluded, now.ServerID) != nil {
			continue // a state that is still catching up
		}
		if old.Index != 0 && !same { // of what the state has not said yet, what it says may be the past
			now.Gone = append(slices.Clone(old.Gone), old.ServerID)
			now.Gone = now.Gone[max(0, len(now.Gone)-goneKept):]
		}
		k.Members[r.Name], news = now, true
	}
	return news
}

// Recall returns what is known of the server that asks, and where processes of its id may run;
// a start that was decided is on the disk when it returns.
func (r *Record) Recall(q Question) (a Answer, candidates []string, err error) {
	r.turn.take()
	defer r.turn.give()
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
	if q.Decided && a.ReplacedBy == "" && !a.Known.After(q.Start) && (!ok || k.ServerID == q.ServerID) {
		r.known.Members[name] = known{ServerID: q.ServerID, Address: q.Address, Start: q.Start, Gone: k.Gone, Index: k.Index}
		if err := r.store.Save(keyKnown, r.known); err != nil {
			return a, nil, err
		}
	}
	slices.Sort(candidates)
	return a, slices.Compact(candidates), nil
}

// Replaced returns the server that has taken the place of another one, "" if none has.
func (r *Record) Replaced(joined state.Replica) string {
	r.turn.take()
	defer r.turn.give()
	r.learnLocked()
	if k := r.known.Members[joined.Name]; slices.Contains(k.Gone, joined.ServerID) {
		return k.ServerID
	}
	return ""
}
