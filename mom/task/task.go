package task

import (
	"fmt"
	"strconv"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
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
)

var stateNames = [...]string{
	Accepted: "accepted", Starting: "starting", Running: "running",
	Ending: "ending", Delivering: "delivering", Ended: "ended",
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

// An Attr is one attribute of the job, or one resource of a list.
type Attr struct {
	Name     string `json:"name"`
	Resource string `json:"resource,omitempty"`
	Value    string `json:"value"`
}

// Attrs are the job's attributes as they came with the order.
type Attrs []Attr

// Get returns the value of an attribute, "" if it is not set.
func (a Attrs) Get(name string) string { return a.Resource(name, "") }

// Resource returns one value of a resource list, "" if it is not set.
func (a Attrs) Resource(name, resource string) string {
	for _, attr := range a {
		if attr.Name == name && attr.Resource == resource {
			return attr.Value
		}
	}
	return ""
}

// A Task is the record of one run. It is a file format: see recordVersion.
type Task struct {
	Version int           `json:"version"`
	Key     spool.TaskKey `json:"key"`
	State   State         `json:"state"`
	BootID  string        `json:"boot_id"` // of the host when the order came
	Attrs   Attrs         `json:"attrs"`
	Script  bool          `json:"script"` // else it runs executable and argument_list
	Cookie  string        `json:"cookie"`
	Lapse   uint64        `json:"lapse"` // of the host's deadline when the order came

	Handle    proc.Handle `json:"handle"`
	JobDir    string      `json:"jobdir,omitempty"`
	StartedAt int64       `json:"started_at,omitempty"` // nanoseconds of the wall clock
	Announced bool        `json:"announced,omitempty"`  // the fact Started is in the spool

	Kill    *Killing     `json:"kill,omitempty"`
	Limit   string       `json:"limit,omitempty"` // what it exceeded, in PBS's words
	Aborted bool         `json:"aborted,omitempty"`
	Fenced  bool         `json:"fenced,omitempty"`  // the deadline passed: the servers may have given it up
	Signals []string     `json:"signals,omitempty"` // to be sent once it runs
	Peak    Peak         `json:"peak"`
	Result  *spool.Ended `json:"result,omitempty"`
	Told    bool         `json:"told,omitempty"` // the fact Ended is in the spool
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
		Version: recordVersion, Key: k, State: Accepted, BootID: bootID,
		Attrs: attrs, Script: script, Cookie: cookie,
	}
}

// Lost returns the task of a record that the crash of the host has spoilt.
func Lost(k spool.TaskKey) Task {
	return Task{Version: recordVersion, Key: k, State: Accepted}
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

// Used returns resources_used as the servers are told, sorted by name.
func (t Task) Used() []spool.Used {
	ncpus := t.Attrs.Resource("Resource_List", "ncpus")
	if ncpus == "" {
		ncpus = "0"
	}
	seconds := func(d time.Duration) string { return resource.Seconds(int64(d / time.Second)).String() }
	size := func(n int64) string { return resource.Kilobytes((n + 1023) / 1024).String() }
	return []spool.Used{
		{Resource: "cpupercent", Value: fmt.Sprint(t.Peak.Percent)},
		{Resource: "cput", Value: seconds(t.Peak.CPU)},
		{Resource: "mem", Value: size(t.Peak.RSS)},
		{Resource: "ncpus", Value: ncpus},
		{Resource: "vmem", Value: size(t.Peak.VSize)},
		{Resource: "walltime", Value: seconds(t.Peak.Wall)},
	}
}

// limit returns a limit of the job in the unit of resource.Quantity.Int; ok is false
// when it has none.
func (t Task) limit(name string) (n int64, ok bool) {
	text := t.Attrs.Resource("Resource_List", name)
	def, known := resource.Lookup(name)
	if text == "" || !known {
		return 0, false
	}
	q, err := resource.Parse(def.Type, text)
	return q.Int(), err == nil
}

// exceeded returns PBS's words for the first limit that the job is over. Memory is
// only enforced where the site says so.
func (t Task) exceeded(enforceMem bool) string {
	over := func(name, unit string, used int64) string {
		if max, ok := t.limit(name); ok && used > max {
			return fmt.Sprintf("%s %d%s exceeded limit %d%s", name, used, unit, max, unit)
		}
		return ""
	}
	checks := []string{
		over("walltime", "", int64(t.Peak.Wall/time.Second)),
		over("cput", "", int64(t.Peak.CPU/time.Second)),
	}
	if enforceMem {
		checks = append(checks, over("mem", "kb", t.Peak.RSS/1024), over("vmem", "kb", t.Peak.VSize/1024))
	}
	for _, words := range checks {
		if words != "" {
			return words
		}
	}
	return ""
}

func (t Task) rerunnable() bool { return t.Attrs.Get("Rerunable") != "False" }

func (t Task) requeued() bool { return t.Kill != nil && t.Kill.Requeue }

// refused is the error of an event that the task cannot take now.
func (t Task) refused(what string) error {
	return fmt.Errorf("%s of a task that is %s: %w", what, t.State, pbs.Refuse(pbs.BadState))
}
