package server

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// One lane does all that is quick, and what is slow holds up nobody else.
func TestInLanes(t *testing.T) {
	for _, c := range []struct {
		slow, lanes int
		took        time.Duration
	}{{0, 1, 0}, {1, 2, time.Minute}, {3, 4, time.Minute}, {9, 4, 3 * time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			items := make([]int, 100)
			for i := range items {
				items[i] = i
			}
			var mu sync.Mutex
			var done []int
			lanes, began := 0, time.Now()
			inLanes(slices.Clone(items), 4, 100*time.Millisecond, func(next func() (int, bool)) {
				mu.Lock()
				lanes++
				mu.Unlock()
				for i, ok := next(); ok; i, ok = next() {
					if i < c.slow {
						time.Sleep(time.Minute)
					}
					mu.Lock()
					done = append(done, i)
					mu.Unlock()
				}
			})
			slices.Sort(done)
			if took := time.Since(began).Round(10 * time.Second); !slices.Equal(done, items) || lanes != c.lanes || took != c.took {
				t.Errorf("%d slow ones: %d of them by %d lanes in %s", c.slow, len(done), lanes, took)
			}
		})
	}
}
