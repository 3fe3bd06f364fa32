package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// roomToStart is what a replica wants to find free before its Raft starts: room for
	// its start, its votes and some entries. Below it, it would fail at once.
	roomToStart = 16 << 20
	// roomLow is what one more snapshot's worth of log may take. With less, a leader
	// hands over, and what is between it and roomToStart is a reserve; roomEnough ends that.
	roomLow    = snapshotBytes
	roomEnough = roomLow + roomLow/2
	// roomEvery is how often the room is looked at.
	roomEvery = 2 * time.Second
	// relieveEvery bounds how often one replica hands over because of its disk, so that
	// two sick disks do not throw leadership to and fro.
	relieveEvery = time.Minute
)

// ErrNoRoom comes with a refusal (pbs.ResourceBusy): so many voters have no room for
// more entries that nothing more is taken. What was committed stays, and is read.
var ErrNoRoom = errors.New("the disks of the replicas are full")

// Disk is the condition of what log and stable store are on.
type Disk struct {
	WriteLatency
	Free int64 // bytes; -1: not known
	// Low is set when less than 64 MiB are free, until 96 are again.
	Low bool
	Dir string
}

// well tells whether a leader with a worse disk may hand over to this one.
func (d Disk) well() bool { return !d.Sick && !d.Low && d.P99 <= fineWrite }

// fails tells whether another disk would make a better leader's.
func (d Disk) fails() bool { return d.Sick || d.Low }

func (d Disk) alarms() []Alarm {
	var all []Alarm
	if d.Low {
		all = append(all, Alarm{
			Kind: AlarmLow, Serves: true, Text: fmt.Sprintf("%s left in %s", megabytes(d.Free), d.Dir),
			Advice: "make room: when none is left, the replica stops",
		})
	}
	if d.Sick {
		all = append(all, Alarm{
			Kind: AlarmSick, Serves: true,
			Text:   fmt.Sprintf("writes to %s are slow: p99 %s, at most %s", d.Dir, d.P99.Round(time.Millisecond), d.Max.Round(time.Millisecond)),
			Advice: "look at the disk and at who else uses it; at a second a write the replica falls silent",
		})
	}
	return all
}

func megabytes(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// room is what was last found free.
type room struct {
	free atomic.Int64
	low  atomic.Bool
}

// look asks the stores.
func (m *room) look(s Stores, logger *slog.Logger) int64 {
	free, err := s.Room()
	if err != nil {
		logger.Warn("cannot tell how much room there is", "err", err)
		free = -1
	}
	m.free.Store(free)
	room := free
	if free >= roomToStart { // enough for a snapshot, by which the log file gets free pages
		room += min(s.Reusable(), roomEnough)
	}
	if room >= 0 && room < roomLow {
		m.low.Store(true)
	} else if room < 0 || room >= roomEnough {
		m.low.Store(false)
	}
	return free
}

func (r *Replica) disk() Disk {
	return Disk{
		WriteLatency: r.guard.took.now(time.Now()),
		Free:         r.room.free.Load(), Low: r.room.low.Load(), Dir: r.stores.Dir(),
	}
}

// watchRoom looks now and then, until ctx ends.
func (r *Replica) watchRoom(ctx context.Context) {
	every := time.NewTicker(roomEvery)
	defer every.Stop()
	var saved time.Time
	for {
		r.room.look(r.stores, r.cfg.Logger)
		saved = r.saveLow(saved)
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// awaitRoom returns when there is room to start on. A replica that ended on a full disk
// is started again by its supervisor, says here what it waits for, and goes on by itself.
func (r *Replica) awaitRoom(ctx context.Context) error {
	defer r.waiting.Store(nil)
	for {
		free := r.room.look(r.stores, r.cfg.Logger)
		if free < 0 || free >= roomToStart {
			return nil
		}
		a := &Alarm{
			Kind: AlarmFull, Text: fmt.Sprintf("waiting for room in %s: %s are free, and %s needed", r.stores.Dir(), megabytes(free), megabytes(roomToStart)),
			Advice: "make room on the disk; the replica goes on by itself",
		}
		if r.waiting.Swap(a) == nil {
			r.cfg.Logger.Warn("not started yet", "why", a.Text)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(roomEvery):
		}
	}
}

// keepDisks is a duty of the leader: it hands over when its disk is sick or nearly full
// and another's is well, and takes no proposals while the disks of so many voters are
// nearly full that the others are no majority.
func (r *Replica) keepDisks(ctx context.Context, n *node, members []member) error {
	own := r.disk()
	if own.fails() && time.Since(r.relieved) >= relieveEvery {
		for _, m := range members {
			if m.mayRelieve(n) {
				r.relieved = time.Now()
				r.cfg.Logger.Warn("handing over for the sake of the disk", "to", m.server.ID, "p99", own.P99, "free", own.Free)
				return r.transfer(ctx, n, nameOf(m.server.ID))
			}
		}
	}
	r.heedRoom(members)
	return nil
}

// mayRelieve tells whether a member would be a better leader than one with a bad disk.
func (m member) mayRelieve(n *node) bool {
	return m.err == nil && m.server.ID != n.id && m.server.Suffrage == raft.Voter && m.status.Role == Follower &&
		m.status.Disk.well() && m.status.Applied+promoteLag >= n.raft.CommitIndex() &&
		!slices.ContainsFunc(m.status.Alarms, func(a Alarm) bool { return !a.Serves })
}

// storeError makes a full disk at open what it is while running: the end of this
// process, but not of the next.
func storeError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	return err
}
