package lsf

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"rampart/fsm/lsf"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/transport/api"
)

// around is what hosts are seen with: what is known of the cluster, and what hosts say of their load.
type around struct {
	defs   []resource.Def
	config lsf.Config
	site   resreq.Site
	hosts  []offer
	server *api.Object       // nil: it is not known what the cluster has
	loads  map[string]loadOf // nil: nobody has asked hosts
}

// around reads what hosts are seen with; of load only where that is wanted.
func (s *session) around(ctx context.Context, hosts []offer, loaded func(*around) bool) (*around, error) {
	a := &around{hosts: hosts}
	var err error
	if a.defs, a.config, err = s.known(ctx); err != nil {
		return nil, err
	}
	a.site = a.config.Site(a.defs)
	if slices.ContainsFunc(a.defs, func(def resource.Def) bool { return !def.AtHost() }) {
		_, servers, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER})
		if err != nil {
			return nil, err
		}
		a.server = append(servers, nil)[0]
	}
	if loaded(a) {
		a.loads, err = s.loads(ctx)
	}
	return a, err
}

// def returns the definition of a resource.
func (a *around) def(name string) (resource.Def, bool) {
	if def, ok := resource.Lookup(name); ok {
		return def, true
	}
	i := slices.IndexFunc(a.defs, func(d resource.Def) bool { return d.Name == name })
	if i < 0 {
		return resource.Def{}, false
	}
	return a.defs[i], true
}

// see returns a host as selections and thresholds see it.
func (a *around) see(h offer) sighted {
	return sighted{offer: h, around: a, row: a.config.Host(h.Name), load: a.loads[h.Name]}
}

// A sighted host is one as selections and thresholds see it: lsf.ValueOf asks it.
type sighted struct {
	offer
	around *around
	row    lsf.Host
	load   loadOf
	own    keeping // what is kept there for the job that looks, and is free for it
}

// Value returns what is available of a resource.
func (h sighted) Value(name string) (resreq.Value, bool) { return lsf.ValueOf(h, name) }

// Resource returns the definition of a resource.
func (h sighted) Resource(name string) (resource.Def, bool) { return h.around.def(name) }

// Word returns the name of the host.
func (h sighted) Word() string { return h.Name }

// Row returns what the files of LSF say of the host.
func (h sighted) Row() lsf.Host { return h.row }

// Status returns what LSF calls the state of the host itself: whether it was heard of, and what its load is.
func (h sighted) Status() string {
	switch status := hostStatus(h.offer, tally{}, false, false); {
	case status == lsf.StatusUnavailable, status == "unreach", len(h.load) == 0:
		return lsf.StatusUnavailable
	case len(h.over()) > 0, slices.Contains(strings.Split(value(h.Object, "state"), ","), "busy"):
		return lsf.StatusBusy
	}
	return lsf.StatusOK
}

// Offer returns a value that the host is configured with.
func (h sighted) Offer(def resource.Def) (value string, has bool) {
	value = amount(h.Object, "resources_available", def.Name)
	return value, value != ""
}

// Left returns what the host has left of what is consumed there, or the cluster of what is the whole cluster's, and what there is in all.
func (h sighted) Left(def resource.Def) (left, total int64, has bool) {
	o := h.holder(def)
	if def.Raises() {
		return -heldOf(o, def), 0, true
	}
	text := amount(o, "resources_available", def.Name)
	if text == "" {
		return 0, 0, false
	}
	total = def.Measure(text)
	left = total
	if said, ok := h.load[def.Name]; ok && resreq.Unit(def.Name) == resreq.Megabyte && h.ByAgent() {
		left = min(left, int64(said*1024))
	}
	return left - heldOf(o, def) + h.own.of(def), total, true
}

// of returns how much of a resource is kept, in its measure.
func (k keeping) of(def resource.Def) int64 {
	switch def.Name {
	case "ncpus":
		return int64(k.slots)
	case "mem":
		return k.mem << 10
	}
	return 0
}

// holder returns the object that has what the host has of a resource: another host, if it shares what that one has, or the server.
func (h sighted) holder(def resource.Def) *api.Object {
	if !def.AtVnodes() {
		if h.around.server == nil {
			return new(api.Object)
		}
		return h.around.server
	}
	if name, shares := strings.CutPrefix(amount(h.Object, "resources_available", def.Name), "@"); shares {
		if i := slices.IndexFunc(h.around.hosts, func(o offer) bool { return o.Name == name }); i >= 0 {
			return h.around.hosts[i].Object
		}
	}
	return h.Object
}

// heldOf returns what jobs have of a resource, and what is kept for those that wait.
func heldOf(o *api.Object, def resource.Def) int64 {
	return def.Measure(amount(o, "resources_assigned", def.Name)) + def.Measure(amount(o, "resources_reserved", def.Name))
}

// Told returns what the host has reported of an index.
func (h sighted) Told(index string) (value float64, said bool) {
	value, said = h.load[index]
	return value, said
}

// ByAgent reports whether what is free of the host is known from its mom.
func (h sighted) ByAgent() bool { return value(h.Object, lsf.LoadSource) == lsf.SourceAgent }

// over returns the indices whose thresholds keep jobs from the host.
func (h sighted) over() (all []string) {
	for _, t := range h.row.Thresholds {
		if t.Keeps(h, h.around.site, false) {
			all = append(all, t.Index)
		}
	}
	return all
}

// factor returns the factor of the host's cpu.
func (h sighted) factor() float64 { return float64(cmp.Or(h.row.Factor, 1000)) / 1000 }

// shown returns a value of the host as commands show it, a dash of what it does not have; never less than nothing.
func (h sighted) shown(name string) string {
	v, has := h.Value(name)
	if !has {
		return "-"
	}
	return lsf.ShownLoad(name, max(v.Number, 0))
}
