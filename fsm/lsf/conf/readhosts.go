package conf

import (
	"slices"
	"strings"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
)

// cluster reads lsf.cluster: what hosts there are, and where resources are.
func (r *reader) cluster() {
	r.each(r.files.Cluster, map[string]func(section, entry){"Host": r.clusterHost, "ResourceMap": r.instances},
		"Parameters", "ClusterAdmins")
	for _, d := range r.out.Config.Resources {
		def := r.definition(d)
		r.out.Resources = append(r.out.Resources, def)
		if !r.out.Config.Wide(d.Name) {
			continue
		}
		for _, i := range r.out.Config.Instances {
			if i.Resource == d.Name && i.Value != "" {
				r.out.Server = r.out.Server.Set("resources_available", d.Name, i.Value)
			}
		}
	}
}

func (r *reader) clusterHost(s section, e entry) {
	name := e.get("HOSTNAME")
	if name == "" {
		r.warn(s, "a host without HOSTNAME; ignored")
		return
	}
	if !pbs.VnodeName(name).Valid() {
		r.invalid(s, "HOSTNAME", name, "the name of a host")
		return
	}
	h := r.host(name)
	for _, x := range e {
		switch strings.ToUpper(x.key) {
		case "HOSTNAME", "SERVER", "ND", "REXPRI":
		case "MODEL":
			if x.value != "!" {
				h.Model, h.Factor = x.value, r.factors[x.value]
			}
		case "TYPE":
			if x.value != "!" {
				h.Type = x.value
			}
		case "RESOURCES":
			for has := range strings.FieldsSeq(x.value) {
				if d, ok := r.out.Config.Resource(has); !ok || d.Kind != resreq.Boolean {
					r.warn(s, "resource %s of host %s is no boolean resource of lsf.shared; ignored", has, name)
					continue
				}
				h.Has = append(h.Has, has)
			}
		default:
			if !slices.Contains(lsf.LoadIndices[:], x.key) {
				r.unknown(s, x.key)
			}
		}
	}
}

// host returns the row of a host, a new one if there is none.
func (r *reader) host(name string) *lsf.Host {
	all := &r.out.Config.Hosts
	if i := slices.IndexFunc(*all, func(h lsf.Host) bool { return h.Name == name }); i >= 0 {
		return &(*all)[i]
	}
	*all = append(*all, lsf.Host{Name: name})
	return &(*all)[len(*all)-1]
}

// instances reads a row of ResourceMap: (2@[hostA hostB] 4@[others]).
func (r *reader) instances(s section, e entry) {
	name := e.get("RESOURCENAME")
	d, ok := r.out.Config.Resource(name)
	if !ok {
		r.warn(s, "resource %s of ResourceMap is not in lsf.shared; ignored", name)
		return
	}
	var all []lsf.Instance
	for text := strings.TrimSpace(e.get("LOCATION")); text != ""; text = strings.TrimSpace(text) {
		value, rest, found := strings.Cut(text, "[")
		inside, after, closed := strings.Cut(rest, "]")
		amount, at := strings.CutSuffix(strings.TrimSpace(value), "@")
		i := lsf.Instance{Resource: name, Value: strings.TrimSpace(amount), Hosts: strings.Fields(strings.ReplaceAll(inside, "~ ", "~"))}
		switch {
		case !found || !closed || len(i.Hosts) == 0 || i.Value != "" && !at:
			r.invalid(s, "LOCATION of resource "+name, text, "value@[hosts]")
			return
		case d.Interval > 0 && i.Value != "":
			r.warn(s, "the value %s of resource %s, which is reported: it has an INTERVAL; ignored", i.Value, name)
			i.Value = ""
		case d.Interval == 0 && d.Kind == resreq.Numeric:
			a, ok := resreq.ParseAmount(name, i.Value)
			if !ok {
				r.invalid(s, "the value of resource "+name, i.Value, "a number")
				return
			}
			i.Value = a.Print(name)
		case d.Interval == 0 && d.Kind == resreq.Text && i.Value == "":
			r.invalid(s, "the value of resource "+name, "missing", "value@[hosts]")
			return
		}
		if host, twice := r.placedTwice(i, all); twice {
			r.warn(s, "[%s] of resource %s is for hosts that another instance is for, too; of each host the first counts", host, name)
		}
		all, text = append(all, i), after
	}
	if len(all) == 0 {
		r.invalid(s, "LOCATION of resource "+name, "empty", "value@[hosts]")
	}
	r.out.Config.Instances = append(r.out.Config.Instances, all...)
}

// placedTwice returns a word of an instance that stands for hosts of an earlier one of the same resource; row has the instances of the line that is read.
func (r *reader) placedTwice(i lsf.Instance, row []lsf.Instance) (word string, twice bool) {
	for _, o := range slices.Concat(r.out.Config.Instances, row) {
		if o.Resource != i.Resource {
			continue
		}
		for _, h := range i.Hosts {
			every := slices.ContainsFunc([]string{lsf.AllHosts, lsf.EachHost}, func(w string) bool { return w == h || slices.Contains(o.Hosts, w) && !slices.Contains(o.Hosts, "~"+h) })
			if h[0] != '~' && (every || slices.Contains(o.Hosts, h)) {
				return h, true
			}
		}
	}
	return "", false
}

// hosts reads lsb.hosts.
func (r *reader) hosts() {
	r.each(r.files.Hosts, map[string]func(section, entry){"Host": r.batchHost, "HostGroup": r.hostGroup, "ComputeUnit": func(s section, e entry) {
		u := lsf.Unit{Name: e.get("NAME"), Type: e.get("TYPE"), Members: strings.Fields(e.get("MEMBER"))}
		switch {
		case u.Name == "" || len(u.Members) == 0:
			r.warn(s, "a compute unit without NAME or MEMBER; ignored")
		case !slices.Contains(r.out.Config.UnitTypes, u.Type):
			r.warn(s, "type %s of compute unit %s is not in COMPUTE_UNIT_TYPES of lsb.params; ignored", u.Type, u.Name)
		case slices.ContainsFunc(r.out.Config.Units, func(o lsf.Unit) bool { return o.Name == u.Name }):
			r.warn(s, "compute unit %s is there twice; ignored", u.Name)
		case slices.Contains(u.Members, u.Name):
			r.warn(s, "compute unit %s is a member of itself; ignored", u.Name)
		default:
			r.out.Config.Units = append(r.out.Config.Units, u)
		}
	}})
	r.cycles()
	r.unitTypes()
	all := &r.out.Config.HostGroups
	*all = slices.DeleteFunc(*all, func(g lsf.HostGroup) bool {
		unit := slices.ContainsFunc(r.out.Config.Units, func(u lsf.Unit) bool { return u.Name == g.Name })
		if unit {
			r.warn(section{path: r.files.Hosts.Path}, "host group %s is a compute unit, too; ignored", g.Name)
		}
		return unit
	})
}

// hostGroup reads a row of HostGroup.
func (r *reader) hostGroup(s section, e entry) {
	g := lsf.HostGroup{Name: e.get("GROUP_NAME"), Members: strings.Fields(strings.ReplaceAll(e.get("GROUP_MEMBER"), "~ ", "~"))}
	for _, x := range e {
		if key := strings.ToUpper(x.key); key != "GROUP_NAME" && key != "GROUP_MEMBER" && x.value != "" {
			r.unknown(s, x.key)
		}
	}
	switch {
	case g.Name == "" || len(g.Members) == 0:
		r.warn(s, "a host group without GROUP_NAME or GROUP_MEMBER; ignored")
	case g.Name == lsf.AllHosts || g.Name == lsf.OthersHosts || !pbs.VnodeName(g.Name).Valid() || strings.ContainsAny(g.Name, "~+!@,"):
		r.invalid(s, "GROUP_NAME", g.Name, "the name of a group")
	case slices.ContainsFunc(r.out.Config.HostGroups, func(o lsf.HostGroup) bool { return o.Name == g.Name }):
		r.warn(s, "host group %s is there twice; ignored", g.Name)
	case slices.ContainsFunc(g.Members, func(m string) bool { return strings.ContainsAny(m, "+!@,") || strings.TrimPrefix(m, "~") == g.Name }):
		r.invalid(s, "GROUP_MEMBER of host group "+g.Name, strings.Join(g.Members, " "), "hosts and other groups, all, and ~name for those that are none")
	default:
		r.out.Config.HostGroups = append(r.out.Config.HostGroups, g)
	}
}

// unitTypes makes each type of compute units a resource of hosts, whose value is the unit that a host is in (cu[]). One that the site
// has defined is left as it is.
func (r *reader) unitTypes() {
	for _, kind := range r.out.Config.UnitTypes {
		if _, own := r.site.Resource(kind); own {
			continue
		}
		if _, builtin := resource.Lookup(kind); builtin || !resreq.ValidName(kind) || !resource.ValidName(kind) {
			r.warn(section{path: r.files.Params.Path}, "%q cannot be a type of compute units, expected the name that a resource may have; cu[type=%s] is refused", kind, kind)
			continue
		}
		d := lsf.Resource{Name: kind, Kind: resreq.Text}
		def := r.definition(d)
		r.out.Config.Resources, r.out.Resources, r.defs = append(r.out.Config.Resources, d), append(r.out.Resources, def), append(r.defs, def)
		for _, u := range r.out.Config.Units {
			if u.Type == kind {
				r.out.Config.Instances = append(r.out.Config.Instances, lsf.Instance{Resource: kind, Value: u.Name, Hosts: r.hostsOf(u)})
			}
		}
	}
	r.site = r.out.Config.Site(r.defs)
}

func (r *reader) batchHost(s section, e entry) {
	name := e.get("HOST_NAME")
	if name == "" {
		r.warn(s, "a host without HOST_NAME; ignored")
		return
	}
	if !pbs.VnodeName(name).Valid() {
		r.invalid(s, "HOST_NAME", name, "the name of a host, or default")
		return
	}
	h := r.host(name)
	if h.Listed {
		r.warn(s, "host %s is there twice; ignored", name)
		return
	}
	h.Listed = true
	for _, x := range e {
		if x.value == "" {
			continue
		}
		switch strings.ToUpper(x.key) {
		case "HOST_NAME":
		case "MXJ":
			if x.value != "!" {
				h.Slots = r.count(s, x)
			}
		case "JL/U":
			h.UserSlots = r.count(s, x)
		default:
			if _, ok := r.index(x.key); !ok {
				r.unknown(s, x.key)
			} else if t, ok := r.threshold(s, x); ok {
				h.Thresholds = append(h.Thresholds, t)
			}
		}
	}
	slices.SortStableFunc(h.Thresholds, func(a, b lsf.Threshold) int { return strings.Compare(a.Index, b.Index) })
}
