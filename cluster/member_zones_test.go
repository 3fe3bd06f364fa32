package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster"
)

// TestZones_AreInTheState: the zone that a replica announces, and another one with which it comes back, are in the state.
func TestZones_AreInTheState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := levelWorld(t, 1, 1, 1)
		for _, m := range w.members {
			build := m.configure
			m.configure = func(c *cluster.Config) { build(c); c.Self.Zone = "zone of " + string(m.name) }
		}
		zones := func() (n int) {
			for r := range w.leader().machine.View().Replicas() {
				if r.Zone == "zone of "+string(r.Name) {
					n++
				}
			}
			return n
		}
		for _, m := range w.members {
			m.kill()
			m.restart()
			w.until("three voters", 20*time.Second, func() bool { return w.leader() != nil && w.voters() == 3 })
		}
		w.until("zones", 10*time.Second, func() bool { return w.leader() != nil && zones() == 3 })
		w.same()
	})
}
