package identity

import (
	"slices"
	"time"

	"rampart/fsm/state"
)

// An Exclusion is a server that the cluster went on without.
type Exclusion struct {
	ServerID string    `json:"server"`
	Anew     bool      `json:"anew,omitempty"` // it was there, and is to begin anew
	At       time.Time `json:"at"`
}

// exclusionsKept is how many such servers are remembered.
const exclusionsKept = 64

// exclude notes whom a recovery left behind, and reports whether that was news.
func (k *knowledge) exclude(by state.Recovery, at time.Time) bool {
	news := false
	note := func(ids []string, anew bool) {
		for _, id := range ids {
			if exclusion(k.Excluded, id) == nil {
				k.Excluded, news = append(k.Excluded, Exclusion{id, anew, at}), true
			}
		}
	}
	note(by.Lost, false)
	note(by.Anew, true)
	k.Excluded = k.Excluded[max(0, len(k.Excluded)-exclusionsKept):]
	return news
}

func exclusion(all []Exclusion, id string) *Exclusion {
	if i := slices.IndexFunc(all, func(e Exclusion) bool { return e.ServerID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Exclude writes down whom a recovery left behind.
func (r *Record) Exclude(by state.Recovery, at time.Time) error {
	r.turn.take()
	defer r.turn.give()
	r.known.exclude(by, at)
	r.publish()
	return r.store.Save(keyKnown, r.known)
}

// publish lets Excluded see what is known without waiting for a turn: that is held while the
// disk is written, and each heartbeat asks.
func (r *Record) publish() {
	all := slices.Clone(r.known.Excluded)
	r.excluded.Store(&all)
}

// Excluded returns what the state or this disk knows of a server that the cluster went on
// without, nil if it did not.
func (r *Record) Excluded(id string) *Exclusion {
	if by := r.view().RecoveryWithout(id); by != nil {
		return &Exclusion{ServerID: id, Anew: !slices.Contains(by.Lost, id), At: time.Unix(0, int64(by.At))}
	}
	return exclusion(*r.excluded.Load(), id)
}
