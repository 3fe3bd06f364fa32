package task

import "slices"

// step decides what follows from ev. It starts nothing and reads no clock.
func step(t Task, ev Event) (next Task, actions []Action, err error) {
	if resume, ok := ev.(Resume); ok {
		return t.resumeAll(resume)
	}
	if next, actions, err, ok := t.stepProgram(ev); ok {
		return next, actions, err
	}
	if next, actions, err, ok := t.stepAssign(ev); ok {
		return next, actions, err
	}
	if next, ok := t.stepTrial(ev); ok {
		return next, nil, nil
	}
	if next, actions, err, ok := t.stepPart(ev); ok {
		return next, actions, err
	}
	if next, actions, err, ok := t.stepCheckpoint(ev); ok {
		return next, actions, err
	}
	if next, actions, ok := t.stepSnap(ev); ok {
		return next, actions, nil
	}
	if t.Sister() {
		next, actions, err := sister{t}.stepSister(ev)
		next, actions = sister{next}.withoutPart(actions)
		return next, actions, err
	}
	next, actions, err = mother{t}.stepLife(ev)
	return next, mother{next}.withoutHold(ev, actions), err
}

// stepLife decides what follows from an event of the run's life.
func (t mother) stepLife(ev Event) (Task, []Action, error) {
	switch ev := ev.(type) {
	case Accept:
		return t.Task, []Action{{Do: Fetch}}, nil
	case Joined:
		return t.joined(ev)
	case JoinFailed:
		return t.joinFailed(ev)
	case Polled:
		return t.polled(ev)
	case Gathered:
		return t.gathered(ev)
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
		t.Reports = t.Reports.step(startToldWord)
		return t.Task, nil, nil
	case Exited:
		return t.exited(ev.Exit)
	case Vanished:
		return t.vanished()
	case Kill:
		return t.kill(ev)
	case PretermOver:
		return t.pretermOver(ev)
	case Abort:
		return t.abort()
	case GraceOver:
		return t.graceOver()
	case Terminated:
		return t.terminated(ev)
	case Signal:
		return t.signal(ev)
	case Proceed:
		return t.proceed()
	case Sampled:
		return t.sampled(ev)
	case Alter:
		return t.alter(ev.Attrs)
	case StagedIn:
		return t.stagedIn(ev)
	case StagedOut:
		return t.stagedOut(ev)
	case Hooked:
		return t.hooked(ev)
	case Delivered:
		return t.delivered(ev)
	case Told:
		t.Reports = t.Reports.step(endToldWord)
		return t.Task, nil, nil
	case Forget:
		return t.forget()
	}
	return t.Task, nil, t.refused("unknown event")
}

// resumeAll takes up what an earlier mom has left: the programs that the job has started, then
// the job.
func (t Task) resumeAll(ev Resume) (Task, []Action, error) {
	var programs []Action
	t.Programs, programs = t.Programs.resume(t.BootID != ev.BootID)
	t, unsaved := t.resumeCheckpoints()
	next, actions, err := t.resumeAs(ev)
	return next, slices.Concat(programs, unsaved, actions), err
}

func (t Task) resumeAs(ev Resume) (Task, []Action, error) {
	if t.Sister() {
		return sister{t}.resumeSister(ev)
	}
	return mother{t}.resume(ev)
}

func (t mother) resume(ev Resume) (Task, []Action, error) {
	switch {
	case t.State() == Ended && t.Reports.Told():
		return t.Task, []Action{{Do: Clean}}, nil
	case t.State() == Ended:
		return t.Task, []Action{{Do: Report}, {Do: Clean}}, nil
	case t.State() == Delivering:
		return t.Task, append(t.delivery(), t.parting()...), nil
	case t.State() == Gathering && len(t.gather()) > 0:
		return t.Task, t.gather(), nil
	case t.State() == Gathering:
		return t.together()
	case t.BootID != ev.BootID && (t.State() == Accepted || t.State() == Joining || t.State() == Starting):
		return t.lost("the host was restarted")
	case t.BootID != ev.BootID: // what the shim may have written before is on disk
		return t.Task, []Action{{Do: Watch}}, nil
	}
	if !ev.Adopt {
		t.Life.Causes |= Aborted
	}
	if t.Staging.underWay() && (t.Life.Kill.ordered() || t.Life.Causes.has(Fenced)) {
		return t.stagedIn(StagedIn{})
	}
	t.Staging = t.Staging.step(notComeWord) // it begins anew
	switch {
	case (t.State() == Accepted || t.State() == Joining) && t.Life.Causes.has(Aborted):
		return t.lost("the mom was restarted")
	case t.State() == Joining:
		t.Task = t.to(restartWord)
		return t.Task, slices.Concat([]Action{{Do: Confirm}}, t.parting(), t.askAgain()), nil
	case t.State() == Accepted: // while we were away the servers may have given the run up
		return t.Task, slices.Concat([]Action{{Do: Confirm}}, t.parting(), t.askAgain()), nil
	case t.State() == Starting:
		return t.Task, slices.Concat([]Action{{Do: Recover}}, t.parting(), t.askAgain()), nil
	}
	actions := []Action{{Do: Watch}}
	if len(t.sisters()) > 0 {
		actions = append(actions, Action{Do: Poll})
	}
	if t.Assignment.Number > 0 {
		actions = append(actions, Action{Do: Renode})
	}
	actions = append(actions, t.parting()...)
	if t.Reports == NothingTold {
		actions = append(actions, Action{Do: Announce})
	}
	if t.Life.forced() {
		t.Task = t.to(endItWord)
	}
	if t.State() == Ending {
		actions = append(actions, t.terminate()...)
	}
	actions = append(actions, t.haltAgain()...)
	return t.Task, append(actions, t.askAgain()...), nil
}
