package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster"
	"rampart/fsm/command"
)

// TestZones_AreInTheStateFromTheirLevelOn: an earlier build would stop at a zone in the log.
func TestZones_AreInTheStateFromTheirLevelOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := levelWorld(t, command.LevelMembers-1, command.LevelMembers-1, command.LevelMembers-1)
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
		restart := func(m *server) {
			m.kill()
			m.restart()
			w.until("three voters", 20*time.Second, func() bool { return w.leader() != nil && w.voters() == 3 })
			<-time.After(3 * time.Second)
		}
		for _, m := range w.members {
			restart(m)
			if zones() != 0 {
				t.Fatal("a zone is in the state below its level")
			}
		}
		for _, m := range w.members {
			m.configure = func(c *cluster.Config) { c.Self.Zone = "zone of " + string(m.name) }
			restart(m)
		}
		w.until("zones", 10*time.Second, func() bool { return w.leader() != nil && zones() == 3 })
		w.same()
	})
}
