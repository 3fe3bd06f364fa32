package command

import (
	"iter"
	"slices"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// hosts sets what the configuration gives each host, on its first vnode. Slots are set where a host has no other vnodes, which
// have cpus of their own. What the one before has given is known from it.
func (r *reconfiguring) hosts(c *lsf.Config) error {
	hosts := slices.Collect(hostsInOrder(r.tx))
	now, before := c.Placed(hosts), r.before.Config.Placed(hosts)
	for _, h := range hosts {
		name, ok := firstVnode(r.tx, pbs.HostName(h))
		if !ok {
			continue
		}
		if err := r.host(name, now, before); err != nil {
			return naming(attr.Vnode, string(name), err)
		}
	}
	return nil
}

// host sets values on the first vnode of a host.
func (r *reconfiguring) host(name pbs.VnodeName, now, before lsf.Placing) error {
	v, _ := r.tx.Vnode(name)
	list := configuredValues(r.tx, v, now)
	var present attr.List
	for _, item := range v.Configured {
		present = present.Set("resources_available", item.Name, item.Value)
	}
	changes := append(takenBack(configuredValues(r.tx, v, before), list, present), setting(list)...)
	changes = slices.DeleteFunc(changes, func(ch AttrChange) bool {
		value, ok := present.Get(ch.Entry.Name, ch.Entry.Resource)
		return ch.Op == OpSet && ok && value == ch.Entry.Value
	})
	if len(changes) == 0 {
		return nil
	}
	return r.apply(&ManageVnode{Verb: VerbSet, Vnode: name, Changes: changes})
}

// configuredValues returns what a configuration sets on the first vnode of a host.
func configuredValues(tx *state.Tx, v *state.Vnode, placed lsf.Placing) attr.List {
	var list attr.List
	for _, value := range placed.Of(string(v.Host)) {
		if value.Resource == "ncpus" && vnodesOn(tx, v.Host) > 1 {
			continue
		}
		text := value.Text
		if value.From != "" {
			first, ok := firstVnode(tx, pbs.HostName(value.From))
			if !ok {
				continue
			}
			text = "@" + string(first)
		}
		list = list.Set("resources_available", value.Resource, text)
	}
	return list
}

// hostsInOrder yields the hosts in the order in which their first vnodes were made.
func hostsInOrder(tx *state.Tx) iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := map[pbs.HostName]bool{}
		for v := range tx.Vnodes() {
			if seen[v.Host] {
				continue
			}
			if seen[v.Host] = true; !yield(string(v.Host)) {
				return
			}
		}
	}
}

func firstVnode(tx *state.Tx, host pbs.HostName) (pbs.VnodeName, bool) {
	for v := range tx.VnodesOf(host) {
		return v.Name, true
	}
	return "", false
}

func vnodesOn(tx *state.Tx, host pbs.HostName) (n int) {
	for range tx.VnodesOf(host) {
		n++
	}
	return n
}

// configureHost sets on the vnode of a host that has joined what the configuration says of it. What it cannot set
// is as if it were not said: a host is not turned away for it.
func configureHost(tx *state.Tx, m Meta, res *state.Result, host pbs.HostName) {
	l := tx.Reconfigured()
	name, ok := firstVnode(tx, host)
	if l.Revision == 0 || !ok {
		return
	}
	r := &reconfiguring{tx: tx, meta: m, res: res, before: l}
	_ = r.host(name, l.Config.PlacedOn(string(host), hostsInOrder(tx)), lsf.Placing{})
}
