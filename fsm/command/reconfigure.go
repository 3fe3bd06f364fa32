package command

import (
	"slices"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Reconfigure replaces the configuration that came from the files of LSF, with the queues, the resources and the
// values that it sets: badmin reconfig (specification: reservation section 8.7). The leader has read and checked the
// files. What the one before has set and this one does not, and nobody has changed since, is set no more.
type Reconfigure struct {
	Config    lsf.Config          `cbor:"1,keyasint"`
	Resources []state.ResourceDef `cbor:"2,keyasint,omitempty"`
	Queues    []Setting           `cbor:"3,keyasint,omitempty"`
	Server    attr.List           `cbor:"4,keyasint,omitempty"`
}

// A Setting is what a configuration says of one object.
type Setting struct {
	Name  string    `cbor:"1,keyasint"`
	Attrs attr.List `cbor:"2,keyasint,omitempty"`
}

// Apply makes the whole change or none of it.
func (c *Reconfigure) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	r := &reconfiguring{tx: tx, meta: m, res: res, before: tx.Reconfigured()}
	for _, def := range c.Resources {
		if err := r.resource(def); err != nil {
			return naming(attr.Resource, def.Def.Name, err)
		}
	}
	for _, q := range c.Queues {
		if err := r.queue(q); err != nil {
			return naming(attr.Queue, q.Name, err)
		}
	}
	if err := r.server(c.Server); err != nil {
		return naming(attr.Server, "", err)
	}
	if err := r.endQueues(); err != nil {
		return err
	}
	if err := r.hosts(&c.Config); err != nil {
		return err
	}
	tx.PutLSF(&state.LSF{Config: c.Config, Written: r.written})
	tx.Emit(state.Event{Kind: state.ObjectChanged, Object: "lsf", By: m.Asker, Text: "reconfigured"})
	return nil
}

// naming says of which object of a configuration something is refused.
func naming(o attr.Object, name string, err error) error {
	what := o.String()
	if name != "" {
		what += " " + name
	}
	return pbs.Errorf(pbs.CodeOf(err), "%s: %s", what, err)
}

// reconfiguring is a Reconfigure at work.
type reconfiguring struct {
	tx      *state.Tx
	meta    Meta
	res     *state.Result
	before  *state.LSF
	written []state.Written
}

func (r *reconfiguring) apply(c Command) error { return c.Apply(r.tx, r.meta, r.res) }

// resource makes a resource, or has one be what the configuration says.
func (r *reconfiguring) resource(d state.ResourceDef) error {
	old, known := r.tx.Resource(d.Def.Name)
	if known && !old.Builtin && old == d.Def {
		return nil
	}
	verb := VerbSet
	if !known {
		verb = VerbCreate
	}
	return r.apply(&ManageResource{Verb: verb, Name: d.Def.Name, Changes: []AttrChange{
		{Entry: attr.Entry{Name: "type", Value: d.Def.Type.String()}},
		{Entry: attr.Entry{Name: "flag", Value: d.Def.Flags.String()}},
	}})
}

// queue makes a queue that takes jobs and starts them, or changes one.
func (r *reconfiguring) queue(s Setting) error {
	name := pbs.QueueName(s.Name)
	q, there := r.tx.Queue(name)
	before, _ := r.before.WrittenOn(attr.Queue, s.Name)
	made := before.Made
	var changes []AttrChange
	verb := VerbSet
	switch {
	case !there:
		verb, made = VerbCreate, true
		changes = []AttrChange{{Entry: attr.Entry{Name: "enabled", Value: "True"}}, {Entry: attr.Entry{Name: "started", Value: "True"}}}
	case q.Reservation != "":
		return pbs.Errorf(pbs.QueueExists, "it is the queue of reservation %s", q.Reservation)
	default:
		changes = takenBack(before.Attrs, s.Attrs, q.Attrs)
		if before.Ended {
			changes = append(changes, AttrChange{Entry: attr.Entry{Name: "enabled", Value: "True"}})
		}
	}
	changes = append(changes, setting(s.Attrs)...)
	if err := r.apply(&ManageQueue{Verb: verb, Queue: name, Changes: changes}); err != nil {
		return err
	}
	r.written = append(r.written, state.Written{Object: attr.Queue.String(), Name: s.Name, Attrs: s.Attrs, Made: made})
	return nil
}

func (r *reconfiguring) server(list attr.List) error {
	before, _ := r.before.WrittenOn(attr.Server, "")
	changes := append(takenBack(before.Attrs, list, r.tx.Server().Attrs), setting(list)...)
	if len(list) > 0 {
		r.written = append(r.written, state.Written{Object: attr.Server.String(), Attrs: list})
	}
	if len(changes) == 0 {
		return nil
	}
	return r.apply(&ManageServer{Verb: VerbSet, Changes: changes})
}

// endQueues takes back what was set on queues that the configuration does not name any more. One that was there by
// it alone goes when it has no jobs, and takes no more while it has some.
func (r *reconfiguring) endQueues() error {
	for _, w := range r.before.Written {
		if w.Object != attr.Queue.String() || slices.ContainsFunc(r.written, func(n state.Written) bool { return n.Object == w.Object && n.Name == w.Name }) {
			continue
		}
		q, ok := r.tx.Queue(pbs.QueueName(w.Name))
		counts := r.tx.CountsOf(pbs.QueueName(w.Name))
		var c Command
		switch {
		case !ok:
			continue
		case w.Made && counts.Total() == 0:
			c = &ManageQueue{Verb: VerbDelete, Queue: q.Name}
		case w.Made:
			w.Ended = true
			r.written = append(r.written, w)
			c = &ManageQueue{Verb: VerbSet, Queue: q.Name, Changes: []AttrChange{{Entry: attr.Entry{Name: "enabled", Value: "False"}}}}
		default:
			c = &ManageQueue{Verb: VerbUnset, Queue: q.Name, Changes: takenBack(w.Attrs, nil, q.Attrs)}
		}
		if err := r.apply(c); err != nil {
			return naming(attr.Queue, w.Name, err)
		}
	}
	return nil
}

// takenBack returns changes that unset what an earlier configuration has set, this one does not, and nobody has changed since.
func takenBack(before, now, present attr.List) []AttrChange {
	var changes []AttrChange
	for _, e := range before {
		_, again := now.Get(e.Name, e.Resource)
		if value, ok := present.Get(e.Name, e.Resource); ok && !again && value == e.Value {
			changes = append(changes, AttrChange{Entry: e, Op: OpUnset})
		}
	}
	return changes
}

func setting(list attr.List) []AttrChange {
	changes := make([]AttrChange, 0, len(list))
	for _, e := range list {
		changes = append(changes, AttrChange{Entry: e})
	}
	return changes
}
