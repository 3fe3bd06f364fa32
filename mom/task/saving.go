package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"rampart/fsm/pbs"
	"rampart/transport/pause"
)

const (
	savePartFor = 15 * time.Second // a sister may be silent for, while a checkpoint is made
	// SavePartWait is how long a sister waits for its scripts before it says that it is still at it.
	SavePartWait = 10 * time.Second
)

// savePart is stopped as a staging is, also by a later checkpoint.
func (r *Runner) savePart(ctx context.Context) {
	r.haltable(ctx, func(saving context.Context, t Task) Event {
		r.saving <- struct{}{}
		defer func() { <-r.saving }()
		return r.site.checkpoints().savePart(saving, t, r.Task)
	})
}

// savePart makes the part of this host. The older one stays beside it: which of them counts the
// mother superior says when it asks for the next, or when the job goes on.
func (c *checkpoints) savePart(ctx context.Context, t Task, now func() Task) Event {
	ev := PartSaved{Number: t.Checkpoints.Attempt}
	script := c.settings().Checkpoint
	if script == nil || t.Checkpoints.Part.State == PartUnasked {
		ev.Failure = "there is no $action checkpoint"
		return ev
	}
	err := c.settle(t.Key.Job, t.Checkpoints.Part.Whole)
	if errors.Is(err, errNoPart) { // it is whole again with this one
		err = c.spool.DropCheckpoint(t.Key.Job)
	}
	var fresh func(bool) error
	if err == nil {
		if fresh, err = c.spool.NewCheckpoint(t.Key.Job); err == nil {
			if t, err = c.saveTasks(ctx, t, script, now); err == nil {
				err = c.seal(t)
			}
		}
		if err != nil {
			err = errors.Join(err, fresh(false))
		}
	}
	if err != nil {
		c.lines.Job(pbs.LogError, t.Key.Job, "checkpoint failed: "+err.Error())
		ev.Failure = err.Error()
		return ev
	}
	c.lines.Job(pbs.LogJob, t.Key.Job, "checkpointed, part of the job")
	return ev
}

// saveWith saves the programs of the job, on all its hosts. What an earlier checkpoint left counts until
// all of them are saved.
func (c *checkpoints) saveWith(ctx context.Context, t Task, script *ActionScript, now func() Task) error {
	fresh, err := c.spool.NewCheckpoint(t.Key.Job)
	if err == nil {
		var made Task
		if made, err = c.saveAll(ctx, t, script, now); err == nil {
			err = c.seal(made)
		}
	}
	return errors.Join(err, fresh(err == nil))
}

func (c *checkpoints) saveAll(ctx context.Context, t Task, script *ActionScript, now func() Task) (Task, error) {
	whole := c.whole(t.Key.Job)
	all, calls := errgroup.WithContext(ctx)
	all.SetLimit(peersAtOnce + 1)
	made := t
	all.Go(func() (err error) {
		made, err = c.saveTasks(calls, t, script, now)
		return err
	})
	for _, h := range t.sisters() {
		all.Go(func() error { return c.savePartAt(calls, h, t, whole) })
	}
	err := all.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil && now().Assignment.Number != t.Assignment.Number {
		err = errors.New("the hosts of the job have changed")
	}
	return made, err
}

// savePartAt has a sister make its part.
func (c *checkpoints) savePartAt(ctx context.Context, h Host, t Task, whole *CheckpointID) error {
	heard := time.Now()
	for {
		call, cancel := context.WithDeadline(ctx, heard.Add(savePartFor))
		busy, err := c.peers.Checkpoint(call, h, t.Key, t.Checkpoints.Attempt, whole)
		cancel()
		own, refused := errors.AsType[*pbs.Error](err)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && !busy:
			return nil
		case refused && own.Code != pbs.NoQuorum:
			return fmt.Errorf("host %s: %w", h.Name, err)
		case err == nil:
			heard = time.Now()
		case time.Since(heard) >= savePartFor:
			return fmt.Errorf("host %s does not answer: %w", h.Name, err)
		case !pause.For(ctx, joinAgain):
			return context.Cause(ctx)
		}
	}
}

// saveTasks runs the script for each program of the job on this host, and returns the task as it
// was saved.
func (c *checkpoints) saveTasks(ctx context.Context, t Task, script *ActionScript, now func() Task) (Task, error) {
	dir := c.spool.Checkpoint(t.Key.Job)
	if !t.Sister() {
		if err := c.scripts.run(ctx, t, script, saved{id: firstProgram, session: int64(t.Handle.Session), dir: dir}); err != nil {
			return t, err
		}
	}
	t.Programs = slices.Clone(t.Programs)
	for i, p := range t.Programs {
		switch {
		case p.Done():
			continue
		case p.State == ProgramStarting:
			return t, fmt.Errorf("task %08x is being started", p.ID)
		}
		err := c.scripts.run(ctx, t, script, saved{id: p.ID, session: int64(p.Handle.Session), dir: dir})
		if ended, ok := now().Programs.Of(p.ID); err != nil && ok && ended.Done() {
			t.Programs[i], err = ended, nil
		}
		if err != nil {
			return t, fmt.Errorf("task %08x: %w", p.ID, err)
		}
	}
	abort := t.Checkpoints.Hold.underWay() && !t.Checkpoints.Hold.Joint
	if !abort && len(now().Programs) != len(t.Programs) {
		return t, errors.New("a program was started meanwhile")
	}
	return t, nil
}

// seal writes the record of what was saved.
func (c *checkpoints) seal(t Task) error {
	record, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return c.spool.SealCheckpoint(t.Key.Job, recordFile, record)
}

// firstProgram is the number of the job's first program, by PBS's way of counting.
const firstProgram = 1

// A saved program is what a script of the site hears of one.
type saved struct {
	id      uint32
	session int64
	dir     string // of the checkpoint
}

func (p saved) name() string { return fmt.Sprintf("%08x", p.id) }

// errNoPart says that a host does not keep the part that is meant.
var errNoPart = errors.New("the host does not keep its part of the checkpoint")

// whole returns the checkpoint of the job that counts, nil if there is none: while a newer one is made
// it is the older one.
func (c *checkpoints) whole(job pbs.JobID) *CheckpointID {
	dir := c.spool.OlderCheckpoint(job)
	if _, err := os.Lstat(dir); err != nil {
		dir = c.spool.Checkpoint(job)
	}
	made, err := c.record(dir)
	if err != nil || made.Key.Job != job {
		return nil
	}
	id := made.checkpointID()
	return &id
}

// settle leaves the part of one checkpoint, nil for none. Without it nothing is changed.
func (c *checkpoints) settle(job pbs.JobID, whole *CheckpointID) error {
	if whole == nil {
		return c.spool.DropCheckpoint(job)
	}
	is := func(dir string) bool {
		made, err := c.record(dir)
		return err == nil && made.Key.Job == job && made.checkpointID() == *whole
	}
	switch {
	case is(c.spool.Checkpoint(job)):
		return c.spool.KeepCheckpoint(job)
	case is(c.spool.OlderCheckpoint(job)):
		return c.spool.SettleCheckpoint(job)
	}
	return fmt.Errorf("%w: %s", errNoPart, filepath.Base(c.spool.Checkpoint(job)))
}
