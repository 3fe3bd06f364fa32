package task

import (
	"fmt"
	"strconv"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// A State is where a task stands. The numbers are in records on disk: append only.
type State uint8

// The states of a task.
const (
	Accepted   State = iota + 1 // the order is on disk, the script is on its way
	Starting                    // the shim is being started, or runs unknown to us
	Running                     // the shim and the session are known
	Ending                      // signals were sent, or are about to be
	Delivering                  // all processes are gone, the output is on its way
	Ended                       // nothing is left to do but to be told to forget
	Joining                     // the script is on disk, the sisters are being asked
	Gathering                   // the job's first program has ended; other programs and the sisters' parts are to
)

var stateNames = [...]string{
	Accepted: "accepted", Starting: "starting", Running: "running",
	Ending: "ending", Delivering: "delivering", Ended: "ended",
	Joining: "joining", Gathering: "ending",
}

// String returns the state as a word.
func (s State) String() string {
	if s == 0 || int(s) >= len(stateNames) {
		return fmt.Sprintf("state %d", uint8(s))
	}
	return stateNames[s]
}

// The exit statuses of a job that did not end by itself, as PBS numbers them.
const (
	ExitOwnFault = -1  // it could not be started, and it will not be better next time
	ExitRetry    = -3  // it could not be started now
	ExitAborted  = -4  // it was lost or ended by the mom's start or stop
	ExitRerun    = -11 // it was sent back to the queue
	ExitJoin     = -30 // a sister did not join
)

// killGrace is the time between SIGTERM and SIGKILL when nobody says another.
const killGrace = 10 * time.Second

// killDelay returns the time between SIGTERM and SIGKILL: that of the order to kill the
// job, else that of the queue, which came with the order to run it.
func (t Task) killDelay() time.Duration {
	if t.Kill != nil {
		return t.Kill.Delay
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
	State  State `json:"state"`
	Sister bool  `json:"sister,omitempty"`
	// Of a mother superior: the sisters may have joined; they were told to end; what each has
	// used; the one whose loss ends the run.
	Asked    bool                   `json:"asked,omitempty"`
	Gathered bool                   `json:"gathered,omitempty"`
	Shares   map[pbs.HostName]Share `json:"shares,omitempty"`
	LostHost pbs.HostName           `json:"lost_host,omitempty"`
	Trial    *Trial                 `json:"trial,omitempty"` // of a start that tolerates failures
	// Of a sister: how far it is with the hooks before the program, why they have refused, and
	// whether the start has failed.
	Prologue        PrologueState `json:"prologue,omitempty"`
	PrologueFailure string        `json:"prologue_failure,omitempty"`
	Abandoned       bool          `json:"abandoned,omitempty"`
	HookRefused     bool          `json:"hook_refused,omitempty"` // its taking part
	// Of a sister that ends: how far it is; the run goes on without it.
	Leave     LeaveStage `json:"leave,omitempty"`
	Dismissed bool       `json:"dismissed,omitempty"`

	Assignment Assignment    `json:"assignment,omitzero"`
	Hushed     bool          `json:"hushed,omitempty"` // the sisters' programs were told to end, but not their parts
	Programs   []Program     `json:"programs,omitempty"`
	Spent      time.Duration `json:"spent,omitempty"` // cpu time of those that have ended, the first one included

	Handle    proc.Handle `json:"handle"`
	JobDir    string      `json:"jobdir,omitempty"`
	StartedAt int64       `json:"started_at,omitempty"` // nanoseconds of the wall clock
	Announced bool        `json:"announced,omitempty"`  // the fact Started is in the spool

	Kill       *Killing   `json:"kill,omitempty"`
	Preterm    bool       `json:"preterm,omitempty"` // hooks are asked whether it may end
	Limit      string     `json:"limit,omitempty"`   // what it exceeded, in PBS's words
	Breach     int        `json:"breach,omitempty"`  // the exit status that says so
	Aborted    bool       `json:"aborted,omitempty"`
	Fenced     bool       `json:"fenced,omitempty"`  // the deadline passed: the servers may have given it up
	Signals    []string   `json:"signals,omitempty"` // to be sent once it runs
	Peak       Peak       `json:"peak"`
	Staging    Staging    `json:"staging,omitzero"`
	Suspension Suspension `json:"suspension,omitzero"`

	Result      *spool.Ended `json:"result,omitempty"`
	Checkpoints Checkpoints  `json:"checkpoints,omitzero"`

	// HookUsed is what hooks on this host have set of resources_used.
	HookUsed []spool.Used `json:"hook_used,omitempty"`
	Told     bool         `json:"told,omitempty"` // the fact Ended is in the spool
	// Barred says that no shim has run the program, nor ever will: only then may the end
	// say that it was never started.
	Barred bool `json:"barred,omitempty"`
}

const recordVersion = 1

// A Killing is somebody's wish that the job ends.
type Killing struct {
	Delay   time.Duration `json:"delay"`
	Requeue bool          `json:"requeue"`
}

// Peak is the greatest use that was seen while the job ran.
type Peak struct {
	CPU     time.Duration `json:"cpu"`
	Wall    time.Duration `json:"wall"`
	RSS     int64         `json:"rss"`
	VSize   int64         `json:"vsize"`
	Percent int64         `json:"percent"`
}

// New returns the task of a fresh order.
func New(k spool.TaskKey, attrs Attrs, script bool, bootID, cookie string) Task {
	return Task{
		Version: recordVersion, State: Accepted,
		Order: Order{Key: k, BootID: bootID, Attrs: attrs, Script: script, Cookie: cookie},
	}
}

// Lost returns the task of a record that the crash of the host has spoilt.
func Lost(k spool.TaskKey) Task {
	return Task{Version: recordVersion, State: Accepted, Order: Order{Key: k}}
}

// with returns the peak after one more measurement.
func (p Peak) with(u proc.Usage) Peak {
	next := Peak{
		CPU: max(p.CPU, u.CPU), Wall: max(p.Wall, u.Wall),
		RSS: max(p.RSS, u.RSS), VSize: max(p.VSize, u.VSize), Percent: p.Percent,
	}
	if wall := u.Wall - p.Wall; wall >= time.Second && u.CPU > p.CPU {
		next.Percent = max(p.Percent, int64(100*(u.CPU-p.CPU)/wall))
	}
	return next
}

func (t Task) requeued() bool { return t.Kill != nil && t.Kill.Requeue }

// refused is the error of an event that the task cannot take now.
func (t Task) refused(what string) error {
	return fmt.Errorf("%s of a task that is %s: %w", what, t.State, pbs.Refuse(pbs.BadState))
}
