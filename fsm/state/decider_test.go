package state

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// TestDecider: a new reservation is looked at by all schedulers that plan, the default one first, and when the others do not plan any
// more once again by that one, which denies it for all.
func TestDecider(t *testing.T) {
	s := NewStore()
	s.Begin(1, 1, 1)
	sc1 := Scheduler{Name: "sc1", Started: true, Attrs: attr.List{}.Set("scheduling", "", "True").Set("partition", "", "P1")}
	for _, c := range []struct {
		denied  []string
		started bool
		want    string
		more    bool // if the one that is wanted denies it
	}{
		{nil, true, "default", true},
		{[]string{"default"}, true, "sc1", false},
		{[]string{"default"}, false, "default", false},
		{nil, false, "default", false},
	} {
		tx := s.Tx()
		sc1.Started = c.started
		server := *tx.Server()
		server.Scheds = []Scheduler{sc1}
		tx.PutServer(&server)
		s.Commit(tx)
		v := s.Publish()
		r := &Reservation{State: pbs.ResvUnconfirmed, Denied: c.denied}
		if got := v.Decider(r); got != c.want {
			t.Errorf("denied by %v, sc1 plans %v: %q decides, want %s", c.denied, c.started, got, c.want)
		}
		if _, more := v.Deniers(r, c.want); more != c.more {
			t.Errorf("denied by %v, sc1 plans %v: others may have vnodes: %v", c.denied, c.started, more)
		}
	}
}
