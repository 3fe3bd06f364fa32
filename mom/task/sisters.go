package task

import (
	"slices"
	"syscall"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
)

// The events between the moms of a run.
type (
	// Joined says that every sister is part of the run, and what hooks here have set.
	Joined struct{ Used []spool.Used }
	// JoinFailed says that one is not.
	JoinFailed struct {
		Reason string
		Code   int          // what the log calls it; 0: pbs.ExitRetry
		Status int          // one of the Exit statuses; 0: pbs.ExitRetry
		Fault  pbs.HostName // the host whose fault it is; empty: none's
	}
	// Polled tells what the sisters that have answered have used so far.
	Polled struct {
		Shares map[pbs.HostName]Share
		Silent []pbs.HostName // those that have not answered
		Lost   pbs.HostName   // one whose part has ended, or that has been silent for too long
	}
	// Gathered says that the sisters were told to end their parts, and what they have used.
	Gathered struct{ Shares map[pbs.HostName]Share }
)

func (Joined) event()     {}
func (JoinFailed) event() {}
func (Polled) event()     {}
func (Gathered) event()   {}

// The deeds of a mother superior.
const (
	Join   Deed = "have the sisters join"
	Poll   Deed = "poll the sisters"
	Gather Deed = "end the sisters' parts"
)

// Over returns whether the part of the run on this host is over, or about to be reported so.
func (t Task) Over() bool {
	return t.State() == Delivering || t.State() == Ended || t.State() == Gathering
}

// Party reports whether the host is one of the run's.
func (t Task) Party(host pbs.HostName) bool {
	return slices.ContainsFunc(t.Hosts, func(h Host) bool { return h.Name == host }) && t.Assignment.stays(host)
}

// Node returns the number of this host among the run's, from 0.
func (o Order) Node() int {
	return slices.IndexFunc(o.Hosts, func(h Host) bool { return h.Name == o.Host })
}

// sisters returns the other hosts of a mother superior's run, but for those that were released.
func (t Task) sisters() []Host {
	if t.Sister() || len(t.Hosts) < 2 {
		return nil
	}
	if t.Assignment.Number == 0 {
		return t.Hosts[1:]
	}
	return slices.DeleteFunc(slices.Clone(t.Hosts[1:]), func(h Host) bool { return !t.Assignment.stays(h.Name) })
}

// begin starts the program, once the sisters are part of the run.
func (t mother) begin() (Task, []Action, error) {
	t.Life.Pruned = false
	if len(t.sisters()) > 0 {
		t.Task = t.to(beginJoinWord)
		t.Life, _ = t.Life.sistersTo(beginJoinWord)
		t.Life.Trial = nil
		if t.Prunable() { // else every host has its part
			t.Life.Trial = &Trial{Step: StepJoin}
		}
		return t.Task, []Action{{Do: Join}}, nil
	}
	return t.to(beginWord), []Action{{Do: Launch}}, nil
}

func (t mother) joined(ev Joined) (Task, []Action, error) {
	if t.State() != Joining {
		return t.Task, nil, nil
	}
	t.HookUsed = overlaid(t.HookUsed, ev.Used)
	return t.to(joinedWord), []Action{{Do: Launch}}, nil
}

func (t mother) joinFailed(ev JoinFailed) (Task, []Action, error) {
	if t.State() != Joining {
		return t.Task, nil, nil
	}
	status := pbs.ExitRetry
	if ev.Status != 0 {
		status = ev.Status
	}
	return t.neverStarted(spool.Ended{ExitStatus: status, Comment: ev.Reason, Lost: t.Life.Causes.has(Aborted), Fault: ev.Fault})
}

// needs reports whether the loss of a sister ends the run.
func (t mother) needs(host pbs.HostName) bool {
	return t.State() == Running && t.Assignment.keeps(host) && t.Life.LostHost == ""
}

// passesOn reports whether signals are for the sisters, too.
func (t mother) passesOn() bool { return t.Life.Sisters.open() && t.State() != Gathering }

// polled takes the sisters' shares over. A run that has lost a sister ends.
func (t mother) polled(ev Polled) (Task, []Action, error) {
	if t.State() != Running && t.State() != Ending {
		return t.Task, nil, nil
	}
	t.Usage = t.Usage.withShares(ev.Shares)
	if ev.Lost == "" || !t.Assignment.keeps(ev.Lost) || t.Life.LostHost != "" || t.State() == Ending || t.enduring() {
		return t.Task, []Action{{Do: Poll}}, nil
	}
	t.Task = t.to(endItWord)
	t.Life.LostHost = ev.Lost
	actions := []Action{{Do: Send, Signal: syscall.SIGKILL}, {Do: Grace, After: killGrace}, {Do: Poll}}
	return t.Task, actions, nil
}

// conclude ends the run on this host as result says, after the programs that the job has
// started and the sisters' parts have ended.
func (t mother) conclude(result spool.Ended) (Task, []Action, error) {
	t.Result = &result
	t.Task = t.to(programOver)
	actions := t.gather()
	if len(actions) > 0 {
		return t.Task, actions, nil
	}
	t.Task = t.to(allOverWord)
	return t.Task, t.delivery(), nil
}

// gather returns what is still to be done before the run is over on all hosts.
func (t mother) gather() []Action {
	var actions []Action
	if t.Programs.live() {
		actions = append(actions, Action{Do: Send, Signal: syscall.SIGKILL}, Action{Do: Grace, After: killGrace})
	}
	switch {
	case !t.awaitsParts():
	case t.lingers():
		actions = append(actions, Action{Do: KillSisters})
	default:
		actions = append(actions, Action{Do: Gather})
	}
	return actions
}

// awaitsParts reports whether sisters are still to be told to end what the output waits for.
func (t mother) awaitsParts() bool {
	return t.Life.Sisters.open() && !(t.lingers() && t.Life.Sisters == PartsKilled)
}

func (t mother) gathered(ev Gathered) (Task, []Action, error) {
	life, ok := t.Life.sistersTo(gatheredWord)
	if !ok || t.State() != Gathering && t.State() != Delivering {
		return t.Task, nil, nil
	}
	t.Usage = t.Usage.withShares(ev.Shares)
	t.Life = life
	return t.together()
}

// together goes on with the end once nothing is waited for any more.
func (t mother) together() (Task, []Action, error) {
	if t.Programs.live() || t.awaitsParts() {
		return t.Task, nil, nil
	}
	result := *t.Result
	result.Used = t.Used()
	t.Task = t.to(allOverWord)
	t.Result = &result
	return t.Task, t.delivery(), nil
}

// stepSister decides what follows from ev at a sister.
func (t sister) stepSister(ev Event) (Task, []Action, error) {
	switch ev := ev.(type) {
	case Accept:
		return t.Task, []Action{{Do: Confirm}}, nil
	case Resume:
		return t.resumeSister(ev)
	case Fetched:
		if part, ok := t.Part.step(takesPartWord); ok {
			t.Part, t.HookUsed, t.Known = part, overlaid(t.HookUsed, ev.Used), ev.Known
		}
		return t.Task, nil, nil
	case Prologue:
		return t.prologue()
	case PrologueOver:
		return t.prologueOver(ev)
	case Hooked:
		return t.hooked(ev)
	case Delivered:
		return t.concluded(ev)
	case Dismiss:
		return t.dismiss()
	case Reported:
		return t.reported()
	case Removed:
		return t.removed(ev)
	case Abandon:
		if t.Over() {
			return t.reported()
		}
		t.Part.Why |= Abandoned
		return t.leave(spool.Ended{ExitStatus: pbs.ExitRetry, Comment: "the start has failed"})
	case Failed:
		if t.Part.Stage != PartAccepted {
			return t.Task, nil, nil
		}
		if ev.Hook {
			t.Part.Why |= HooksRefused
		}
		return t.leave(spool.Ended{ExitStatus: ev.Status, Comment: ev.Reason, NeverStarted: true, Fault: ev.Fault})
	case Lapsed:
		if t.Lapse >= ev.Now || t.Part.Why.Has(PartFenced) || t.Over() {
			return t.Task, nil, nil
		}
		t.Part.Why |= PartFenced
		return t.leave(spool.Ended{ExitStatus: pbs.ExitAborted, Comment: fencedComment, Lost: true})
	case Kill:
		if t.Over() {
			return t.reported()
		}
		return t.leave(spool.Ended{ExitStatus: pbs.ExitKilled})
	case Abort:
		if t.Over() {
			return t.reported()
		}
		return t.leave(spool.Ended{ExitStatus: pbs.ExitAborted, Comment: "the mom ended its jobs", Lost: true})
	case GraceOver:
		return t.graceOver()
	case Signal:
		return t.signalSister(ev.Name)
	case Proceed:
		return t.proceed()
	case Sampled:
		return t.sampledSister(ev)
	case Alter:
		return t.alter(ev.Attrs)
	case Told:
		t.Reports = t.Reports.step(endToldWord)
		return t.Task, nil, nil
	case Forget:
		return t.forget()
	}
	return t.Task, nil, t.refused("unknown event")
}

func (t sister) resumeSister(ev Resume) (Task, []Action, error) {
	lost := func(why string) (Task, []Action, error) {
		return t.leave(spool.Ended{ExitStatus: pbs.ExitAborted, Comment: why, Lost: true, NeverStarted: t.State() == Accepted && t.Attrs != nil})
	}
	switch {
	case t.State() == Ended:
		return t.resumeOver()
	case t.State() == Delivering:
		return t.Task, t.Part.deeds(), nil
	case t.BootID != ev.BootID:
		return lost("the host was restarted")
	case !ev.Adopt:
		return lost("the mom was restarted")
	case t.State() == Accepted:
		return t.Task, []Action{{Do: Confirm}}, nil
	case t.State() == Ending && !t.Programs.live():
		return t.left()
	case t.State() == Ending:
		return t.leave(*t.Result)
	}
	var actions []Action
	if t.Part.Prologue == PrologueAsked {
		actions = append(actions, Action{Do: RunPrologue})
	}
	if !t.Assignment.Fits(t.Assignment.Number) {
		actions = append(actions, Action{Do: Resize})
	}
	return t.Task, append(actions, t.haltAgain()...), nil
}

func (t sister) signalSister(name string) (Task, []Action, error) {
	sig, err := ParseSignal(name)
	if err != nil {
		return t.Task, nil, err
	}
	if t.State() != Running {
		return t.Task, nil, t.refused("signal")
	}
	text := t.Suspension.told(name)
	t.Suspension = t.Suspension.signalled(name, 0)
	return t.Task, []Action{{Do: Send, Signal: sig, Text: text}}, nil
}

func (t sister) sampledSister(ev Sampled) (Task, []Action, error) {
	if t.State() != Running && t.State() != Ending {
		return t.Task, nil, nil
	}
	t.Peak = t.Peak.with(t.all(ev.Usage))
	return t.Task, nil, nil
}
