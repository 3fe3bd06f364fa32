package task

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
