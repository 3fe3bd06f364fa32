package task

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
)

// The deeds of a checkpoint that the job outlives.
const (
	Snapshot Deed = "checkpoint, and let it run on"
	TellMade Deed = "report the checkpoint"
)

// periodicCheckpoints is the attribute by which the servers say that they understand the reports.
const periodicCheckpoints = "periodic_checkpoints"

type (
	// SnapDue says that it is time for a checkpoint after which the job runs on; Able says that
	// the site has a script for it.
	SnapDue struct {
		By   string
		At   time.Duration
		Able bool
	}
	// Snapped says how the script has ended; Failure is empty if it went well.
	Snapped struct{ Failure string }
	// MadeTold says that the fact of a checkpoint is in the spool.
	MadeTold struct{}
)

func (SnapDue) event()  {}
func (Snapped) event()  {}
func (MadeTold) event() {}

// period returns how much cpu time (c) or walltime (w) lies between two checkpoints, 0 if none
// are wanted.
func (o Order) period() (by string, every time.Duration) {
	by, minutes, _ := strings.Cut(o.Attrs.Get("Checkpoint"), "=")
	n, err := strconv.ParseInt(minutes, 10, 32)
	if err != nil || by != "c" && by != "w" || o.Attrs.Get(periodicCheckpoints) == "" {
		return "", 0
	}
	return by, time.Duration(n) * time.Minute
}

// snappable reports whether a periodic checkpoint may begin now.
func (t Task) snappable() bool {
	c := t.Checkpoints
	return t.State() == Running && !t.Sister() && !t.Suspension.stands() && c.Snap.State == SnapIdle && !c.Hold.underWay() && !c.Hold.done()
}

// stepSnap decides what follows from an event of a periodic checkpoint.
func (t Task) stepSnap(ev Event) (next Task, actions []Action, ok bool) {
	snap := t.Checkpoints.Snap
	switch ev := ev.(type) {
	case SnapDue:
		if !t.snappable() {
			return t, nil, true
		}
		snap = snap.due(ev.By, ev.At, ev.Able && t.savable())
		if snap.State == SnapBusy {
			t.Checkpoints.Attempt++
			actions = append(actions, Action{Do: Snapshot})
		}
	case Snapped:
		made := ev.Failure == "" && t.State() == Running
		if snap, ok = snap.over(made); ok && made {
			actions = append(actions, Action{Do: TellMade})
		}
	case MadeTold:
		snap = snap.told()
	default:
		return t, nil, false
	}
	t.Checkpoints.Snap = snap
	return t, actions, true
}

// goesOn reports whether the job's next run goes on from a checkpoint of this one or of an earlier one.
func (t Task) goesOn() bool {
	kept := t.Checkpoints.Restart != nil || t.Checkpoints.Snap.exists()
	return kept && t.Result != nil && t.Result.ExitStatus != pbs.ExitBadRestart && (t.Life.Kill.Requeue || t.Result.Lost || t.Result.NeverStarted)
}

func (t Task) madeFact() spool.Fact {
	return spool.Fact{Task: t.Key, CheckpointMade: &spool.CheckpointMade{}}
}

// snapshot runs the script that checkpoints the job and lets it run on.
func (c *checkpoints) snapshot(ctx context.Context, t Task, now func() Task) Event {
	script := c.settings().Checkpoint
	if script == nil {
		return Snapped{Failure: "there is no $action checkpoint"}
	}
	if err := c.saveWith(ctx, t, script, now); err != nil {
		c.lines.Job(pbs.LogError, t.Key.Job, "checkpoint failed: "+err.Error())
		return Snapped{Failure: err.Error()}
	}
	c.lines.Job(pbs.LogJob, t.Key.Job, "checkpointed, runs on")
	return Snapped{}
}

// snapshot is stopped as a staging is, also by another checkpoint.
func (r *Runner) snapshot(ctx context.Context) {
	r.haltable(ctx, func(saving context.Context, t Task) Event {
		r.saving <- struct{}{}
		defer func() { <-r.saving }()
		return r.site.checkpoints().snapshot(saving, t, r.Task)
	})
}

// checkSnap has a checkpoint made when it is due, and else looks again when it will be; cpu time
// is looked at with each measurement.
func (r *Runner) checkSnap(ctx context.Context) {
	r.alarms = slices.DeleteFunc(r.alarms, func(a alarm) bool { return a.snaps })
	by, every := r.task.period()
	if every == 0 || !r.task.snappable() {
		return
	}
	spent := r.task.Reckoning().total().CPU
	if by == "w" {
		spent = r.task.Suspension.Active(r.site.System.Elapsed(r.task.Handle))
	}
	last := r.task.Checkpoints.Snap
	if last.By != by {
		last.At = 0
	}
	left := last.At + every - spent
	if left <= 0 {
		r.now(ctx, SnapDue{By: by, At: spent, Able: r.site.Settings().Checkpoint != nil})
		return
	}
	if by == "w" {
		r.later(alarm{at: time.Now().Add(left), snaps: true})
	}
}

// snapsOtherwise reports whether an event has changed when the next checkpoint is due.
func snapsOtherwise(before, next Task, ev Event) bool {
	by, every := next.period()
	if every == 0 {
		return false
	}
	was, earlier := before.period()
	_, sampled := ev.(Sampled)
	return sampled && by == "c" || was != by || earlier != every || before.Suspension.stands() != next.Suspension.stands() || before.Checkpoints.Snap != next.Checkpoints.Snap ||
		before.Checkpoints.Hold.underWay() && !next.Checkpoints.Hold.underWay()
}
