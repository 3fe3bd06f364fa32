package task

import (
	"fmt"
	"strconv"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// killGrace is the time between SIGTERM and SIGKILL when nobody says another.
const killGrace = 10 * time.Second

// killDelay returns the time between SIGTERM and SIGKILL: that of the order to kill the
// job, else that of the queue, which came with the order to run it.
func (t Task) killDelay() time.Duration {
	if t.Life.Kill.there() {
		return t.Life.Kill.Delay
	}
	if n, err := strconv.ParseInt(t.Attrs.Get("kill_delay"), 10, 32); err == nil {
		return time.Duration(n) * time.Second
	}
	return killGrace
}

// A Task is the record of one run. It is a file format: see recordVersion.
type Task struct {
	Version int `json:"version"`
	Order
	// Life is of a mother superior, and of a host that has the run for itself; Part of a sister.
	Life Life `json:"life,omitzero"`
	Part Part `json:"part,omitzero"`

	Assignment  Assignment  `json:"assignment,omitzero"`
	Staging     Staging     `json:"staging,omitzero"`
	Suspension  Suspension  `json:"suspension,omitzero"`
	Checkpoints Checkpoints `json:"checkpoints,omitzero"`
	Handle      proc.Handle `json:"handle,omitzero"` // of the first program
	Programs    Programs    `json:"programs,omitempty"`
	Usage
	Result  *spool.Ended `json:"result,omitempty"`
	Reports Reports      `json:"reports,omitempty"`
}

// Sister reports whether the host is not the first of the run's.
func (t Task) Sister() bool { return t.Part.Stage != 0 }

// State returns where the task stands, a sister's part in the same words.
func (t Task) State() State {
	if t.Sister() {
		return t.Part.state()
	}
	return t.Life.State
}

const recordVersion = 1

// Peak is the greatest use that was seen while the job ran.
type Peak struct {
	CPU     time.Duration `json:"cpu"`
	Wall    time.Duration `json:"wall"`
	RSS     int64         `json:"rss"`
	VSize   int64         `json:"vsize"`
	Percent int64         `json:"percent"`
	// Largest is how much the process had at the last look that then had most: a limit on it counts from when it is set.
	Largest int64 `json:"largest,omitempty"`
}

// New returns the task of a fresh order.
func New(k spool.TaskKey, attrs Attrs, script bool, bootID, cookie string) Task {
	return Task{
		Version: recordVersion, Life: Life{State: Accepted},
		Order: Order{Key: k, BootID: bootID, Attrs: attrs, Script: script, Cookie: cookie},
	}
}

// NewPart returns the task of a host that is asked to take part in a run of others.
func NewPart(k spool.TaskKey, attrs Attrs, bootID, cookie string) Task {
	return Task{
		Version: recordVersion, Part: Part{Stage: PartAccepted},
		Order: Order{Key: k, BootID: bootID, Attrs: attrs, Cookie: cookie},
	}
}

// Lost returns the task of a record that the crash of the host has spoilt.
func Lost(k spool.TaskKey) Task {
	return Task{Version: recordVersion, Life: Life{State: Accepted}, Order: Order{Key: k}}
}

// with returns the peak after one more measurement.
func (p Peak) with(u proc.Usage) Peak {
	next := Peak{
		CPU: max(p.CPU, u.CPU), Wall: max(p.Wall, u.Wall),
		RSS: max(p.RSS, u.RSS), VSize: max(p.VSize, u.VSize), Percent: p.Percent, Largest: u.Largest,
	}
	if wall := u.Wall - p.Wall; wall >= time.Second && u.CPU > p.CPU {
		next.Percent = max(p.Percent, int64(100*(u.CPU-p.CPU)/wall))
	}
	return next
}

// refused is the error of an event that the task cannot take now.
func (t Task) refused(what string) error {
	return fmt.Errorf("%s of a task that is %s: %w", what, t.State(), pbs.Refuse(pbs.BadState))
}
