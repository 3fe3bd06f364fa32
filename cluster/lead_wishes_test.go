package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"rampart/cluster"
	"rampart/fsm/command"
)

// TestWishes_OfOneThatWasKilled: what is wished for the first term holds when the state is still in the log alone.
func TestWishes_OfOneThatWasKilled(t *testing.T) {
	bubble(t, 0, func(t *testing.T, w *world) {
		s1 := w.add("s1")
		s1.open(true)
		s1.run()
		w.until("the founder leads", 5*time.Second, func() bool { return w.leader() == s1 })
		w.until("the level is raised", 20*time.Second, func() bool {
			return s1.machine.View().Cluster().FeatureLevel >= command.FeatureLevel
		})
		for i := range 300 {
			mustWrite(t, s1, fmt.Sprintf("n%d", i))
		}
		s1.kill()
		name := "long"
		s1.configure = func(c *cluster.Config) { c.Rename = &name }
		s1.restart()
		w.until("it leads again", 5*time.Second, func() bool { return w.leader() == s1 })
		w.until("it goes by its new name", 5*time.Second, func() bool { return s1.machine.View().Cluster().Name == name })
	})
}
