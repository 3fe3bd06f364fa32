package mom

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A run that was accepted and cannot be begun, since the disk is full by then, is given back by word of mouth
// within the time of a lease, and is never started; its fact follows when the disk takes it.
func TestSick_GivesBackWhatItHasAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.up()
		w.servers.set(func(s *servers) { s.scripts["1.srv"], s.away = "sleep 10\n", true })
		w.deliver(w.run("1.srv", "sleep 10\n"))
		w.setFull(true)
		w.servers.set(func(s *servers) { s.away = false })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		r := w.servers.renewal()
		if u := r.GetUnstarted(); len(u) != 1 || u[0].GetJob() != "1.srv" || u[0].GetRunCount() != 1 || !strings.Contains(u[0].GetReason(), "no space") {
			t.Errorf("given back: %v", u)
		}
		if told := w.servers.told("1.srv"); len(told) != 0 || w.host.Starts("1.srv") != 0 {
			t.Errorf("told %q, %d starts", told, w.host.Starts("1.srv"))
		}
		w.setFull(false)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if e := w.servers.ended("1.srv"); !e.GetNeverStarted() || e.GetFault() != "hosta" || w.host.Starts("1.srv") != 0 {
			t.Errorf("the fact %v, %d starts", e, w.host.Starts("1.srv"))
		}
	})
}

// A mom that is asked to prove that its host can start jobs says so once it can, and why it cannot before.
func TestSick_Proof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.up()
		w.host.SetFull(true)
		w.servers.set(func(s *servers) { s.prove = 4711 })
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if r := w.servers.renewal(); r.GetProved() != 0 || !strings.Contains(r.GetTrouble(), "the host cannot start jobs: no space") {
			t.Errorf("proved %d, trouble %q", r.GetProved(), r.GetTrouble())
		}
		w.host.SetFull(false)
		time.Sleep(2*leaseEvery + time.Second)
		synctest.Wait()
		if r := w.servers.renewal(); r.GetProved() != 4711 || r.GetTrouble() != "" {
			t.Errorf("proved %d, trouble %q", r.GetProved(), r.GetTrouble())
		}
	})
}
