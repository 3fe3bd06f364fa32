package service

import (
	"cmp"
	"slices"
	"strconv"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
	"rampart/transport/api"
)

func (l *listing) servers() error {
	return l.once(func(v *state.View, p *page) {
		for _, name := range l.req.GetNames() {
			if !isAlias(v, name) {
				p.refuse(name, pbs.Refuse(pbs.InvalidRequest))
				return
			}
		}
		p.add(v.Cluster().Name, p.fields.of(v.ServerAttributes(), v))
	})
}

func (l *listing) queues() error {
	return l.once(func(v *state.View, p *page) {
		var all []*state.Queue
		for _, name := range l.req.GetNames() {
			q, ok := v.Queue(pbs.QueueName(name))
			if !ok {
				p.refuse(name, pbs.Refuse(pbs.UnknownQueue))
				continue
			}
			all = append(all, q)
		}
		if len(l.req.GetNames()) == 0 {
			all = slices.SortedFunc(v.Queues(), inOrder)
		}
		for _, q := range all {
			p.add(string(q.Name), p.fields.of(v.QueueAttributes(q), v))
		}
	})
}

// inOrder compares queues by their creation. Those of reservations come after the others.
func inOrder(a, b *state.Queue) int {
	if ofA, ofB := a.Reservation != "", b.Reservation != ""; ofA != ofB {
		if ofA {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.Seq, b.Seq)
}

// vnodes lists the named vnodes, or all in the order of their creation.
func (l *listing) vnodes() error {
	if len(l.req.GetNames()) > 0 {
		return l.once(func(v *state.View, p *page) {
			for _, name := range l.req.GetNames() {
				vn, ok := v.Vnode(pbs.VnodeName(name))
				if !ok {
					p.refuse(name, pbs.Refuse(pbs.UnknownNode))
					continue
				}
				p.add(name, p.fields.of(v.VnodeAttributes(vn), v))
			}
		})
	}
	next, more := uint64(0), true
	for more {
		var err error
		more, err = l.page(func(v *state.View, p *page) bool {
			for vn := range v.Vnodes() {
				if vn.Seq < next {
					continue
				}
				if p.full() {
					return true
				}
				next = vn.Seq + 1
				p.add(string(vn.Name), p.fields.of(v.VnodeAttributes(vn), v))
			}
			return false
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// resources lists the resources that the site made; by name, built-in ones too.
func (l *listing) resources() error {
	return l.once(func(v *state.View, p *page) {
		if len(l.req.GetNames()) == 0 {
			for def := range v.CustomResources() {
				if !p.me.perm.Knows(def) {
					continue
				}
				p.add(def.Name, p.fields.of(resourceAttributes(def), v))
			}
			return
		}
		for _, name := range l.req.GetNames() {
			def, ok := v.Resource(name)
			if !ok || !p.me.perm.Knows(def) {
				p.refuse(name, pbs.Refuse(pbs.UnknownResource))
				continue
			}
			p.add(name, p.fields.of(resourceAttributes(def), v))
		}
	})
}

func resourceAttributes(def resource.Def) attr.List {
	list := attr.List{{Name: "type", Value: def.Type.String()}}
	if flags := def.Flags.String(); flags != "" {
		list = append(list, attr.Entry{Name: "flag", Value: flags})
	}
	return list
}

// shares lists the tree of fair share of a scheduler to those who run the site: it says who has used how much.
func (l *listing) shares() error {
	if l.batch.Shares == nil {
		return pbs.Refuse(pbs.NotSupported)
	}
	if l.me.perm < attr.Operator {
		return pbs.Refuse(pbs.Unauthorized)
	}
	sched := schedName
	if names := l.req.GetNames(); len(names) > 0 {
		sched = names[0]
	}
	return l.once(func(v *state.View, p *page) {
		own, ok := v.For(sched)
		if !ok {
			p.refuse(sched, pbs.Refuse(pbs.UnknownScheduler))
			return
		}
		for _, n := range l.batch.Shares(own) {
			number := func(name string, value float64) *api.Attribute {
				return &api.Attribute{Name: name, Value: strconv.FormatFloat(value, 'g', -1, 64)}
			}
			p.add(n.Name, []*api.Attribute{
				{Name: "parent", Value: n.Parent},
				number("group", float64(n.Group)), number("id", float64(n.ID)),
				number("shares", float64(n.Shares)), number("usage", n.Usage), number("part", n.Part), number("tree_usage", n.TreeUsage),
			})
		}
	})
}
