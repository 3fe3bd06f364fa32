package cluster_test

import (
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport/build"
)

// logTime is the log's time as the leader's state has it.
func (w *world) logTime() time.Time { return time.Unix(0, int64(w.leader().machine.View().Now())) }

// TestClock_YearAheadInATerm: what the leader proposes before the next tick is
// refused, its term ends, and the requests are done by the next one.
func TestClock_YearAheadInATerm(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		mad, id := w.leader(), request()
		mad.clockOff.Store(int64(365 * 24 * time.Hour))
		if _, err := mad.propose(id, "x"); pbs.CodeOf(err) != pbs.SystemError {
			t.Errorf("a write a year ahead: %v", err)
		}
		w.until("another leader", 30*time.Second, func() bool { l := w.leader(); return l != nil && l != mad })
		if out, err := w.leader().propose(id, "x"); err != nil || out.Repeated {
			t.Errorf("the same request at the next leader: %+v, %v", out, err)
		}
		if d := time.Since(w.logTime()).Abs(); d > 15*time.Second {
			t.Errorf("the log's time is off by %s", d)
		}
		w.same()
	})
}

// TestClock_MinuteBackInATerm: the log's time stands still meanwhile, never back, and
// requests keep their ids.
func TestClock_MinuteBackInATerm(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		mad, id := w.leader(), request()
		before := w.logTime()
		mad.clockOff.Store(int64(-time.Minute))
		if _, err := mad.propose(id, "x"); err != nil {
			t.Errorf("a write: %v", err)
		}
		if now := w.logTime(); now.Before(before) {
			t.Errorf("the log's time went from %s to %s", before, now)
		}
		w.until("another leader", 30*time.Second, func() bool { l := w.leader(); return l != nil && l != mad })
		if out, err := w.leader().propose(id, "x"); err != nil || !out.Repeated {
			t.Errorf("the same request at the next leader: %+v, %v", out, err)
		}
		if d := time.Since(w.logTime()).Abs(); d > 15*time.Second {
			t.Errorf("the log's time is off by %s", d)
		}
	})
}

// TestClock_Drifting: a clock that gains a tenth leads until it is 2 s off, and the
// log's time never gets further ahead than that and what one tick adds.
func TestClock_Drifting(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		mad := w.leader()
		worst := time.Duration(0)
		last := w.logTime()
		w.until("another leader", 2*time.Minute, func() bool {
			mad.clockOff.Add(int64(500 * time.Microsecond)) // every 5 ms
			l := w.leader()
			if l == nil {
				return false
			}
			if now := w.logTime(); now.Before(last) {
				t.Errorf("the log's time went from %s to %s", last, now)
			} else {
				last = now
			}
			worst = max(worst, time.Until(last))
			return l != mad
		})
		if worst > 4*time.Second {
			t.Errorf("the log's time was %s ahead", worst)
		}
		if off := time.Duration(mad.clockOff.Load()); off < 2*time.Second {
			t.Errorf("it handed over when it was %s off", off)
		}
		mustWrite(t, w.leader(), "x")
	})
}

// TestClock_AllAreDarkForAYear: after an outage of all replicas the start of a term
// moves the log's time on, by any amount.
func TestClock_AllAreDarkForAYear(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		for _, m := range w.members {
			m.kill()
		}
		<-time.After(365 * 24 * time.Hour)
		for _, m := range w.members {
			m.restart()
		}
		w.until("a leader", 20*time.Second, func() bool { return w.leader() != nil })
		mustWrite(t, w.leader(), "x")
		if d := time.Since(w.logTime()).Abs(); d > 15*time.Second {
			t.Errorf("the log's time is off by %s", d)
		}
	})
}
