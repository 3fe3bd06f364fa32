package member

import (
	"time"

	"github.com/hashicorp/raft"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// homeAfter is how long the replica that the server is named after has been well again before it leads again.
const homeAfter = 10 * time.Second

// A Home tells when leadership goes back to the replica that the server is named after, as to the primary server of a
// PBS: when that is well after it was away. To one that has handed over and stayed, it does not go back: an operator
// wanted that, or its disk or its clock.
type Home struct {
	away  bool      // it was, since the leader's term began or it was handed over to
	well  time.Time // since when it may lead again
	start string    // the start of its store that the leader has seen last
}

// NewHome returns what the state knows as a term begins: one that was started again since, however soon, was away.
func NewHome(v *state.View) Home {
	known, ok := v.Replica(pbs.ReplicaName(v.Cluster().Name))
	if !ok {
		return Home{}
	}
	return Home{start: known.Start}
}

// Due reports whether a leader hands over to the replica of a name, as its members answer now.
func (h *Home) Due(all []Answer, self raft.ServerID, name string, commit uint64, now time.Time) bool {
	for _, a := range all {
		if string(NameOf(a.Server.ID)) != name || a.Server.ID == self || !a.voter() {
			continue
		}
		if start := a.Status.Self.Start; a.Err == nil && start != h.start {
			h.away, h.start = h.away || h.start != "", start
		}
		h.away = h.away || a.Err != nil
		if !h.away || !a.MayRelieve(self, commit) {
			h.well = time.Time{}
			return false
		}
		if h.well.IsZero() {
			h.well = now
		}
		if now.Sub(h.well) < homeAfter {
			return false
		}
		h.well = time.Time{} // if it fails, after as long again
		return true
	}
	return false
}
