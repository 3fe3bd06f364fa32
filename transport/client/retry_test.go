package client

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rampart/transport"
)

// refusing is an attempt that nobody answers until then.
func refusing(away bool, until time.Duration) (attempt func() error, calls *int) {
	start, calls := time.Now(), new(int)
	return func() error {
		if time.Since(start) >= until {
			*calls++
			return nil
		}
		return &transport.RoamError{Refused: true, Away: away, Err: syscall.ECONNREFUSED}
	}, calls
}

// A daemon that is restarted leaves its socket: a command waits for it, as long as a replica
// with many jobs takes, and fails only when it stays away. Where none ever was, it fails sooner.
func TestCall_WaitsForADaemonThatIsRestarted(t *testing.T) {
	const never = time.Hour
	for _, c := range []struct {
		name           string
		away           bool
		until          time.Duration
		answered       bool
		atLeast, below time.Duration
	}{
		{"back soon", true, 4 * time.Second, true, 4 * time.Second, 5 * time.Second},
		{"not back", true, never, false, restart, restart + time.Second},
		{"nobody there", false, never, false, absence, absence + time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), DefaultBudget)
				defer cancel()
				attempt, calls := refusing(c.away, c.until)
				start := time.Now()
				err := newCall("id").run(ctx, attempt)
				if c.answered && (err != nil || *calls != 1) || !c.answered && (!errors.Is(err, ErrUnreachable) || !errors.Is(err, syscall.ECONNREFUSED)) {
					t.Errorf("%v after %d answers", err, *calls)
				}
				if d := time.Since(start); d < c.atLeast || d > c.below {
					t.Errorf("it took %v", d)
				}
			})
		})
	}
}
