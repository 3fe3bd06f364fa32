package cluster

import (
	"errors"
	"fmt"
	"time"

	"rampart/cluster/member"
	"rampart/cluster/store"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// lowSaveEvery is the time between two snapshots while there is little room: each lets go of the
// log, whose pages the next entries take.
const lowSaveEvery = 5 * time.Second

// grows reports whether a proposal adds something that stays: jobs and files. With little room
// left such proposals are refused, and those that end, delete and administrate take the reserve.
func grows(p command.Proposal) bool {
	for _, c := range p.Commands {
		switch c.(type) {
		case *command.SubmitJob, *command.StartJob, *command.StagePart, *command.Restore, *command.ImportHook:
			return true
		}
	}
	return false
}

// roomTo refuses a proposal for which the disks of too many voters have no room.
func (d *diskWatch) roomTo(p command.Proposal) error {
	a := d.full.Load()
	if a == nil || !d.spent.Load() && !grows(p) {
		return nil
	}
	return fmt.Errorf("propose: %w: %w", ErrNoRoom, pbs.Errorf(pbs.ResourceBusy, "%s", a.Text))
}

// holdWrites refuses what grows, or all, while so many voters have little room, or none, that the
// others are no majority.
func (d *diskWatch) holdWrites(members []member.Answer) {
	low, spent := member.ShortOfRoom(members)
	was, now := d.full.Load(), (*member.Alarm)(nil)
	switch {
	case spent != nil:
		now = noWrites(fmt.Sprintf("no changes are taken: no room is left on the disks of %v", spent), "make room on these disks")
	case low != nil:
		now = noWrites(fmt.Sprintf("no jobs are taken or started: little room is left on the disks of %v", low), "make room on these disks, or delete jobs")
	}
	d.spent.Store(spent != nil)
	d.full.Store(now)
	switch {
	case now != nil && (was == nil || was.Text != now.Text):
		d.logger.Error("writes stop", "why", now.Text)
	case now == nil && was != nil:
		d.logger.Warn("writes go on: there is room again")
	}
}

func noWrites(text, advice string) *member.Alarm {
	return &member.Alarm{Kind: member.AlarmNoWrites, Text: text, Advice: advice + "; all is taken again by itself"}
}

// takeAll forgets what was found of the voters' disks: what the next leader finds is its own.
func (d *diskWatch) takeAll() { d.full.Store(nil) }

// saveLow asks for a snapshot when there is little room, or a script was refused for it, and something to let go. How much the next one takes nobody
// knows before: it is given up when it comes to the reserve, and what was deleted by then makes the one after it smaller.
func (d *diskWatch) saveLow(last time.Time) time.Time {
	if !d.store.Disk().Low && !d.refused.Load() {
		return last
	}
	if err := d.store.DropOld(); err != nil {
		d.logger.Warn("cannot remove an old snapshot", "err", err)
	}
	if !d.machine.changed() || time.Since(last) < lowSaveEvery {
		return last
	}
	d.refused.Store(false)
	d.machine.ask()
	return time.Now()
}

// roomFor refuses what would leave the disk of this replica too little room for its log.
func (d *diskWatch) roomFor(bytes int64) error {
	free, err := d.store.Room()
	if err != nil || free-bytes >= store.Enough {
		return nil // what cannot be told is found out by the write
	}
	d.refused.Store(true)
	return errors.Join(ErrNoRoom, pbs.Errorf(pbs.ResourceBusy,
		"no room for a job script of %s: %s are left on the disk of %s", megabytes(bytes), megabytes(free), d.name))
}
