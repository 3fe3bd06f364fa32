package store

import (
	"math/bits"
	"sync"
	"time"
)

// When a disk counts as slow. A follower waits 300 ms for a heartbeat and a replica is silent
// after a second without its store: a disk whose writes take a tenth of a second is a few bad
// moments away from both, and makes every commit of its leader as slow as itself.
const (
	slowWrite = 100 * time.Millisecond // a p99 above this is slow
	fineWrite = slowWrite / 2          // a p99 up to this is fine; between the two, things stay as they are
	slowFor   = 10 * time.Second       // this long slow: sick
	fineFor   = 10 * time.Second       // this long fine: well again
	slowFew   = 3                      // fewer slow writes in the window are hiccups
	slowFresh = 5 * time.Second        // without a slow write for this long it is not slow now
	// writeWindow is what p99 and maximum are taken from. It is longer than the time
	// between two ticks, so that an idle replica has figures, too.
	writeWindow = 15
)

// latencies keeps how long the latest writes took, second by second. It starts nothing:
// it judges whenever something is written or asked.
type latencies struct {
	mu      sync.Mutex
	seconds [writeWindow]second
	slowAt  time.Time // of the latest slow write
	slow    time.Time // since when it is slow; zero: it is not
	fine    time.Time // since when it is fine; zero: it is not
	sick    bool
}

// second holds the writes of one second.
type second struct {
	unix   int64
	counts [latencyBuckets]uint32
	writes uint32
	slow   uint32
	most   time.Duration
}

// Latency buckets are a quarter of a power of two wide, from 16 microseconds on.
const (
	latencyFloor   = 4 // 1<<4 us
	latencyBuckets = 4 * 18
)

func latencyBucket(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 1<<latencyFloor))
	top := bits.Len64(us) - 1
	return min((top-latencyFloor)*4+int(us>>(top-2)&3), latencyBuckets-1)
}

// latencyBound returns the upper bound of a bucket.
func latencyBound(i int) time.Duration {
	top := i/4 + latencyFloor
	return time.Duration(uint64(5+i%4)<<(top-2)) * time.Microsecond
}

// note adds a write that took d and ended now.
func (l *latencies) note(now time.Time, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.seconds[now.Unix()%writeWindow]
	fresh := s.unix != now.Unix()
	if fresh {
		*s = second{unix: now.Unix()}
	}
	s.counts[latencyBucket(d)]++
	s.writes++
	s.most = max(s.most, d)
	if d > slowWrite {
		s.slow++
		l.slowAt = now
	}
	if fresh {
		l.judgeLocked(now)
	}
}

// WriteLatency says how long the writes to log and stable store of the last 15 seconds took.
type WriteLatency struct {
	Writes int // 0: the figures below are 0, too
	P99    time.Duration
	Max    time.Duration
	// Sick is set when the p99 was over 100 ms for ten seconds, and lasts until it was
	// under 50 ms for as long.
	Sick bool
}

// present returns the figures of the window that ends now.
func (l *latencies) present() WriteLatency { return l.now(time.Now()) }

// now returns the figures of the window.
func (l *latencies) now(now time.Time) WriteLatency {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.judgeLocked(now)
}

func (l *latencies) judgeLocked(now time.Time) WriteLatency {
	w, slow := l.sumLocked(now)
	isSlow := w.P99 > slowWrite && slow >= slowFew && now.Sub(l.slowAt) <= slowFresh
	isFine := w.P99 <= fineWrite
	l.slow, l.fine = since(l.slow, isSlow, now), since(l.fine, isFine, now)
	switch {
	case isSlow && now.Sub(l.slow) >= slowFor:
		l.sick = true
	case isFine && now.Sub(l.fine) >= fineFor:
		l.sick = false
	}
	w.Sick = l.sick
	return w
}

// since returns since when a condition holds; zero if it does not.
func since(began time.Time, holds bool, now time.Time) time.Time {
	switch {
	case !holds:
		return time.Time{}
	case began.IsZero():
		return now
	}
	return began
}

func (l *latencies) sumLocked(now time.Time) (w WriteLatency, slow uint32) {
	var counts [latencyBuckets]uint32
	var writes uint32
	for i := range l.seconds {
		s := &l.seconds[i]
		if s.unix <= now.Unix()-writeWindow || s.unix > now.Unix() {
			continue
		}
		for k, n := range s.counts {
			counts[k] += n
		}
		writes, slow, w.Max = writes+s.writes, slow+s.slow, max(w.Max, s.most)
	}
	w.Writes = int(writes)
	above := writes / 100 // so many may be above the p99
	for k := latencyBuckets - 1; k >= 0 && writes > 0; k-- {
		if counts[k] > above {
			w.P99 = min(latencyBound(k), w.Max)
			break
		}
		above -= counts[k]
	}
	return w, slow
}
