package gossip_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rampart/cluster/gossip"
)

// TestMeter_CountsThoseWhoAreGone, and no longer when they are back.
func TestMeter_CountsThoseWhoAreGone(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarm) {
		a := s.start("a", "1", key)
		reg := prometheus.NewPedanticRegistry()
		if err := a.g.Register(reg); err != nil {
			t.Fatal(err)
		}
		want := func(alive, gone float64) {
			t.Helper()
			families, err := reg.Gather()
			if err != nil || len(families) != 1 {
				t.Fatalf("%v, %v", families, err)
			}
			for _, m := range families[0].GetMetric() {
				role, state, n := m.GetLabel()[0].GetValue(), m.GetLabel()[1].GetValue(), m.GetGauge().GetValue()
				if w := map[string]float64{"replica alive": alive, "replica gone": gone}[role+" "+state]; n != w {
					t.Errorf("%s %s: %v, want %v", role, state, n, w)
				}
			}
		}
		b := s.start("b", "1", key)
		s.until(a, gossip.Joined, "b", joinWithin)
		want(2, 0)
		b.host.Crash()
		s.stop("b")
		s.until(a, gossip.Gone, "b", 20*time.Second)
		want(1, 1)
		s.start("b", "2", key)
		s.until(a, gossip.Joined, "b", 30*time.Second)
		want(2, 0)
	})
}
