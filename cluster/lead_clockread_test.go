package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// slowClock answers at once with the right time, which is read later: so does a process that gets no
// core meanwhile.
type slowClock struct {
	Peers
	read time.Duration
}

func (p slowClock) Clock(context.Context, string) (time.Time, error) {
	now := time.Now()
	time.Sleep(p.read)
	return now, nil
}

// A starved leader does not take its own slowness for a clock that is off: what it read too late tells
// it nothing.
func TestClockOffset_ReadTooLate(t *testing.T) {
	for _, c := range []struct {
		read time.Duration
		ok   bool
	}{{500 * time.Millisecond, true}, {6 * time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			v := &voterClocks{clock: time.Now, peers: slowClock{read: c.read}}
			off, err := v.offset(t.Context(), raft.Server{ID: "s2.x", Address: "a:1"})
			if (err == nil) != c.ok || off.Abs() > maxClockError {
				t.Errorf("read after %s: off by %s, %v", c.read, off, err)
			}
		})
	}
}
