package task

import (
	"syscall"
	"time"

	"rampart/mom/proc"
	"rampart/mom/spool"
)

// An Event is something that happened to a task.
type Event interface{ event() }

// The events of a task's life.
type (
	// Accept is the first event of a task: its order has come.
	Accept struct{}
	// Resume is the first event after a restart of the mom.
	Resume struct {
		BootID string
		Adopt  bool // let it run on
	}
	// Fetched says that the script is on disk.
	Fetched struct{}
	// Launched says that the shim runs.
	Launched struct {
		Handle proc.Handle
		JobDir string
		At     int64
	}
	// Failed says that the job cannot be started, with one of the Exit statuses.
	Failed struct {
		Status int
		Reason string
		Barred bool // the shim itself said so: there is none on its way
	}
	// Found says that a shim has claimed the folder of a task that was about to end as
	// never started.
	Found struct{ Launched }
	// Lapsed says that the host's deadline has passed, and which number the next one has.
	Lapsed struct{ Now uint64 }
	// NotFound says that no shim was started before the mom's restart.
	NotFound struct{}
	// Announced says that the fact Started is in the spool.
	Announced struct{}
	// Exited says that the shim has ended.
	Exited struct{ Exit proc.Exit }
	// Vanished says that the shim has ended without a word.
	Vanished struct{}
	// Kill asks for the end of the job.
	Kill struct{ Killing }
	// Abort ends the job because the mom is told to stop.
	Abort struct{}
	// GraceOver says that SIGTERM was not enough.
	GraceOver struct{}
	// Signal asks for a signal to all processes.
	Signal struct{ Name string }
	// Sampled is a measurement.
	Sampled struct {
		Usage      proc.Usage
		EnforceMem bool
	}
	// Alter changes attributes of the running job, such as its limits.
	Alter struct{ Attrs Attrs }
	// Delivered says where the output went.
	Delivered struct {
		StageOut int
		Comment  string
	}
	// Told says that the fact Ended is in the spool.
	Told struct{}
	// Forget lets the mom drop an ended task.
	Forget struct{}
)

func (Accept) event()    {}
func (Resume) event()    {}
func (Fetched) event()   {}
func (Launched) event()  {}
func (Failed) event()    {}
func (NotFound) event()  {}
func (Lapsed) event()    {}
func (Announced) event() {}
func (Exited) event()    {}
func (Vanished) event()  {}
func (Kill) event()      {}
func (Abort) event()     {}
func (GraceOver) event() {}
func (Signal) event()    {}
func (Sampled) event()   {}
func (Alter) event()     {}
func (Delivered) event() {}
func (Told) event()      {}
func (Forget) event()    {}

// A Deed is a kind of Action.
type Deed string

// The deeds. Each can be repeated.
const (
	Fetch    Deed = "fetch the script"
	Confirm  Deed = "ask whether the run still counts"
	Launch   Deed = "launch"
	Recover  Deed = "look for the shim"
	Announce Deed = "report the start"
	Watch    Deed = "watch the shim"
	Send     Deed = "signal"
	Grace    Deed = "allow a grace"
	Note     Deed = "note on stderr"
	Deliver  Deed = "deliver the output"
	Discard  Deed = "discard the output"
	Bar      Deed = "forestall a shim"
	Report   Deed = "report the end"
	Clean    Deed = "clean up"
	Drop     Deed = "drop"
)

// An Action is something to be done; its result comes back as another Event.
type Action struct {
	Do     Deed
	Signal syscall.Signal // of Send
	After  time.Duration  // of Grace
	Text   string         // of Note
}

// step decides what follows from ev. It starts nothing and reads no clock.
func step(t Task, ev Event) (next Task, actions []Action, err error) {
	switch ev := ev.(type) {
	case Accept:
		return t, []Action{{Do: Fetch}}, nil
	case Resume:
		return t.resume(ev)
	case Fetched:
		return t.fetched()
	case Launched:
		return t.launched(ev)
	case Failed:
		return t.failed(ev)
	case NotFound:
		return t.notFound()
	case Found:
		return t.found(ev.Launched)
	case Lapsed:
		return t.lapsed(ev.Now)
	case Announced:
		t.Announced = true
		return t, nil, nil
	case Exited:
		return t.exited(ev.Exit)
	case Vanished:
		return t.vanished()
	case Kill:
		return t.kill(ev.Killing)
	case Abort:
		return t.abort()
	case GraceOver:
		return t.graceOver()
	case Signal:
		return t.signal(ev.Name)
	case Sampled:
		return t.sampled(ev)
	case Alter:
		return t.alter(ev.Attrs)
	case Delivered:
		return t.delivered(ev)
	case Told:
		t.Told = true
		return t, nil, nil
	case Forget:
		return t.forget()
	}
	return t, nil, t.refused("unknown event")
}

func (t Task) resume(ev Resume) (Task, []Action, error) {
	switch {
	case t.State == Ended && t.Told:
		return t, []Action{{Do: Clean}}, nil
	case t.State == Ended:
		return t, []Action{{Do: Report}, {Do: Clean}}, nil
	case t.State == Delivering:
		return t, t.delivery(), nil
	case t.BootID != ev.BootID && (t.State == Accepted || t.State == Starting):
		return t.lost("the host was restarted")
	case t.BootID != ev.BootID: // what the shim may have written before is on disk
		return t, []Action{{Do: Watch}}, nil
	}
	if !ev.Adopt {
		t.Aborted = true
	}
	switch {
	case t.State == Accepted && t.Aborted:
		return t.lost("the mom was restarted")
	case t.State == Accepted: // while we were away the servers may have given the run up
		return t, []Action{{Do: Confirm}}, nil
	case t.State == Starting:
		return t, []Action{{Do: Recover}}, nil
	}
	actions := []Action{{Do: Watch}}
	if !t.Announced {
		actions = append(actions, Action{Do: Announce})
	}
	if t.Aborted || t.Fenced {
		t.State = Ending
	}
	if t.State == Ending {
		actions = append(actions, t.terminate()...)
	}
	return t, actions, nil
}

func (t Task) fetched() (Task, []Action, error) {
	if t.State != Accepted {
		return t, nil, nil // it was killed in the meantime
	}
	t.State = Starting
	return t, []Action{{Do: Launch}}, nil
}

func (t Task) launched(ev Launched) (Task, []Action, error) {
	if t.State != Starting {
		return t, nil, nil
	}
	t.State, t.Handle = Running, ev.Handle
	if t.StartedAt == 0 {
		t.StartedAt, t.JobDir = ev.At, ev.JobDir
	}
	actions := []Action{{Do: Announce}, {Do: Watch}}
	if t.Kill != nil || t.Aborted || t.Fenced {
		t.State = Ending
		return t, append(actions, t.terminate()...), nil
	}
	for _, name := range t.Signals {
		if sig, err := ParseSignal(name); err == nil {
			actions = append(actions, Action{Do: Send, Signal: sig})
		}
	}
	t.Signals = nil
	return t, actions, nil
}

// notFound goes back to the order: nothing was started, and nothing will be before the
// servers have confirmed the run.
func (t Task) notFound() (Task, []Action, error) {
	switch {
	case t.State != Starting:
		return t, nil, nil
	case t.Aborted || t.Kill != nil || t.Fenced:
		return t.failed(Failed{Status: ExitAborted, Reason: "it was not started"})
	}
	t.State = Accepted
	return t, []Action{{Do: Confirm}}, nil
}

func (t Task) failed(ev Failed) (Task, []Action, error) {
	if t.State != Accepted && t.State != Starting {
		return t, nil, nil
	}
	status := ev.Status
	if t.Aborted {
		status = ExitAborted
	}
	t.Barred = t.Barred || ev.Barred
	return t.neverStarted(spool.Ended{ExitStatus: status, Comment: ev.Reason, Lost: t.Aborted})
}

// neverStarted ends a task whose program did not run, once it is sure that it will not.
func (t Task) neverStarted(result spool.Ended) (Task, []Action, error) {
	if t.requeued() && !result.Lost {
		result.ExitStatus = ExitRerun
	}
	result.NeverStarted, result.Used = true, t.Used()
	t.State, t.Result = Delivering, &result
	return t, t.delivery(), nil
}

// found takes back that the program did not run: a shim that an earlier mom spawned has
// come before the bar.
func (t Task) found(ev Launched) (Task, []Action, error) {
	if t.State != Delivering || !t.Result.NeverStarted {
		return t, nil, nil
	}
	t.State, t.Result = Starting, nil
	return t.launched(ev)
}

// comment of a job that the fence has ended.
const fencedComment = "the host ended the job: no server was heard of in time"

// lapsed ends a task of an earlier deadline: its run may have been given up.
func (t Task) lapsed(now uint64) (Task, []Action, error) {
	if t.Lapse >= now || t.Fenced {
		return t, nil, nil
	}
	switch t.State {
	case Accepted:
		t.Fenced = true
		return t.neverStarted(spool.Ended{ExitStatus: ExitRetry, Comment: fencedComment})
	case Starting:
		t.Fenced = true
		return t, nil, nil
	case Running, Ending:
		t.Fenced, t.State = true, Ending
		return t, t.terminate(), nil
	}
	return t, nil, nil
}

func (t Task) exited(e proc.Exit) (Task, []Action, error) {
	if t.State != Running && t.State != Ending {
		return t, nil, nil
	}
	rss := e.MaxRSS
	if rss <= e.ShimRSS && t.Peak.RSS > 0 {
		rss = 0 // it may be the shim's, and we have seen the job's own
	}
	t.Peak = t.Peak.with(proc.Usage{CPU: e.CPU, Wall: e.Wall, RSS: rss})
	result := spool.Ended{ExitStatus: e.Status, Used: t.Used()}
	switch {
	case t.requeued():
		result.ExitStatus = ExitRerun
	case t.Aborted:
		result.ExitStatus, result.Lost, result.Comment = ExitAborted, true, "the mom ended its jobs"
	case e.Fenced || t.Fenced:
		result.ExitStatus, result.Lost, result.Comment = ExitAborted, true, fencedComment
	}
	t.State, t.Result = Delivering, &result
	return t, t.delivery(), nil
}

func (t Task) vanished() (Task, []Action, error) {
	if t.State != Running && t.State != Ending {
		return t, nil, nil
	}
	next, actions, err := t.lost("the job's processes are gone")
	// What the shim left behind must not outlive the report (L2).
	return next, append([]Action{{Do: Send, Signal: syscall.SIGKILL}}, actions...), err
}

// lost ends a task whose program can neither be watched nor have an exit status.
func (t Task) lost(why string) (Task, []Action, error) {
	result := spool.Ended{
		ExitStatus: ExitAborted, Used: t.Used(), Comment: why, Lost: true,
		NeverStarted: t.State == Accepted && t.Attrs != nil,
	}
	if t.requeued() {
		result.ExitStatus = ExitRerun
	}
	t.State, t.Result = Delivering, &result
	return t, t.delivery(), nil
}

// delivery throws the output of a run away that will be repeated.
func (t Task) delivery() []Action {
	if t.Result.NeverStarted && !t.Barred {
		return []Action{{Do: Bar}}
	}
	again := t.requeued() || t.Result.Lost && t.rerunnable()
	if again || t.Result.NeverStarted {
		return []Action{{Do: Discard}}
	}
	return []Action{{Do: Deliver}}
}

func (t Task) kill(k Killing) (Task, []Action, error) {
	if t.Kill != nil {
		k.Requeue = k.Requeue || t.Kill.Requeue
		k.Delay = min(k.Delay, t.Kill.Delay)
	}
	sooner := t.Kill == nil || k.Delay < t.Kill.Delay
	switch t.State {
	case Accepted:
		t.Kill = &k
		return t.neverStarted(spool.Ended{ExitStatus: 256 + int(syscall.SIGTERM)})
	case Starting:
		t.Kill = &k
		return t, nil, nil
	case Running, Ending:
		t.Kill, t.State = &k, Ending
		if sooner {
			return t, t.terminate(), nil
		}
		return t, nil, nil
	}
	return t, nil, nil // it has ended, and the report is on its way
}

func (t Task) abort() (Task, []Action, error) {
	switch t.State {
	case Accepted:
		t.Aborted = true
		return t.lost("the mom was stopped")
	case Starting:
		t.Aborted = true
		return t, nil, nil
	case Running, Ending:
		t.Aborted, t.State = true, Ending
		return t, t.terminate(), nil
	}
	return t, nil, nil
}

// terminate asks the processes to end, or makes them.
func (t Task) terminate() []Action {
	delay := t.killDelay()
	if t.Aborted || t.Fenced || delay <= 0 {
		return []Action{{Do: Send, Signal: syscall.SIGKILL}, {Do: Grace, After: killGrace}}
	}
	return []Action{{Do: Send, Signal: syscall.SIGTERM}, {Do: Grace, After: delay}}
}

func (t Task) graceOver() (Task, []Action, error) {
	if t.State != Ending {
		return t, nil, nil
	}
	return t, []Action{{Do: Send, Signal: syscall.SIGKILL}, {Do: Grace, After: killGrace}}, nil
}

func (t Task) signal(name string) (Task, []Action, error) {
	sig, err := ParseSignal(name)
	if err != nil {
		return t, nil, err
	}
	switch t.State {
	case Accepted, Starting:
		t.Signals = append(t.Signals[:len(t.Signals):len(t.Signals)], name)
		return t, nil, nil
	case Running, Ending:
		return t, []Action{{Do: Send, Signal: sig}}, nil
	}
	return t, nil, t.refused("signal")
}

func (t Task) sampled(ev Sampled) (Task, []Action, error) {
	if t.State != Running && t.State != Ending {
		return t, nil, nil
	}
	t.Peak = t.Peak.with(ev.Usage)
	words := t.exceeded(ev.EnforceMem)
	if t.State == Ending || words == "" {
		return t, nil, nil
	}
	t.State, t.Limit = Ending, words
	return t, append([]Action{{Do: Note, Text: words}}, t.terminate()...), nil
}

func (t Task) alter(changes Attrs) (Task, []Action, error) {
	if t.State == Delivering || t.State == Ended {
		return t, nil, t.refused("alter")
	}
	attrs := append(Attrs(nil), t.Attrs...)
	for _, c := range changes {
		found := false
		for i := range attrs {
			if attrs[i].Name == c.Name && attrs[i].Resource == c.Resource {
				attrs[i], found = c, true
			}
		}
		if !found {
			attrs = append(attrs, c)
		}
	}
	t.Attrs = attrs
	return t, nil, nil
}

func (t Task) delivered(ev Delivered) (Task, []Action, error) {
	if t.State != Delivering {
		return t, nil, nil
	}
	result := *t.Result
	result.StageOut = ev.StageOut
	if ev.Comment != "" {
		result.Comment = ev.Comment
	}
	t.State, t.Result = Ended, &result
	t.Barred = t.Barred || result.NeverStarted
	return t, []Action{{Do: Report}, {Do: Clean}}, nil
}

func (t Task) forget() (Task, []Action, error) {
	if t.State != Ended {
		return t, nil, t.refused("forget")
	}
	return t, []Action{{Do: Drop}}, nil
}
