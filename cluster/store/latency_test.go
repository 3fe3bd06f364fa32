package store

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestLatency_BucketsHoldWhatFallsIntoThem(t *testing.T) {
	for d := 16 * time.Microsecond; d < 2*time.Second; d += d/7 + time.Microsecond {
		d = d.Truncate(time.Microsecond)
		i := latencyBucket(d)
		if top := latencyBound(i); d >= top || d < top*3/4 {
			t.Fatalf("%s is in bucket %d, which ends at %s", d, i, top)
		}
	}
	if latencyBucket(0) != 0 || latencyBucket(time.Hour) != latencyBuckets-1 {
		t.Error("what is too short or too long is not in the first or last bucket")
	}
}

func TestLatency_WindowForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l latencies
		for i := range 200 {
			took := time.Millisecond
			if i%100 == 0 {
				took = 70 * time.Millisecond // two of 200 are above the p99
			}
			l.note(time.Now(), took)
		}
		if w := l.now(time.Now()); w.Writes != 200 || w.P99 > 2*time.Millisecond || w.Max != 70*time.Millisecond {
			t.Errorf("%+v", w)
		}
		l.note(time.Now(), 70*time.Millisecond)
		if w := l.now(time.Now()); w.P99 != 70*time.Millisecond {
			t.Errorf("with a third: %+v", w)
		}
		<-time.After((writeWindow + 1) * time.Second)
		if w := l.now(time.Now()); w != (WriteLatency{}) {
			t.Errorf("later: %+v", w)
		}
	})
}

// writes notes one write every 100 ms for a while, and returns what was seen at the end.
func writes(l *latencies, took, during time.Duration) WriteLatency {
	for end := time.Now().Add(during); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
		l.note(time.Now(), took)
	}
	return l.now(time.Now())
}

// TestLatency_SickAndWellWithHysteresis: a hiccup is not a sickness, and a good moment
// is no recovery.
func TestLatency_SickAndWellWithHysteresis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l latencies
		steps := []struct {
			what         string
			took, during time.Duration
			sick         bool
		}{
			{"well", 5 * time.Millisecond, time.Minute, false},
			{"a hiccup", 900 * time.Millisecond, 2 * time.Second, false},
			{"after it", 5 * time.Millisecond, time.Minute, false},
			{"slow", 200 * time.Millisecond, 9 * time.Second, false},
			{"slow for long", 200 * time.Millisecond, 3 * time.Second, true},
			{"a good moment", 5 * time.Millisecond, 10 * time.Second, true},
			{"not so good", 80 * time.Millisecond, time.Minute, true},
			{"well again", 5 * time.Millisecond, writeWindow*time.Second + fineFor + time.Second, false},
		}
		for _, s := range steps {
			if w := writes(&l, s.took, s.during); w.Sick != s.sick {
				t.Errorf("%s: %+v", s.what, w)
			}
		}
	})
}

// TestLatency_AnIdleDiskIsNotSick: two slow writes in a window are too few to tell.
func TestLatency_AnIdleDiskIsNotSick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l latencies
		for range 20 {
			l.note(time.Now(), 300*time.Millisecond)
			<-time.After(10 * time.Second)
			if w := l.now(time.Now()); w.Sick {
				t.Fatalf("%+v", w)
			}
		}
	})
}
