package service

import (
	"context"
	"strconv"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/acct"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// everyone is qmgr's name for all objects of a kind.
const everyone = "@default"

// verbs are qmgr's verbs as commands carry them.
var verbs = map[api.Verb]command.Verb{
	api.Verb_VERB_CREATE: command.VerbCreate, api.Verb_VERB_DELETE: command.VerbDelete,
	api.Verb_VERB_SET: command.VerbSet, api.Verb_VERB_UNSET: command.VerbUnset,
}

// A directive is one line of qmgr, parsed and permitted.
type directive struct {
	verb    command.Verb
	name    string
	changes []command.AttrChange
}

// Manage is one directive of qmgr on one object, or on all of a kind.
func (b *Batch) Manage(ctx context.Context, r *connect.Request[api.ManageRequest]) (*connect.Response[api.ManageReply], error) {
	began, seen := time.Now(), managementOf(r.Msg)
	_, err := b.change(ctx, r, func(p person) ([]command.Command, error) {
		commands, err := directives(p, r.Msg)
		if err == nil {
			err = b.ownFolders(p, commands)
		}
		if err == nil {
			err = b.knownHosts(ctx, p.view, r.Msg)
		}
		if err == nil && b.AwaitCycle != nil {
			b.endScheduling(ctx, p.view, commands)
		}
		return commands, err
	})
	b.managed(ctx, began, seen, err)
	if err == nil && r.Msg.GetKind() == api.ObjectKind_OBJECT_KIND_VNODE && r.Msg.GetVerb() == api.Verb_VERB_CREATE {
		b.introduce(ctx, pbs.VnodeName(r.Msg.GetName()))
	}
	return reply(&api.ManageReply{}, err)
}

// introduceFor bounds the wait for a mom to tell of a vnode that was made.
const introduceFor = 2 * time.Second

// introduce has the mom of a vnode that was just made tell what it offers, so that it is free at
// once. A mom that does not answer tells it with its next renewal.
func (b *Batch) introduce(ctx context.Context, name pbs.VnodeName) {
	v, err := b.present(ctx)
	if err != nil || b.Agent == nil {
		return
	}
	vn, ok := v.Vnode(name)
	if !ok || !unreported(v, vn.Host) {
		return
	}
	h, ok := v.Host(vn.Host)
	if !ok || !h.Up || h.Address == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, introduceFor)
	defer cancel()
	if _, err := b.Agent(string(h.Name), h.Address).Ping(ctx, connect.NewRequest(&api.PingRequest{Register: true})); err != nil {
		b.Logger.Debug("a mom was not asked for its vnodes", "host", h.Name, "error", err)
		return
	}
	for {
		changed := b.Replica.Changed()
		if v, err = b.Replica.Read(ctx, cluster.Stale); err != nil || !unreported(v, h.Name) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// directives returns the commands of a directive, one for each object.
func directives(p person, r *api.ManageRequest) ([]command.Command, error) {
	verb, ok := verbs[r.GetVerb()]
	if !ok {
		return nil, pbs.Refuse(pbs.InvalidRequest)
	}
	kind, ok := managed[r.GetKind()]
	if !ok {
		return nil, pbs.Refuse(pbs.NotSupported)
	}
	if kind.object == attr.Hook {
		if err := mayHooks(p, r.GetName()); err != nil {
			return nil, err
		}
	}
	if p.perm < attr.Operator || (p.perm < attr.Manager && (verb == command.VerbCreate || verb == command.VerbDelete)) {
		return nil, deny(p, "Req", kind.word, r.GetName(), typeManage)
	}
	if r.GetKind() == api.ObjectKind_OBJECT_KIND_SHARE {
		return manageShares(p, verb, r)
	}
	if verb == command.VerbUnset {
		for _, a := range r.GetChanges() {
			a.Op = api.Op_OP_UNSET
		}
	}
	changes, err := parseChanges(p, kind.object, r.GetChanges())
	if err != nil {
		return nil, err
	}
	return kind.commands(p, directive{verb, r.GetName(), changes})
}

// managed says how each kind of object is managed.
var managed = map[api.ObjectKind]struct {
	word     string
	object   attr.Object
	commands func(p person, d directive) ([]command.Command, error)
}{
	api.ObjectKind_OBJECT_KIND_SERVER:   {"Server", attr.Server, manageServer},
	api.ObjectKind_OBJECT_KIND_QUEUE:    {"Queue", attr.Queue, manageQueues},
	api.ObjectKind_OBJECT_KIND_VNODE:    {"Node", attr.Vnode, manageVnodes},
	api.ObjectKind_OBJECT_KIND_HOST:     {"Node", attr.Vnode, manageHosts},
	api.ObjectKind_OBJECT_KIND_RESOURCE: {"Resource", attr.Resource, manageResource},
	api.ObjectKind_OBJECT_KIND_SCHED:    {"Sched", attr.Sched, manageSched},
	api.ObjectKind_OBJECT_KIND_SHARE:    {"Sched", attr.Sched, nil}, // see manageShares
	api.ObjectKind_OBJECT_KIND_HOOK:     {"Hook", attr.Hook, manageHooks(false)},
	api.ObjectKind_OBJECT_KIND_PBSHOOK:  {"Hook", attr.Hook, manageHooks(true)},
}

func manageServer(p person, d directive) ([]command.Command, error) {
	if !isAlias(p.view, d.name) {
		return nil, pbs.Refuse(pbs.InvalidRequest)
	}
	for _, c := range d.changes {
		if c.Entry.Name == "timezone" && c.Op != command.OpUnset && !acct.IsZone(c.Entry.Value) {
			return nil, pbs.Attribute(pbs.BadAttributeValue, "timezone")
		}
	}
	return []command.Command{&command.ManageServer{Verb: d.verb, Changes: d.changes}}, nil
}

func manageQueues(p person, d directive) ([]command.Command, error) {
	if d.name != everyone {
		if err := manageReserved(p.view, d); err != nil {
			return nil, err
		}
		return []command.Command{&command.ManageQueue{Verb: d.verb, Queue: pbs.QueueName(d.name), Changes: d.changes}}, nil
	}
	var all []command.Command
	for q := range p.view.Queues() {
		if q.Reservation == "" { // those are changed one by one
			all = append(all, &command.ManageQueue{Verb: d.verb, Queue: q.Name, Changes: d.changes})
		}
	}
	return all, nil
}

// manageReserved refuses what a reservation does with its queue itself: it goes with the reservation, is one from which
// jobs run, and is started while that runs (specification: advance-reservations section 8).
func manageReserved(v *state.View, d directive) error {
	r, ok := v.ReservationOf(pbs.QueueName(d.name))
	if !ok {
		return nil
	}
	if d.verb == command.VerbDelete {
		return pbs.Refuse(pbs.BusyObject)
	}
	for _, ch := range d.changes {
		on := ch.Op == command.OpSet && ch.Entry.Value == "True"
		if ch.Entry.Name == "queue_type" || ch.Entry.Name == "started" && on && !r.Running() {
			return pbs.Attribute(pbs.ReadOnlyAttribute, ch.Entry.Name)
		}
	}
	return nil
}

// checkVnode refuses what no vnode can have: a queue that there is not, another mom or port
// than those that it was made for, or none.
func checkVnode(p person, d directive) error {
	for _, c := range d.changes {
		_, queued := p.view.Queue(pbs.QueueName(c.Entry.Value))
		v, there := p.view.Vnode(pbs.VnodeName(d.name))
		whose := c.Entry.Name == "Mom" || c.Entry.Name == "Port"
		switch {
		case whose && (c.Op == command.OpUnset || c.Entry.Value == ""): // a vnode has a mom all its life
			return pbs.Attribute(pbs.ReadOnlyAttribute, c.Entry.Name)
		case c.Op != command.OpSet:
		case c.Entry.Name == "queue" && !queued:
			return pbs.Refuse(pbs.UnknownQueue)
		case c.Entry.Name == "Mom" && d.verb == command.VerbSet && there && !pbs.SameHost(string(v.Host), c.Entry.Value):
			return pbs.Attribute(pbs.ReadOnlyAttribute, "Mom")
		case c.Entry.Name == "Port" && d.verb == command.VerbSet && there:
			if port, _ := p.view.VnodeAttributes(v).Get("Port", ""); port != c.Entry.Value {
				return pbs.Attribute(pbs.ReadOnlyAttribute, "Port")
			}
		}
	}
	return nil
}

func manageVnodes(p person, d directive) ([]command.Command, error) {
	if err := checkVnode(p, d); err != nil {
		return nil, err
	}
	if d.name != everyone {
		return []command.Command{&command.ManageVnode{Verb: d.verb, Vnode: pbs.VnodeName(d.name), Changes: d.changes}}, nil
	}
	var all []command.Command
	for v := range p.view.Vnodes() {
		all = append(all, &command.ManageVnode{Verb: d.verb, Vnode: v.Name, Changes: d.changes})
	}
	if len(all) == 0 {
		return nil, pbs.Refuse(pbs.NoNodeList)
	}
	return all, nil
}

// manageHosts changes all vnodes of a host: pbsnodes -o and -r.
func manageHosts(p person, d directive) ([]command.Command, error) {
	if d.verb != command.VerbSet && d.verb != command.VerbUnset {
		return nil, pbs.Refuse(pbs.InvalidRequest)
	}
	var all []command.Command
	for v := range p.view.VnodesOf(pbs.HostName(d.name)) {
		all = append(all, &command.ManageVnode{Verb: d.verb, Vnode: v.Name, Changes: d.changes})
	}
	if len(all) == 0 {
		return nil, pbs.Refuse(pbs.UnknownNode)
	}
	return all, nil
}

// manageShares changes what entities of fair share have used: pbsfs. Only Managers may.
func manageShares(p person, verb command.Verb, r *api.ManageRequest) ([]command.Command, error) {
	if p.perm < attr.Manager {
		return nil, deny(p, "Req", "Sched", schedName, typeManage)
	}
	c := &command.ManageShares{Verb: verb, Entity: r.GetName()}
	for _, a := range r.GetChanges() {
		if a.GetName() == "sched" { // whose tree it is
			if c.Sched = a.GetValue(); c.Sched == schedName {
				c.Sched = ""
			}
			continue
		}
		n, err := strconv.ParseInt(a.GetValue(), 10, 64)
		if a.GetName() != "usage" || err != nil || n < 0 || n > 1<<40 {
			return nil, pbs.Attribute(pbs.BadAttributeValue, a.GetName())
		}
		c.Usage = n * 1000
	}
	return []command.Command{c}, nil
}

func manageResource(_ person, d directive) ([]command.Command, error) {
	return []command.Command{&command.ManageResource{Verb: d.verb, Name: d.name, Changes: d.changes}}, nil
}
