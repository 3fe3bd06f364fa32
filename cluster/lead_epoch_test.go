package cluster_test

import (
	"testing"
	"time"

	"rampart/fsm/command"
)

// TestEpoch_DutiesBeginAnew: what the duties remember is of a state that was replaced. The
// earlier ones have ended before (see work), the leader stays, and so does its term.
func TestEpoch_DutiesBeginAnew(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		lead := w.leader()
		w.until("duties", 2*time.Second, lead.working.Load)
		spells, term := lead.spells.Load(), lead.replica.Status().Term
		if _, err := lead.replica.Propose(t.Context(), command.Proposal{Commands: []command.Command{&command.NewEpoch{Epoch: 9}}}); err != nil {
			t.Fatal(err)
		}
		w.until("duties of the new epoch", 2*time.Second, func() bool { return lead.spells.Load() == spells+1 && lead.working.Load() })
		<-time.After(5 * time.Second)
		if n := lead.spells.Load(); n != spells+1 || w.leader() != lead || lead.replica.Status().Term != term {
			t.Errorf("the duties began %d times, the term is %d after %d", n-spells, lead.replica.Status().Term, term)
		}
		if err := lead.stop(nil); err != nil {
			t.Error(err)
		}
		if lead.working.Load() {
			t.Error("the duties go on after the end")
		}
	})
}
