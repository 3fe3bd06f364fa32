package member

import (
	"maps"
	"time"

	"github.com/hashicorp/raft"

	"rampart/fsm/state"
)

// A Roll is what a leader has seen of the members in its term.
type Roll struct {
	caughtUp map[raft.ServerID]time.Time // non-voters, since when
	marks    map[raft.ServerID]uint64    // non-voters: up to where they must have the large scripts
	silent   map[raft.ServerID]time.Time // voters, since when
	leaving  map[string]time.Time        // removals that are not done, since when
	said     map[string]time.Time        // what went wrong, and when that was logged
}

// NewRoll returns the roll of a new term.
func NewRoll() *Roll {
	return &Roll{
		caughtUp: make(map[raft.ServerID]time.Time), silent: make(map[raft.ServerID]time.Time), leaving: make(map[string]time.Time),
		said: make(map[string]time.Time), marks: make(map[raft.ServerID]uint64),
	}
}

// sayAgain is how often a leader repeats what keeps it from looking after the members.
const sayAgain = time.Minute

// News reports whether a failure is to be logged: it may come up twice a second.
func (k *Roll) News(err error, now time.Time) bool {
	maps.DeleteFunc(k.said, func(_ string, at time.Time) bool { return now.Sub(at) >= sayAgain })
	if _, known := k.said[err.Error()]; known {
		return false
	}
	k.said[err.Error()] = now
	return true
}

// Call notes which voters answer.
func (k *Roll) Call(all []Answer, now time.Time) {
	was := k.silent
	k.silent = make(map[raft.ServerID]time.Time)
	for _, a := range all {
		if !a.voter() || a.Err == nil && a.Status.Term > 0 {
			continue
		}
		since, ok := was[a.Server.ID]
		if !ok {
			since = now
		}
		k.silent[a.Server.ID] = since
	}
}

// Silent returns since when a voter has not answered; not ok if it does.
func (k *Roll) Silent(id raft.ServerID) (since time.Time, ok bool) {
	since, ok = k.silent[id]
	return since, ok
}

// Stable notes whether a server is caught up, and reports whether it has been for long enough to
// be given a vote.
func (k *Roll) Stable(id raft.ServerID, caughtUp bool, now time.Time, enough time.Duration) bool {
	if !caughtUp {
		delete(k.caughtUp, id)
		return false
	}
	since, ok := k.caughtUp[id]
	if !ok {
		k.caughtUp[id] = now
		return false
	}
	return now.Sub(since) >= enough
}

// Whole reports whether a server that is stable has the large scripts that were named when it was first asked
// about. What is named later it shows when nothing is named any more, just before its vote.
func (k *Roll) Whole(a Answer, commit uint64) bool {
	mark, ok := k.marks[a.Server.ID]
	if !ok {
		mark = commit
		k.marks[a.Server.ID] = mark
	}
	return a.Status.Scripts.Whole(mark)
}

// Again has all who are not voters show anew that they are fit to be.
func (k *Roll) Again() {
	clear(k.caughtUp)
	clear(k.marks)
}

// Forget drops what was noted of a server that was not a voter.
func (k *Roll) Forget(id raft.ServerID) {
	delete(k.caughtUp, id)
	delete(k.marks, id)
}

// Leaves returns when this leader first saw the removal of a server on record, which is now if it has not seen it before.
func (k *Roll) Leaves(serverID string, now time.Time) (since time.Time) {
	if _, ok := k.leaving[serverID]; !ok {
		k.leaving[serverID] = now
	}
	return k.leaving[serverID]
}

// Dead returns the voter that has been silent for longest of those whose place nobody takes;
// wait is set when one may be back in a moment, since it has been silent for less than after.
func (k *Roll) Dead(v *state.View, now time.Time, after time.Duration) (id raft.ServerID, wait bool) {
	var first time.Time
	for s, since := range k.silent {
		if x, ok := v.Removal(string(s)); ok && x.Left == 0 {
			continue
		}
		if id == "" || since.Before(first) || since.Equal(first) && s < id {
			id, first = s, since
		}
	}
	if id != "" && now.Sub(first) < after {
		return "", true
	}
	return id, false
}
