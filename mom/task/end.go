package task

import (
	"slices"
	"syscall"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

func (t mother) failed(ev Failed) (Task, []Action, error) {
	if t.State() != Accepted && t.State() != Joining && t.State() != Starting {
		return t.Task, nil, nil
	}
	status := ev.Status
	if t.Life.Causes.has(Aborted) {
		status = pbs.ExitAborted
	}
	t.Life.Barred, t.Staging = t.Life.Barred || ev.Barred, t.Staging.step(notComeWord)
	return t.neverStarted(spool.Ended{ExitStatus: status, Comment: ev.Reason, Lost: t.Life.Causes.has(Aborted), Fault: ev.Fault})
}

// neverStarted ends a task whose program did not run, once it is sure that it will not.
func (t mother) neverStarted(result spool.Ended) (Task, []Action, error) {
	if t.Life.Kill.Requeue && !result.Lost {
		result.ExitStatus = pbs.ExitRerun
	}
	result.NeverStarted, result.Used = true, t.Used()
	return t.conclude(result)
}

// found takes back that the program did not run: a shim that an earlier mom spawned has
// come before the bar.
func (t mother) found(ev Launched) (Task, []Action, error) {
	if t.State() != Delivering || !t.Result.NeverStarted {
		return t.Task, nil, nil
	}
	t.Task = t.to(shimFirstWord)
	t.Result = nil
	if t.Life.Sisters == PartsGathered { // they have left it
		t.Life.Causes |= Aborted
	}
	return t.launched(ev)
}

// comment of a job that the fence has ended.
const fencedComment = "the host ended the job: no server was heard of in time"

// lapsed ends a task of an earlier deadline: its run may have been given up.
func (t mother) lapsed(now uint64) (Task, []Action, error) {
	if t.Lapse >= now || t.Life.Causes.has(Fenced) || t.State() > Ending {
		return t.Task, nil, nil
	}
	t.Life.Causes |= Fenced
	switch state := t.State(); {
	case state == Accepted && t.Staging.underWay():
		return t.Task, []Action{{Do: Halt}}, nil
	case state == Accepted, state == Joining:
		return t.neverStarted(spool.Ended{ExitStatus: pbs.ExitRetry, Comment: fencedComment})
	case state == Starting:
		return t.Task, nil, nil
	}
	t.Task = t.to(endItWord)
	return t.Task, t.terminate(), nil
}

// exited concludes a run whose first program has ended. Only that program's exit status counts: those of other programs are told to whoever
// started them (programDown). When something else has ended the run, its status replaces the program's, the first of these that applies: a
// checkpoint (unless the job is to end as well, ofCheckpoint), a rerun, the stop of the mom, a lost sister, a limit, the fence. A deletion replaces none; the server decides what becomes of
// the job (settle in fsm/command).
func (t mother) exited(e proc.Exit) (Task, []Action, error) {
	if t.State() != Running && t.State() != Ending {
		return t.Task, nil, nil
	}
	rss := e.MaxRSS
	if rss <= e.ShimRSS && t.Peak.RSS > 0 {
		rss = 0 // it may be the shim's, and we have seen the job's own
	}
	t.Spent += e.CPU
	t.Peak = t.Peak.with(proc.Usage{CPU: t.Spent, Wall: t.Suspension.Active(e.Wall), RSS: rss})
	result := spool.Ended{ExitStatus: e.Status, Used: t.Used()}
	if ended, ok := t.ofCheckpoint(e); ok {
		ended.Used = result.Used
		return t.conclude(ended)
	}
	switch {
	case t.Life.Kill.Requeue:
		result.ExitStatus = pbs.ExitRerun
	case t.Life.Causes.has(Aborted):
		result.ExitStatus, result.Lost, result.Comment = pbs.ExitAborted, true, "the mom ended its jobs"
	case t.Life.LostHost != "":
		result.ExitStatus, result.Lost, result.Comment = pbs.ExitAborted, true, "Job ended, the part on host "+string(t.Life.LostHost)+" is lost"
	case t.Life.Breach != 0:
		result.ExitStatus = t.Life.Breach
	case e.Fenced || t.Life.Causes.has(Fenced):
		result.ExitStatus, result.Lost, result.Comment = pbs.ExitAborted, true, fencedComment
	}
	return t.conclude(result)
}

func (t mother) vanished() (Task, []Action, error) {
	if t.State() != Running && t.State() != Ending {
		return t.Task, nil, nil
	}
	next, actions, err := t.lost("the job's processes are gone")
	// What the shim left behind must not outlive the report (L2).
	return next, append([]Action{{Do: Send, Signal: syscall.SIGKILL}}, actions...), err
}

// lost ends a task whose program can neither be watched nor have an exit status.
func (t mother) lost(why string) (Task, []Action, error) {
	t.Staging = t.Staging.step(notComeWord)
	result := spool.Ended{
		ExitStatus: pbs.ExitAborted, Used: t.Used(), Comment: why, Lost: true,
		NeverStarted: (t.State() == Accepted || t.State() == Joining) && t.Attrs != nil,
	}
	if t.Life.Kill.Requeue {
		result.ExitStatus = pbs.ExitRerun
	}
	return t.conclude(result)
}

// delivery throws the output of a run away that will be repeated.
func (t mother) delivery() []Action {
	if t.Result.NeverStarted && !t.Life.Barred {
		return []Action{{Do: Bar}}
	}
	switch {
	case t.Result.Checkpointed, t.goesOn():
		return []Action{{Do: Keep}}
	case t.again() || t.Result.NeverStarted:
		return []Action{{Do: Discard}}
	case len(t.itemsOut()) > 0 && !t.Staging.isOut():
		return []Action{{Do: StageOut}}
	case t.Life.Sisters.open():
		return []Action{{Do: Gather}}
	}
	return []Action{{Do: Deliver}}
}

// again reports whether the run will be repeated.
func (t mother) again() bool { return t.Life.Kill.Requeue || t.Result.Lost && t.rerunnable() }

func (t mother) kill(ev Kill) (Task, []Action, error) {
	k, sooner := t.Life.Kill.with(ev.Killing)
	if next, actions, waits := t.preterm(Kill{Killing: k, Hooks: ev.Hooks}); waits {
		return next, actions, nil
	}
	if t.State() > Ending { // it has ended, and the report is on its way
		t.Life.Kill = t.Life.Kill.step(agreedWord)
		return t.Task, nil, nil
	}
	t.Life.Kill = t.Life.Kill.step(killWord)
	t.Life.Kill.Killing = k
	switch state := t.State(); {
	case state == Accepted && t.Staging.underWay():
		return t.Task, []Action{{Do: Halt}}, nil
	case state == Accepted, state == Joining:
		return t.neverStarted(spool.Ended{ExitStatus: pbs.ExitTerminated})
	case state == Starting:
		return t.Task, []Action{{Do: Halt}}, nil
	}
	t.Task = t.to(endItWord)
	if !sooner {
		return t.Task, nil, nil
	}
	return t.Task, t.terminate(), nil
}

func (t mother) abort() (Task, []Action, error) {
	if t.State() > Ending {
		return t.Task, nil, nil
	}
	t.Life.Causes |= Aborted
	switch state := t.State(); {
	case state == Accepted && t.Staging.underWay():
		return t.Task, []Action{{Do: Halt}}, nil
	case state == Accepted, state == Joining:
		return t.lost("the mom was stopped")
	case state == Starting:
		return t.Task, nil, nil
	}
	t.Task = t.to(endItWord)
	return t.Task, t.terminate(), nil
}

// terminate asks the processes to end, or makes them.
func (t mother) terminate() []Action {
	delay := t.killDelay()
	if t.Life.forced() || delay <= 0 || t.Checkpoints.Hold.done() && !t.Life.Kill.there() {
		return []Action{{Do: Send, Signal: syscall.SIGKILL}, {Do: Grace, After: killGrace}}
	}
	actions := []Action{{Do: Send, Signal: syscall.SIGTERM, Ends: true}, {Do: Grace, After: delay, Ends: true}}
	if t.Suspension.stands() || t.Suspension.State == Resuming { // else it does not see the signal
		actions = slices.Insert(actions, 1, Action{Do: Send, Signal: syscall.SIGCONT})
	}
	return actions
}

// terminated begins the grace when the site's script has told the job to end. One that has failed counts for nothing.
func (t mother) terminated(ev Terminated) (Task, []Action, error) {
	if t.State() != Ending {
		return t.Task, nil, nil
	}
	grace := Action{Do: Grace, After: t.killDelay()}
	if ev.Failure == "" {
		return t.Task, []Action{grace}, nil
	}
	return t.Task, []Action{{Do: Send, Signal: syscall.SIGTERM}, grace}, nil
}

func (t Task) graceOver() (Task, []Action, error) {
	if t.State() != Ending && (t.State() != Gathering || !t.Programs.live()) {
		return t, nil, nil
	}
	return t, []Action{{Do: Send, Signal: syscall.SIGKILL}, {Do: Grace, After: killGrace}}, nil
}

func (t mother) delivered(ev Delivered) (Task, []Action, error) {
	if t.State() != Delivering {
		return t.Task, nil, nil
	}
	result := *t.Result
	result.StageOut = ev.StageOut
	if len(ev.Used) > 0 {
		t.HookUsed = overlaid(t.HookUsed, ev.Used)
		result.Used = t.Used()
	}
	if ev.Comment != "" {
		result.Comment = ev.Comment
	}
	if t.Staging.Failure != "" {
		result.StageOut, result.Comment = stageOutFailed, t.Staging.Failure
	}
	if t.Assignment.Released() {
		result.Present = t.Present()
	}
	t.Task = t.to(deliveredWord)
	t.Result, t.Life.Barred = &result, t.Life.Barred || result.NeverStarted
	return t.Task, []Action{{Do: Report}, {Do: Clean}}, nil
}

func (t Task) forget() (Task, []Action, error) {
	if t.State() != Ended {
		return t, nil, t.refused("forget")
	}
	return t, []Action{{Do: Drop}}, nil
}
