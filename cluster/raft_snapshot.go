package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/cluster/store"
)

// saveRetry is the wait after a snapshot that failed (a transfer of leadership or
// a change of members may be under way).
const saveRetry = 5 * time.Second

// crampedRetry is the wait after a snapshot for which there was no room: changes of the state bring another one before
// (saveLow), and room that others make is soon enough found.
const crampedRetry = 30 * time.Second

// saveFailures in a row are more than a transfer or a change of members.
const saveFailures = 3

// Saved is a snapshot file.
type Saved struct {
	io.ReadCloser
	Index uint64
	Term  uint64
	Size  int64
}

type saveRequest struct {
	done chan saveResult
}

type saveResult struct {
	saved *Saved
	err   error
}

// snapshots takes the snapshots of a replica, and bounds the log that stays behind them.
type snapshots struct {
	store    *store.Store
	machine  *observed
	trailing uint64 // how many entries stay in the log behind a snapshot at most
	logger   *slog.Logger

	requests chan saveRequest
	stopped  <-chan struct{}              // closed when nobody takes requests any more
	unsaved  atomic.Pointer[member.Alarm] // why there is no newer snapshot
}

// take takes a snapshot now and opens it.
func (s *snapshots) take(ctx context.Context) (*Saved, error) {
	req := saveRequest{done: make(chan saveResult, 1)}
	select {
	case s.requests <- req:
	case <-ctx.Done():
		return nil, fmt.Errorf("take snapshot: %w", ctx.Err())
	case <-s.stopped:
		return nil, fmt.Errorf("take snapshot: %w", errStopped)
	}
	res := <-req.done // a snapshot is not interrupted half way
	if res.err != nil {
		return nil, fmt.Errorf("take snapshot: %w", res.err)
	}
	return res.saved, nil
}

// run takes the snapshots, those that are due, those that a calm allows and those asked for, one
// at a time.
func (s *snapshots) run(ctx context.Context, n *node) {
	var again <-chan time.Time
	failed, applied := 0, int64(0)
	look := time.NewTicker(calmLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case req := <-s.requests:
			s.bound(n)
			saved, err := takeSnapshot(n)
			req.done <- saveResult{saved, err}
			continue
		case <-look.C:
			var calm bool
			if applied, calm = s.machine.calm(applied); !calm || again != nil {
				continue
			}
		case <-s.machine.due:
		case <-again:
		}
		again = nil
		s.bound(n)
		err := n.raft.Snapshot().Error()
		if err == nil {
			failed = 0
			s.unsaved.Store(nil)
			continue
		}
		if ctx.Err() == nil {
			s.logger.Warn("snapshot failed", "err", err)
			again = time.After(saveRetry)
			if s.store.Cramped() {
				again = time.After(crampedRetry)
			}
		}
		if failed++; failed >= saveFailures {
			s.unsaved.Store(&member.Alarm{
				Kind: member.AlarmSnapshot, Serves: true, Text: fmt.Sprintf("the last %d snapshots failed: %v", failed, err),
				Advice: "look at the disk: without snapshots the log grows",
			})
		}
	}
}

func takeSnapshot(n *node) (*Saved, error) {
	f := n.raft.Snapshot()
	if err := f.Error(); err != nil {
		if errors.Is(err, raft.ErrNothingNewToSnapshot) {
			return nil, errors.New("the state is empty")
		}
		return nil, err
	}
	meta, file, err := f.Open()
	if err != nil {
		return nil, err
	}
	return &Saved{ReadCloser: file, Index: meta.Index, Term: meta.Term, Size: meta.Size}, nil
}
