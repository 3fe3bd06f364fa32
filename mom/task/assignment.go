package task

import (
	"maps"
	"slices"

	"rampart/fsm/pbs"
)

// A MemberState is how a sister stands to the present assignment, at its mother superior. The numbers are in
// records on disk.
type MemberState uint8

// The states of a sister.
const (
	MemberInformed MemberState = iota // it keeps vnodes, and knows the assignment
	MemberUntold                      // it keeps vnodes, and does not know the assignment yet
	MemberLeaving                     // it is released, and its part is not over
	MemberReported                    // nor then, but what it has used is known
	MemberLeft                        // it has left the run
)

// String returns the state as a word.
func (s MemberState) String() string {
	return nameOf([]string{
		MemberInformed: "informed", MemberUntold: "untold", MemberLeaving: "leaving", MemberReported: "reported", MemberLeft: "left",
	}, s)
}

// Events of a sister's standing.
const (
	keepsWord    word = "keeps vnodes"
	releasedWord word = "released"
	updatedWord  word = "told"
	usedWord     word = "has said what it used"
	partOverWord word = "its part is over"
)

var memberships = table[MemberState]{
	{MemberInformed, keepsWord, MemberUntold},
	{MemberInformed, releasedWord, MemberLeaving},
	{MemberUntold, updatedWord, MemberInformed},
	{MemberUntold, releasedWord, MemberLeaving},
	{MemberLeaving, usedWord, MemberReported},
	{MemberLeaving, partOverWord, MemberLeft},
	{MemberReported, partOverWord, MemberLeft},
}

// An Assignment records which hosts of a run still have vnodes after releases, and which of them have been told.
type Assignment struct {
	Number uint64 `json:"number,omitempty"` // of the last order about it
	// Keep are the hosts that keep vnodes, nil for all; Former, while that may be withdrawn, those that
	// kept some before.
	Keep   []pbs.HostName `json:"keep,omitempty"`
	Former []pbs.HostName `json:"former,omitempty"`
	// Members is, of a mother superior, how the sisters stand that are not just informed.
	Members map[pbs.HostName]MemberState `json:"members,omitempty"`
	// Fitted is the last order whose assignment hooks have seen, of a mother superior before its program,
	// and Refusal why a sister's have refused it.
	Fitted  uint64 `json:"fitted,omitempty"`
	Refusal string `json:"refusal,omitempty"`
}

// keeps reports whether a host has vnodes.
func (a Assignment) keeps(host pbs.HostName) bool {
	return a.Keep == nil || slices.Contains(a.Keep, host)
}

// stays reports whether a host takes part in the run: it keeps vnodes, or its release may still be
// withdrawn.
func (a Assignment) stays(host pbs.HostName) bool {
	return a.keeps(host) || slices.Contains(a.Former, host)
}

// asked puts an assignment in force that may be withdrawn. Of several it is the first that would come back.
func (a Assignment) asked(ev Assign, hosts []Host) Assignment {
	former := a.Former
	for _, h := range hosts {
		if a.Former == nil && a.keeps(h.Name) {
			former = append(former, h.Name)
		}
	}
	a = a.set(ev)
	a.Former = former
	return a
}

// set puts an assignment in force.
func (a Assignment) set(ev Assign) Assignment {
	a.Number, a.Keep, a.Former = ev.Number, ev.Hosts, nil
	return a
}

// done puts an assignment in force of which the sisters are to be told.
func (a Assignment) done(ev Assign, sisters []Host) Assignment {
	a = a.set(ev)
	return a.edit(func(tell func(pbs.HostName, word) bool) {
		for _, h := range sisters {
			on := releasedWord
			if a.keeps(h.Name) {
				on = keepsWord
			}
			tell(h.Name, on)
		}
	})
}

// edit changes how sisters stand; tell reports whether a word means something for one.
func (a Assignment) edit(do func(tell func(host pbs.HostName, on word) bool)) Assignment {
	all := make(map[pbs.HostName]MemberState, len(a.Members))
	maps.Copy(all, a.Members)
	do(func(host pbs.HostName, on word) bool {
		next, ok := memberships.after(all[host], on)
		if all[host] = next; next == MemberInformed {
			delete(all, host)
		}
		return ok
	})
	if len(all) == 0 {
		all = nil
	}
	a.Members = all
	return a
}

// take takes the answers of sisters, and returns what the sisters with a new answer have used.
func (a Assignment) take(ev SistersTold) (Assignment, map[pbs.HostName]Share) {
	shares := make(map[pbs.HostName]Share, len(ev.Left)+len(ev.Reported))
	note := func(tell func(pbs.HostName, word) bool, said map[pbs.HostName]Share, on word) {
		for host, share := range said {
			if tell(host, on) {
				shares[host] = share
			}
		}
	}
	a = a.edit(func(tell func(pbs.HostName, word) bool) {
		note(tell, ev.Left, partOverWord)
		note(tell, ev.Reported, usedWord)
		for host, n := range ev.Told {
			if n >= a.Number {
				tell(host, updatedWord)
			}
		}
	})
	return a, shares
}

// fitted notes that the hooks have seen the present assignment.
func (a Assignment) fitted(ev Fitted) Assignment {
	if ev.Number > a.Fitted && ev.Number == a.Number {
		a.Fitted, a.Refusal = ev.Number, ev.Refusal
	}
	return a
}

// fits reports whether the hooks have seen the assignment of an order, or a later one.
func (a Assignment) Fits(number uint64) bool { return a.Fitted >= number }

// leaving reports whether a sister is released, and its part is not over.
func (a Assignment) leaving(host pbs.HostName) bool {
	s := a.Members[host]
	return s == MemberLeaving || s == MemberReported
}

// owes reports whether a sister is to be told what became of its part, or to be heard of.
func (a Assignment) owes(host pbs.HostName) bool {
	return a.leaving(host) || a.Members[host] == MemberUntold
}

// open reports whether sisters are still to be told what became of their parts, or to be heard of.
func (a Assignment) open() bool { return a.any(MemberUntold, MemberLeaving, MemberReported) }

// untold reports whether sisters that stay do not know the assignment yet.
func (a Assignment) untold() bool { return a.any(MemberUntold) }

// any reports whether some sister stands so.
func (a Assignment) any(states ...MemberState) bool {
	for _, s := range a.Members {
		if slices.Contains(states, s) {
			return true
		}
	}
	return false
}

// released reports whether hosts have left the run, or are about to.
func (a Assignment) Released() bool { return a.any(MemberLeaving, MemberReported, MemberLeft) }

// In returns the sisters that stand so, in the order of their names.
func (a Assignment) In(states ...MemberState) []pbs.HostName {
	var all []pbs.HostName
	for host, s := range a.Members {
		if slices.Contains(states, s) {
			all = append(all, host)
		}
	}
	slices.Sort(all)
	return all
}
