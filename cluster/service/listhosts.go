package service

import (
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// hosts lists execution hosts, several vnodes of a host summed: pbsnodes -a.
func (l *listing) hosts() error {
	names := l.req.GetNames()
	if len(names) == 0 {
		v, err := l.view()
		if err != nil {
			return err
		}
		names = hostNames(v)
	}
	for more := true; more; {
		var err error
		more, err = l.page(func(v *state.View, p *page) bool {
			for len(names) > 0 && !p.full() {
				l.host(v, p, names[0])
				names = names[1:]
			}
			return len(names) > 0
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hostNames returns the hosts in the order of their first vnode.
func hostNames(v *state.View) []string {
	var names []string
	seen := map[pbs.HostName]bool{}
	for vn := range v.Vnodes() {
		if !seen[vn.Host] {
			seen[vn.Host] = true
			names = append(names, string(vn.Host))
		}
	}
	return names
}

func (l *listing) host(v *state.View, p *page, name string) {
	var vnodes []*state.Vnode
	for vn := range v.VnodesOf(pbs.HostName(name)) {
		vnodes = append(vnodes, vn)
	}
	if len(vnodes) == 0 {
		vnodes = vnodesCalled(v, name)
	}
	if len(vnodes) == 0 {
		p.refuse(name, pbs.Refuse(pbs.UnknownNode))
		return
	}
	p.add(shownHost(vnodes[0]), p.fields.of(hostAttributes(v, vnodes), v))
}

// vnodesCalled finds a host by what its vnodes call it, or by its mom's name with or
// without the domain.
func vnodesCalled(v *state.View, name string) []*state.Vnode {
	var found []*state.Vnode
	for vn := range v.Vnodes() {
		if called, _ := vn.Available().Get("host"); called == name || pbs.SameHost(string(vn.Host), name) {
			found = append(found, vn)
		}
	}
	return found
}

// shownHost returns the name under which users know the host.
func shownHost(vn *state.Vnode) string {
	if name, ok := vn.Available().Get("host"); ok {
		return name
	}
	return string(vn.Host)
}

// hostAttributes returns the attributes of a host's first vnode with resources and
// jobs of all summed up.
func hostAttributes(v *state.View, vnodes []*state.Vnode) attr.List {
	list := v.VnodeAttributes(vnodes[0])
	if len(vnodes) == 1 {
		return list
	}
	available, assigned, reserved, jobs := resource.List(nil), resource.List(nil), resource.List(nil), []string(nil)
	for _, vn := range vnodes {
		available = summed(available, vn.Available(), v)
		assigned = summed(assigned, itemsOf(v.VnodeAttributes(vn), "resources_assigned"), v)
		reserved = summed(reserved, itemsOf(v.VnodeAttributes(vn), "resources_reserved"), v)
		if text := vn.JobsText(); text != "" {
			jobs = append(jobs, text)
		}
	}
	var out attr.List
	for _, def := range attr.All(attr.Vnode) {
		switch def.Name {
		case "resources_available":
			out = appendItems(out, def.Name, available)
		case "resources_assigned":
			out = appendItems(out, def.Name, assigned)
		case "resources_reserved":
			out = appendItems(out, def.Name, reserved)
		case "jobs":
			if len(jobs) > 0 {
				out = append(out, attr.Entry{Name: "jobs", Value: strings.Join(jobs, ", ")})
			}
		case "state":
			out = append(out, attr.Entry{Name: "state", Value: common(vnodes, (*state.Vnode).State)})
		case "sharing":
			out = append(out, attr.Entry{Name: "sharing", Value: common(vnodes, (*state.Vnode).SharingText)})
		default:
			out = append(out, entriesOf(list, def.Name)...)
		}
	}
	return out
}

// summed adds numbers; other values stay only if they are the same.
func summed(sum, more resource.List, t resource.Table) resource.List {
	for _, item := range more {
		if _, shared := state.Target(item.Value); shared {
			continue // the vnode that has it counts it
		}
		old, ok := sum.Get(item.Name)
		def, known := t.Resource(item.Name)
		switch {
		case !ok:
			sum = sum.Set(item.Name, item.Value)
		case known && def.Type.Numeric():
			a, err1 := def.Parse(old)
			b, err2 := def.Parse(item.Value)
			if total, err := a.Add(b); err1 == nil && err2 == nil && err == nil {
				sum = sum.Set(item.Name, total.String())
			}
		case old != item.Value:
			sum = sum.Set(item.Name, various)
		}
	}
	return sum
}

// various stands for values in which the vnodes of a host differ.
const various = "<various>"

// common returns the value that all vnodes have in common.
func common(vnodes []*state.Vnode, of func(*state.Vnode) string) string {
	for _, vn := range vnodes[1:] {
		if of(vn) != of(vnodes[0]) {
			return various
		}
	}
	return of(vnodes[0])
}

func appendItems(out attr.List, name string, items resource.List) attr.List {
	for _, it := range items {
		out = append(out, attr.Entry{Name: name, Resource: it.Name, Value: it.Value})
	}
	return out
}

func entriesOf(list attr.List, name string) attr.List {
	var out attr.List
	for _, e := range list {
		if e.Name == name {
			out = append(out, e)
		}
	}
	return out
}

func itemsOf(list attr.List, name string) resource.List {
	var out resource.List
	for _, e := range list {
		if e.Name == name {
			out = append(out, resource.Item{Name: e.Resource, Value: e.Value})
		}
	}
	return out
}
