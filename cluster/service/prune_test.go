package service

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

// A pruning that is asked again after its leader died is answered as it would have been then, also when it is done (L8).
func TestPrune_AskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStartingJob(t)
		req := &api.PruneRequest{Job: w.id, RunCount: 1, Vnodes: []string{"hostb"}}
		id := pbs.RequestID(transport.NewRequestID())
		ctx, die := context.WithCancel(w.asMom("hosta"))
		first := asked(func() error { _, err := w.Report.Prune(ctx, request(req, id)); return err })
		die() // the leader
		if err := <-first; err == nil {
			t.Fatal("answered before the mother superior has it")
		}
		w.confirm()
		time.Sleep(time.Second)
		before := w.index
		r, err := w.Report.Prune(w.asMom("hosta"), request(req, id))
		if err != nil || !r.Msg.GetGranted() || !r.Msg.GetChanged() || r.Msg.GetNumber() != w.job(w.id).Releases || len(r.Msg.GetReleased()) != 0 {
			t.Errorf("asked again: %v, %v", r, err)
		}
		if w.index != before {
			t.Errorf("%d entries more", w.index-before)
		}
		r, err = w.Report.Prune(w.asMom("hosta"), request(req, ""))
		if err != nil || r.Msg.GetGranted() || r.Msg.GetWhy() == "" {
			t.Errorf("what the job has not is given back: %v, %v", r, err)
		}
	})
}
