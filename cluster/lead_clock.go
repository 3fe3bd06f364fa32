package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/fsm/pbs"
)

const (
	// maxClockError is how far a leader's clock may be from the median of the
	// voters' clocks.
	maxClockError = 2 * time.Second
	clockTimeout  = time.Second
	// laggards: when a majority has told its clock, the others get this long.
	clockLaggards = 10 * time.Millisecond
)

var errClockOff = errors.New("clock is off")

// clocks are the clocks of a majority of the voters, read at one moment, as distances from our own.
type clocks struct {
	now     time.Time
	offsets []time.Duration // sorted; our own, 0, included
}

func newClocks(now time.Time, offsets []time.Duration) clocks {
	slices.Sort(offsets)
	return clocks{now: now, offsets: offsets}
}

// off returns the distance of the median from our clock.
func (c clocks) off() time.Duration {
	n := len(c.offsets)
	return (c.offsets[(n-1)/2] + c.offsets[n/2]) / 2
}

func (c clocks) check() error {
	if off := c.off(); off.Abs() > maxClockError {
		return fmt.Errorf("%w: by %s from the median of %d voters", errClockOff, -off, len(c.offsets))
	}
	return nil
}

func (c clocks) median() pbs.Time { return pbs.Time(c.now.Add(c.off()).UnixNano()) }

func (c clocks) times() []pbs.Time {
	times := make([]pbs.Time, len(c.offsets))
	for i, o := range c.offsets {
		times[i] = pbs.Time(c.now.Add(o).UnixNano())
	}
	return times
}

// voterClocks reads the clocks of the voters.
type voterClocks struct {
	peers Peers
	pace  pace
	clock func() time.Time // our own
}

// read asks all other voters at once, and is content with a majority.
func (v *voterClocks) read(ctx context.Context, n *node) (clocks, error) {
	ctx, cancel := context.WithTimeout(ctx, v.pace.far(clockTimeout))
	defer cancel()
	others := n.otherVoters()
	answers := make(chan time.Duration, len(others))
	failures := make(chan error, len(others))
	for _, s := range others {
		go func() {
			if off, err := v.offset(ctx, s); err != nil {
				failures <- err
			} else {
				answers <- off
			}
		}()
	}
	offsets, err := collect(answers, failures, len(others), n.quorum()-1, v.pace.far(clockLaggards), cancel)
	if err != nil {
		return clocks{}, fmt.Errorf("read the voters' clocks: %w", err)
	}
	return newClocks(v.clock(), append(offsets, 0)), nil
}

// collect waits for all, and when enough have answered it hurries the rest after a
// moment of patience.
// It returns when every asker has.
func collect[A any](answers <-chan A, failures <-chan error, asked, enough int, patience time.Duration, hurry func()) ([]A, error) {
	var got []A
	var errs []error
	var late <-chan time.Time
	for len(got)+len(errs) < asked {
		if len(got) >= enough && late == nil {
			late = time.After(patience)
		}
		select {
		case a := <-answers:
			got = append(got, a)
		case err := <-failures:
			errs = append(errs, err)
		case <-late:
			hurry()
			late = make(chan time.Time) // once is enough
		}
	}
	if len(got) < enough {
		return got, fmt.Errorf("no majority: %w", errors.Join(errs...))
	}
	return got, nil
}

// offset returns how far the clock of another replica is ahead of ours; the
// answer is taken to be made half way. One that is read later than we wait tells of our own
// want of a core, and nothing of clocks.
func (v *voterClocks) offset(ctx context.Context, s raft.Server) (time.Duration, error) {
	began, sent := time.Now(), v.clock()
	theirs, err := v.peers.Clock(ctx, string(s.Address))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", member.NameOf(s.ID), err)
	}
	if took := time.Since(began); took > v.pace.far(clockTimeout) {
		return 0, fmt.Errorf("%s: the answer was read after %s", member.NameOf(s.ID), took)
	}
	took := v.clock().Sub(sent)
	return theirs.Sub(sent.Add(took / 2)), nil
}
