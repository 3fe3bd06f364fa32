package dispatch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rampart/cluster/dispatch"
	"rampart/transport/api"
)

// TestMeter_CountsOrdersOnTheirWay: done, refused, sent again, and calls that failed.
func TestMeter_CountsOrdersOnTheirWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta", "hostb")
		all["hosta:15002"].refuse = map[uint64]*api.Refusal{1: {Code: 15010, Message: "no such user"}}
		all["hostb:15002"].down = true
		reg := prometheus.NewPedanticRegistry()
		o := options(l, all)
		o.Meter = dispatch.NewMeter(reg)
		start(t, dispatch.New(o).Run)
		l.run("hosta")
		l.run("hosta")
		l.run("hostb")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		got := map[string]float64{}
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := f.GetName()
				for _, label := range m.GetLabel() {
					name += " " + label.GetValue()
				}
				got[name] = m.GetCounter().GetValue()
			}
		}
		if got["rampart_orders_confirmed_total refused"] != 1 || got["rampart_orders_confirmed_total done"] < 1 {
			t.Errorf("confirmed: %v", got)
		}
		if got["rampart_orders_deliveries_failed_total"] < 2 || got["rampart_orders_sent_total"] < 4 {
			t.Errorf("sent: %v", got)
		}
	})
}
