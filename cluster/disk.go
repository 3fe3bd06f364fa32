package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"rampart/cluster/member"
	"rampart/cluster/store"
	"rampart/fsm/pbs"
)

const (
	// roomEvery is how often the room is looked at.
	roomEvery = 2 * time.Second
	// relieveEvery bounds how often one replica hands over because of its disk, so that
	// two sick disks do not throw leadership to and fro.
	relieveEvery = time.Minute
)

// ErrNoRoom comes with a refusal (pbs.ResourceBusy): so many voters have no room for
// more entries that nothing more is taken. What was committed stays, and is read.
var ErrNoRoom = errors.New("the disks of the replicas are full")

// A diskWatch minds the room and the pace of this replica's disk, and what a leader may take by the room
// on the disks of all voters.
type diskWatch struct {
	name    pbs.ReplicaName
	store   *store.Store
	machine *observed // of which a snapshot lets the log go
	logger  *slog.Logger

	waiting atomic.Pointer[member.Alarm] // for room, before Raft starts
	full    atomic.Pointer[member.Alarm] // why this leader takes no proposals
	spent   atomic.Bool                  // that not even the reserve is left
	refused atomic.Bool                  // a script, for lack of room, since the last snapshot for the sake of room

	relieved time.Time // when this leader last handed over for the sake of its disk
}

// diskAlarms returns what is wrong with a disk.
func diskAlarms(d store.Disk) []member.Alarm {
	var all []member.Alarm
	if d.Low {
		all = append(all, member.Alarm{
			Kind: member.AlarmLow, Serves: true, Text: fmt.Sprintf("%s left in %s", megabytes(d.Free), d.Dir),
			Advice: "make room: when none is left, the replica stops",
		})
	}
	if d.Sick {
		all = append(all, member.Alarm{
			Kind: member.AlarmSick, Serves: true,
			Text:   fmt.Sprintf("writes to %s are slow: p99 %s, at most %s", d.Dir, d.P99.Round(time.Millisecond), d.Max.Round(time.Millisecond)),
			Advice: "look at the disk and at who else uses it; at a second a write the replica falls silent",
		})
	}
	return all
}

func megabytes(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// watch looks now and then, until ctx ends.
func (d *diskWatch) watch(ctx context.Context) {
	every := time.NewTicker(roomEvery)
	defer every.Stop()
	var saved time.Time
	for {
		d.store.Look()
		saved = d.saveLow(saved)
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// await returns when there is room to start on. A replica that ended on a full disk
// is started again by its supervisor, says here what it waits for, and goes on by itself.
func (d *diskWatch) await(ctx context.Context) error {
	defer d.waiting.Store(nil)
	for {
		free := d.store.Look().Free
		if free < 0 || free >= store.Reserve {
			return nil
		}
		a := &member.Alarm{
			Kind: member.AlarmFull, Text: fmt.Sprintf("waiting for room in %s: %s are free, and %s needed", d.store.Dir(), megabytes(free), megabytes(store.Reserve)),
			Advice: "make room on the disk; the replica goes on by itself",
		}
		if d.waiting.Swap(a) == nil {
			d.logger.Warn("not started yet", "why", a.Text)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(roomEvery):
		}
	}
}

// relief returns to whom this leader hands over for the sake of its disk: it does when that is sick
// or nearly full and another's is well.
func (d *diskWatch) relief(n *node, members []member.Answer) (to pbs.ReplicaName, ok bool) {
	own := d.store.Disk()
	if !own.Fails() || time.Since(d.relieved) < relieveEvery {
		return "", false
	}
	for _, m := range members {
		if m.MayRelieve(n.id, n.raft.CommitIndex()) {
			d.relieved = time.Now()
			d.logger.Warn("handing over for the sake of the disk", "to", m.Server.ID, "p99", own.P99, "free", own.Free)
			return member.NameOf(m.Server.ID), true
		}
	}
	return "", false
}
