package client

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
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

// Where nobody leads a command is told so in a while; one whose first attempt ends that way after a long time, for its replica was
// deposed meanwhile, tries again.
func TestCall_WaitsForALeader(t *testing.T) {
	for _, c := range []struct {
		name     string
		first    time.Duration // that the first attempt takes
		vacant   time.Duration // that there is no leader
		answered bool
		took     time.Duration // at least; a second more is none
	}{
		{"there will be none", 0, time.Hour, false, leaderless},
		{"soon there is one", 0, 5 * time.Second, true, 5 * time.Second},
		{"it was deposed while it worked", leaderless + time.Second, 0, true, leaderless + time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), DefaultBudget)
				defer cancel()
				start, attempts := time.Now(), 0
				err := newCall("id").run(ctx, func() error {
					if attempts++; attempts == 1 {
						time.Sleep(c.first)
					} else if time.Since(start) >= c.vacant {
						return nil
					}
					return connect.NewWireError(connect.CodeUnavailable, transport.ErrNotLeader)
				})
				if c.answered && err != nil || !c.answered && pbs.CodeOf(err) != pbs.NoQuorum {
					t.Errorf("after %d attempts: %v", attempts, err)
				}
				if took := time.Since(start); took < c.took || took > c.took+time.Second {
					t.Errorf("it took %s, want %s", took, c.took)
				}
			})
		})
	}
}
