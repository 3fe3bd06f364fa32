package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rampart/cluster/member"
	"rampart/cluster/store"
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

// watchRoom looks now and then, until ctx ends.
func (r *Replica) watchRoom(ctx context.Context) {
	every := time.NewTicker(roomEvery)
	defer every.Stop()
	var saved time.Time
	for {
		r.store.Look()
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
		free := r.store.Look().Free
		if free < 0 || free >= store.Reserve {
			return nil
		}
		a := &member.Alarm{
			Kind: member.AlarmFull, Text: fmt.Sprintf("waiting for room in %s: %s are free, and %s needed", r.store.Dir(), megabytes(free), megabytes(store.Reserve)),
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
func (r *Replica) keepDisks(ctx context.Context, n *node, members []member.Answer) error {
	own := r.store.Disk()
	if own.Fails() && time.Since(r.relieved) >= relieveEvery {
		for _, m := range members {
			if m.MayRelieve(n.id, n.raft.CommitIndex()) {
				r.relieved = time.Now()
				r.cfg.Logger.Warn("handing over for the sake of the disk", "to", m.Server.ID, "p99", own.P99, "free", own.Free)
				return r.transfer(ctx, n, member.NameOf(m.Server.ID))
			}
		}
	}
	r.holdWrites(members)
	return nil
}
