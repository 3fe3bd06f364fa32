package mom

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/mom/proc"
	"rampart/transport/api"
)

func TestFence_Renew(t *testing.T) {
	const s = time.Second
	at := func(boot string, lapse uint64, at, fence time.Duration) proc.Deadline {
		return proc.Deadline{BootID: boot, Lapse: lapse, At: at, Fence: fence}
	}
	const hour = time.Hour // when the host of the bubble was made
	for _, c := range []struct {
		name         string
		old          proc.Deadline
		sent, answer time.Duration // after the hour
		length       time.Duration
		want         proc.Deadline
		lapsed       bool
	}{
		{"in time", at("boot-1", 2, hour+20*s, 30*s), 10 * s, 11 * s, 30 * s, at("boot-1", 2, hour+40*s, 30*s), false},
		{"the deadline passed before", at("boot-1", 2, hour+5*s, 30*s), 10 * s, 11 * s, 30 * s, at("boot-1", 3, hour+40*s, 30*s), true},
		{"the deadline passed before the answer", at("boot-1", 2, hour+10*s, 30*s), 9 * s, 11 * s, 30 * s, at("boot-1", 3, hour+39*s, 30*s), true},
		{"an answer that was overtaken", at("boot-1", 2, hour+40*s, 30*s), 9 * s, 11 * s, 30 * s, at("boot-1", 2, hour+40*s, 30*s), false},
		{"a shorter fence", at("boot-1", 2, hour+310*s, 310*s), 9 * s, 11 * s, 30 * s, at("boot-1", 2, hour+39*s, 30*s), false},
		{"a longer fence", at("boot-1", 2, hour+39*s, 30*s), 9 * s, 11 * s, 310 * s, at("boot-1", 2, hour+319*s, 310*s), false},
		{"no fence any more", at("boot-1", 2, hour+39*s, 30*s), 9 * s, 11 * s, 0, at("boot-1", 2, 0, 0), false},
		{"a fence again", at("boot-1", 2, 0, 0), 9 * s, 11 * s, 30 * s, at("boot-1", 2, hour+39*s, 30*s), false},
		{"no fence any more, too late", at("boot-1", 2, hour+5*s, 30*s), 9 * s, 11 * s, 0, at("boot-1", 3, 0, 0), true},
		{"the first of a boot", at("boot-0", 7, 9*hour, 30*s), 9 * s, 11 * s, 30 * s, at("boot-1", 1, hour+39*s, 30*s), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fence{path: filepath.Join(t.TempDir(), "deadline"), system: proc.NewFake(nil)}
				if err := proc.WriteDeadline(f.path, c.old); err != nil {
					t.Fatal(err)
				}
				sleep(c.answer)
				lapsed, err := f.renew(hour+c.sent, c.length)
				if got := f.read(); err != nil || got != c.want || lapsed != c.lapsed {
					t.Errorf("%+v, lapsed %v, %v; want %+v", got, lapsed, err, c.want)
				}
			})
		})
	}
}

func (w *world) away(away bool) { w.servers.set(func(s *servers) { s.away = away }) }

func (w *world) fence(seconds int64) { w.servers.set(func(s *servers) { s.fence = seconds }) }

func (w *world) runs(job string) bool { return slices.Contains(w.host.Running(), job) }

func (w *world) registrations() (n int) {
	w.servers.set(func(s *servers) { n = len(s.regs) })
	return n
}

func TestFence_RenewedHostRunsOn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fence(30)
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		sleep(10 * time.Minute)
		w.away(true) // for less than the fence
		sleep(22 * time.Second)
		w.away(false)
		sleep(10 * time.Minute)
		w.wants("1.srv", "1 started", "1 ended 0")
	})
}

// A host with the shortest fence that there is asks again soon when a renewal failed.
func TestFence_ShortAndRenewedInTime(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fence(15)
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		renewals := func() (n int) {
			w.servers.set(func(s *servers) { n = s.leases })
			return n
		}
		sleep(time.Minute)
		for before := renewals(); renewals() == before; {
			sleep(100 * time.Millisecond)
		}
		sleep(4500 * time.Millisecond)
		w.away(true)
		late := sync.OnceFunc(func() { sleep(2 * time.Second) })
		w.servers.set(func(s *servers) { s.onLease = func(*api.LeaseRequest) { late() } })
		sleep(9 * time.Second)
		w.away(false)
		sleep(10 * time.Minute)
		if !w.runs("1.srv") {
			t.Error("it was ended although the servers were back in time")
		}
		w.away(true)
		sleep(16 * time.Second)
		if w.runs("1.srv") {
			t.Error("it outlives the fence")
		}
	})
}

// A mom that is cut off from all servers ends its jobs itself, obeys nobody before it
// has registered again, and tells what became of them.
func TestFence_CutOffFromEverybody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fence(30)
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.away(true)
		late := w.run("2.srv", "sleep 1000") // its script cannot be fetched
		w.deliver(late)
		sleep(29 * time.Second)
		if !w.runs("1.srv") {
			t.Fatal("it was ended before the fence")
		}
		sleep(2 * time.Second)
		if w.runs("1.srv") {
			t.Fatal("it outlives the fence")
		}
		before := w.registrations()
		if _, err := w.tryDeliver(w.term, 0, w.run("3.srv", "sleep 1")); connect.CodeOf(err) != connect.CodeUnavailable {
			t.Errorf("an order behind the fence: %v", err)
		}
		sleep(time.Minute)
		w.away(false)
		sleep(10 * time.Second)
		if w.registrations() == before {
			t.Error("it has not registered again")
		}
		w.wants("1.srv", "1 started", "1 lost -4")
		w.wants("2.srv", "1 never -3")
		w.deliver(w.run("3.srv", "sleep 1"))
		sleep(time.Minute)
		w.wants("3.srv", "1 started", "1 ended 0")
	})
}

// A mom that was stopped with its shims finds that the deadline has passed when it
// renews, though no shim has seen it: here the deadline was never looked at.
func TestFence_StoppedAcrossIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up() // without a fence: nothing looks at it
		w.deliver(w.run("1.srv", "sleep 1000"))
		sleep(12 * time.Second)
		path := filepath.Join(w.home, "mom_priv", "deadline")
		d, err := proc.ReadDeadline(path)
		if err != nil {
			t.Fatal(err)
		}
		d.At, d.Fence = w.host.Now()-1, 30*time.Second
		if err := proc.WriteDeadline(path, d); err != nil {
			t.Fatal(err)
		}
		sleep(6 * time.Second)
		w.wants("1.srv", "1 started", "1 lost -4")
	})
}

// The mom is dead, and stays so for longer than the fence: its jobs end all the same.
func TestFence_MomDeadOrServersDown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fence(30)
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"), w.run("2.srv", "sleep 5"))
		w.down()
		sleep(31 * time.Second)
		if w.runs("1.srv") {
			t.Error("it outlives the fence")
		}
		w.away(true)
		w.up()
		sleep(time.Minute)
		w.away(false)
		sleep(10 * time.Second)
		w.wants("1.srv", "1 started", "1 lost -4")
		w.wants("2.srv", "1 started", "1 ended 0")
	})
}

func TestFence_TellsWhichItHolds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fence(310)
		w.up()
		held := func() (n int64) {
			w.servers.set(func(s *servers) { n = s.held.GetFenceSeconds() })
			return n
		}
		sleep(7 * time.Second)
		if held() != 310 {
			t.Errorf("holds %d", held())
		}
		w.fence(30)
		sleep(2 * time.Second)
		if held() != 310 {
			t.Errorf("says that it holds %d before it can know", held())
		}
		sleep(2 * time.Second) // one renewal is answered with 30, and the next one says so at once
		if held() != 30 {
			t.Errorf("holds %d", held())
		}
		w.fence(60)
		if _, err := w.mom.Ping(t.Context(), connect.NewRequest(&api.PingRequest{})); err != nil { // has it renew
			t.Error(err)
		}
		sleep(time.Second)
		if held() != 60 {
			t.Errorf("holds %d after a call", held())
		}
	})
}

// Deliveries that were sent before the registration and arrive after it are void.
func TestDeliver_OlderThanTheRegistration(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		late, deposed := w.run("1.srv", "sleep 9"), w.run("2.srv", "sleep 9")
		w.servers.set(func(s *servers) { s.term, s.lowest = 5, 2 })
		w.up()
		if _, err := w.tryDeliver(4, 2, deposed); connect.CodeOf(err) != connect.CodeFailedPrecondition {
			t.Errorf("an order of a deposed leader: %v", err)
		}
		r, err := w.tryDeliver(5, 1, late)
		if err != nil || r.GetAnswers()[0].GetRefusal() == nil {
			t.Errorf("an order that is not open any more: %v, %v", r, err)
		}
		sleep(20 * time.Second)
		if n := w.host.Starts("1.srv") + w.host.Starts("2.srv"); n != 0 {
			t.Errorf("%d programs were started", n)
		}
	})
}

// The registration of a mom with a new disk is the word that nothing lives here.
func TestRegister_NewDiskEndsStrays(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.down()
		if err := os.RemoveAll(filepath.Join(w.home, "mom_priv")); err != nil {
			t.Fatal(err)
		}
		w.up()
		if w.runs("1.srv") {
			t.Error("it lives, and nobody knows it")
		}
		w.servers.set(func(s *servers) {
			first, last := s.regs[0], s.regs[len(s.regs)-1]
			if last.GetSpoolId() == first.GetSpoolId() || len(last.GetTasks()) != 0 {
				t.Errorf("registered as %v", last)
			}
		})
	})
}

func TestLease_TellsOfAFullDisk(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		said := func() (text string) {
			w.servers.set(func(s *servers) { text = s.held.GetTrouble() })
			return text
		}
		sleep(6 * time.Second)
		if said() != "" {
			t.Errorf("trouble %q", said())
		}
		w.setFull(true)
		sleep(6 * time.Second)
		if !strings.Contains(said(), "no space left") {
			t.Errorf("trouble %q", said())
		}
		w.setFull(false)
		sleep(6 * time.Second)
		if said() != "" {
			t.Errorf("trouble %q with space again", said())
		}
	})
}
