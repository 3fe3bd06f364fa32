package task

import (
	"slices"
	"syscall"

	"rampart/fsm/pbs"
)

func (t mother) fetched() (Task, []Action, error) {
	if t.State() != Accepted || t.Staging.underWay() {
		return t.Task, nil, nil // it was killed in the meantime
	}
	if (len(t.itemsIn()) > 0 || t.OutputAt != "") && t.Staging.State == FilesAway {
		t.Staging = t.Staging.step(stageInWord)
		return t.Task, []Action{{Do: StageIn}}, nil
	}
	return t.begin()
}

func (t mother) launched(ev Launched) (Task, []Action, error) {
	if t.State() != Starting {
		return t.Task, nil, nil
	}
	t.Task = t.to(shimWord)
	t.Handle = ev.Handle
	t.HookUsed = overlaid(t.HookUsed, ev.Used)
	if t.Life.StartedAt == 0 {
		t.Life.StartedAt, t.Life.JobDir = ev.At, ev.JobDir
	}
	actions := []Action{{Do: Announce}, {Do: Watch}}
	if len(t.sisters()) > 0 {
		actions = append(actions, Action{Do: Poll})
	}
	if t.Life.condemned() {
		t.Task = t.to(endItWord)
		return t.Task, append(actions, t.terminate()...), nil
	}
	for _, name := range t.Life.Signals {
		if sig, err := ParseSignal(name); err == nil {
			actions = append(actions, Action{Do: Send, Signal: sig})
		}
	}
	t.Life.Signals = nil
	if len(ev.Programs) > 0 && len(t.Programs) == 0 {
		next, starts := t.restore(ev.Programs)
		return next, append(actions, starts...), nil
	}
	return t.Task, actions, nil
}

// notFound goes back to the order: nothing was started, and nothing will be before the
// servers have confirmed the run.
func (t mother) notFound() (Task, []Action, error) {
	switch {
	case t.State() != Starting:
		return t.Task, nil, nil
	case t.Life.condemned():
		return t.failed(Failed{Status: pbs.ExitAborted, Reason: "it was not started"})
	}
	return t.to(noShimWord), []Action{{Do: Confirm}}, nil
}

func (t mother) signal(ev Signal) (Task, []Action, error) {
	name := ev.Name
	sig, err := ParseSignal(name)
	if err != nil {
		return t.Task, nil, err
	}
	switch t.State() {
	case Accepted, Joining, Starting:
		t.Life.Signals = append(t.Life.Signals[:len(t.Life.Signals):len(t.Life.Signals)], name)
		return t.Task, nil, nil
	case Running, Ending:
		if t.State() == Running && t.Suspension.stands() && sig == syscall.SIGCONT && !isSuspension(name) {
			return t.Task, nil, nil // it was asked for before the suspension, and only a resumption ends that
		}
		text := suspension(name)
		if t.Suspension.State == Resuming && text == "" && sig == syscall.SIGCONT {
			text = resumed // so that the sisters hear of the resumption, which hooks have kept from them
		}
		t.Suspension = t.Suspension.signalled(name, ev.Elapsed)
		return t.Task, []Action{{Do: Send, Signal: sig, Text: text}}, nil
	}
	return t.Task, nil, t.refused("signal")
}

func (t mother) sampled(ev Sampled) (Task, []Action, error) {
	if t.State() != Running && t.State() != Ending {
		return t.Task, nil, nil
	}
	ev.Usage.Wall = t.Suspension.Active(ev.Usage.Wall)
	ev.Usage = t.all(ev.Usage)
	t.Peak = t.Peak.with(ev.Usage)
	over := t.exceeded(ev.Enforce)
	if t.State() == Ending || over == nil {
		return t.Task, nil, nil
	}
	t.Task = t.to(endItWord)
	t.Life.Breach = over.exit
	return t.Task, append([]Action{{Do: Note, Text: over.words}}, t.terminate()...), nil
}

func (t Task) alter(changes Attrs) (Task, []Action, error) {
	if t.State() == Delivering || t.State() == Ended {
		return t, nil, t.refused("alter")
	}
	for _, c := range changes {
		if c.Name == sisterDown && t.State().starting() {
			t = t.tried(SisterTried{Host: pbs.HostName(c.Value)})
		}
	}
	return t.Altered(changes), nil, nil
}

// Altered returns the task with other values of its job's attributes.
func (t Task) Altered(changes Attrs) Task {
	attrs := slices.Clone(t.Attrs)
	for _, c := range changes {
		if c.Name == sisterDown {
			continue
		}
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
	return t
}
