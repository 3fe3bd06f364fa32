package service

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// TestCountReports_WhatPassesIsNoRefusal: full disks and lost quorums say nothing of the
// report, so nobody is woken for it.
func TestCountReports_WhatPassesIsNoRefusal(t *testing.T) {
	for code, want := range map[pbs.Code]bool{pbs.NoQuorum: true, pbs.ResourceBusy: true, pbs.Unauthorized: false, pbs.UnknownNode: false} {
		if passes(code) != want {
			t.Errorf("%d passes: %t", code, !want)
		}
	}
}

// TestCountReports_TakenAndRefused: a mom that speaks for another is refused.
func TestCountReports_TakenAndRefused(t *testing.T) {
	b := newBench(t)
	reg := prometheus.NewPedanticRegistry()
	counted := CountReports(reg, b.Report)
	ok := request(&api.FactsRequest{Host: "hosta", SpoolId: "x", Facts: []*api.Fact{{Seq: 1, Job: "1.srv", What: &api.Fact_Ended{Ended: &api.Ended{}}}}}, "")
	if _, err := counted.Facts(b.asMom("hosta"), ok); err != nil {
		t.Logf("facts of an unknown host: %v", err)
	}
	if _, err := counted.Facts(b.asMom("hostb"), ok); err == nil {
		t.Error("hostb spoke for hosta")
	}
	families, err := reg.Gather()
	if err != nil || len(families) != 1 || len(families[0].GetMetric()) != 12 {
		t.Fatalf("want all kinds and results from the start: %v, %v", families, err)
	}
	for _, m := range families[0].GetMetric() {
		kind, result := m.GetLabel()[0].GetValue(), m.GetLabel()[1].GetValue()
		if n := m.GetCounter().GetValue(); kind == kindFact && result == reportRefused && n < 1 {
			t.Errorf("%v facts refused", n)
		}
	}
}
