package command

import (
	"fmt"
	"testing"

	"rampart/fsm/pbs"
)

// In a new epoch every mom registers, and what it does not know of is given up: the jobs that
// wait are not looked at for each.
func BenchmarkHostUp_InANewEpoch(b *testing.B) {
	for _, waiting := range []int{10, 50_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			w := newWriter(b)
			w.must(&RaiseLevel{Level: LevelMembers})
			definedHost(w)
			for range waiting {
				w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}})
			}
			epoch := uint64(100)
			for b.Loop() {
				w.must(&NewEpoch{Epoch: epoch})
				w.must(&HostUp{Host: "hosta", Address: "hosta:15002", BootID: "b", SpoolID: "s", Epoch: epoch - 1})
				epoch++
			}
		})
	}
}
