package command

import (
	"testing"
	"time"

	"rampart/fsm/pbs"
)

// In a new epoch every mom registers, and what it does not know of is given up: the jobs that
// wait are not looked at for each.
func TestHostUp_InANewEpochLooksAtRunsOnly(t *testing.T) {
	took := func(waiting int) time.Duration {
		w := newWriter(t)
		w.must(&RaiseLevel{Level: LevelMembers})
		definedHost(w)
		for range waiting {
			w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}})
		}
		best := time.Hour
		for epoch := range uint64(10) {
			w.must(&NewEpoch{Epoch: epoch + 100})
			began := time.Now()
			w.must(&HostUp{Host: "hosta", Address: "hosta:15002", BootID: "b", SpoolID: "s", Epoch: epoch + 99})
			best = min(best, time.Since(began))
		}
		return best
	}
	if few, many := took(10), took(5_000); many > 10*few {
		t.Errorf("a registration takes %s with 10 jobs that wait, and %s with 5,000", few, many)
	}
}
