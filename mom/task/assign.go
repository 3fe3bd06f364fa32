package task

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
)

// An AssignStep is how far an order about the assignment of a run is.
type AssignStep uint8

// The steps. What is asked may be withdrawn, so nobody but this mom is told of it before it is
// done.
const (
	AssignAsked AssignStep = iota + 1
	AssignDone
	AssignWithdrawn
)

// Assign is an order about the assignment of a run: the one that is in force from now on. A sister
// hears of it from its mother superior, when it is done.
type Assign struct {
	Number uint64 // rising in a run; one not above the last changes nothing
	Step   AssignStep
	Attrs  Attrs          // with all of Resource_List
	Hosts  []pbs.HostName // that keep vnodes, the mother superior first
}

// SistersTold says that sisters have heard of what became of their parts.
type SistersTold struct {
	Reported map[pbs.HostName]Share  // those that end, and what they have used
	Left     map[pbs.HostName]Share  // those that are over, and what they have used
	Told     map[pbs.HostName]uint64 // those that go on, and by which order

	saved chan struct{} // closed when it is in the record; nil if nobody waits
}

// SistersKilled says that the sisters' programs were told to end.
type SistersKilled struct{}

func (Assign) event()        {}
func (SistersKilled) event() {}
func (SistersTold) event()   {}

// The deeds after a release.
const (
	TellSisters Deed = "tell the sisters of the release"
	Resize      Deed = "fit the job into its new assignment"
	Renode      Deed = "write the node file"
	KillSisters Deed = "end the sisters' programs"
)

// assign puts another assignment in force.
func (t Task) assign(ev Assign) (Task, []Action, error) {
	switch {
	case ev.Number <= t.Assignment.Number:
		return t, nil, nil
	case t.Sister() && t.State() != Running:
		return t, nil, t.refused("assignment")
	case t.Sister(): // its mother superior may be broken: the owner, for one, is as the servers said
		ev.Attrs = ev.Attrs.assignment()
		t.Attrs, t.Assignment = t.Attrs.assigned(ev.Attrs), t.Assignment.set(ev)
		t.Assignment.Refusal = ""
		return t, []Action{{Do: Resize}}, nil
	case t.State() == Ended || t.Attrs == nil:
		return t, nil, t.refused("assignment")
	}
	t.Attrs = t.Attrs.assigned(ev.Attrs)
	switch ev.Step {
	case AssignAsked:
		t.Assignment = t.Assignment.asked(ev, t.Hosts)
		return t, nil, nil
	case AssignWithdrawn:
		t.Assignment = t.Assignment.set(ev)
		return t, nil, nil
	}
	t.Assignment = t.Assignment.done(ev, t.Hosts[min(1, len(t.Hosts)):])
	if t.State().unstarted() { // hooks see it before the program
		return t, mother{t}.parting(), nil
	}
	return t, append([]Action{{Do: Resize}}, mother{t}.parting()...), nil
}

// assigned takes the values of an order over. Of Resource_List only what it names stays.
func (a Attrs) assigned(changes Attrs) Attrs {
	attrs := slices.DeleteFunc(slices.Clone(a), func(a Attr) bool {
		return a.Name == "Resource_List" || slices.ContainsFunc(changes, func(n Attr) bool { return n.Name == a.Name })
	})
	return append(attrs, changes...)
}

// assignment names the attributes of a run that a release changes.
var assignment = []string{"exec_vnode", "exec_host", "exec_host2", "schedselect", "Resource_List"}

// Assigned returns the attributes that say which vnodes the run has.
func (o Order) Assigned() Attrs { return o.Attrs.assignment() }

func (a Attrs) assignment() Attrs {
	return slices.DeleteFunc(slices.Clone(a), func(a Attr) bool { return !slices.Contains(assignment, a.Name) })
}

// Present returns what Used does, of the hosts that keep vnodes only.
func (t Task) Present() []spool.Used {
	present := make(map[pbs.HostName]Share, len(t.Shares))
	for host, share := range t.Shares {
		if t.Assignment.keeps(host) {
			present[host] = share
		}
	}
	t.Shares = present
	return t.Used()
}

// parting returns what is still to be told to sisters.
func (t mother) parting() []Action {
	if !t.Assignment.open() || t.quit() {
		return nil
	}
	return []Action{{Do: TellSisters}}
}

// quit reports whether no sister is told anything any more.
func (t mother) quit() bool {
	return t.Life.Sisters == PartsGathered || t.State() == Ended || t.dismisses()
}

func (t mother) sistersTold(ev SistersTold) (Task, []Action, error) {
	next, shares := t.Assignment.take(ev)
	t.Assignment = next
	t.Usage = t.Usage.withShares(shares)
	return t.Task, t.parting(), nil
}

// lingers reports whether the sisters stay until files were staged out: the servers may release them
// meanwhile (specification: ramp-down section 12). Their programs end before.
func (t mother) lingers() bool {
	return t.Attrs.Get("release_nodes_on_stageout") == "True" && t.Result != nil && !t.Result.NeverStarted && !t.again() &&
		len(t.itemsOut()) > 0 && !t.Staging.isOut()
}

// dismisses reports whether the sisters leave by the release that the job has asked for at its stage-out: that was over
// before the servers could ask for it, and releases them as the job ends.
func (t mother) dismisses() bool {
	return t.Life.Sisters == PartsKilled && t.Staging.isOut() && !t.again()
}

func (t mother) sistersKilled() (Task, []Action, error) {
	life, ok := t.Life.sistersTo(killedWord)
	if t.State() != Gathering || !ok {
		return t.Task, nil, nil
	}
	t.Life = life
	return t.together()
}

// members returns the sisters that have not left the run.
func (t Task) members() []Host {
	if t.Sister() || len(t.Hosts) < 2 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.Hosts[1:]), func(h Host) bool { return t.Assignment.Members[h.Name] == MemberLeft })
}

// stepAssign decides what follows from an event of the assignment; ok is false if it is none.
func (t Task) stepAssign(ev Event) (next Task, actions []Action, err error, ok bool) {
	switch ev := ev.(type) {
	case Assign:
		next, actions, err = t.assign(ev)
	case SistersTold:
		next, actions, err = mother{t}.sistersTold(ev)
	case SistersKilled:
		next, actions, err = mother{t}.sistersKilled()
	case Fitted:
		t.Assignment = t.Assignment.fitted(ev)
		next = t
	default:
		return t, nil, nil, false
	}
	return next, actions, err, true
}
