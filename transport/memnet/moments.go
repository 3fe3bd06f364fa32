package memnet

import (
	"sync"
	"time"
)

// moments are the times at which something arrives, none twice: timers of a bubble that fire at the same moment do so in an
// order that the runtime draws.
type moments struct {
	mu    sync.Mutex
	taken map[int64]struct{}
	most  int // that are kept
}

// Orderly has everything that is sent from now on arrive at a moment of its own, some nanoseconds later than the
// delay of its link if need be.
func (n *Net) Orderly() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken = &moments{taken: make(map[int64]struct{}), most: 1024}
	for _, l := range n.links {
		l.taken = n.taken
	}
}

// take returns the first moment that nothing else has, after the delay.
func (m *moments) take(now time.Time, delay time.Duration) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.taken) >= m.most {
		for t := range m.taken {
			if t < now.UnixNano() {
				delete(m.taken, t)
			}
		}
		m.most = 1024 + 2*len(m.taken)
	}
	for at := now.Add(delay); ; at = at.Add(time.Nanosecond) {
		if _, ok := m.taken[at.UnixNano()]; !ok {
			m.taken[at.UnixNano()] = struct{}{}
			return at
		}
	}
}
