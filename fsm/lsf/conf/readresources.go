package conf

import (
	"slices"
	"strings"

	"rampart/fsm/lsf"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/rusage"
)

// kinds are the words for TYPE.
var kinds = map[string]resreq.Kind{"": resreq.Boolean, "boolean": resreq.Boolean, "string": resreq.Text, "numeric": resreq.Numeric}

// shared reads lsf.shared: the resources of the site, and the factors of models.
func (r *reader) shared() {
	r.each(r.files.Shared, map[string]func(section, entry){"Resource": r.sharedResource, "HostModel": func(s section, e entry) {
		factor, ok := decimal(e.get("CPUFACTOR"))
		if !ok || factor == 0 {
			r.invalid(s, "CPUFACTOR", e.get("CPUFACTOR"), "a positive number")
			return
		}
		if r.factors == nil {
			r.factors = map[string]lsf.Thousandths{}
		}
		r.factors[e.get("MODELNAME")] = factor
	}}, "Cluster", "HostType")
}

func (r *reader) sharedResource(s section, e entry) {
	d := lsf.Resource{Name: e.get("RESOURCENAME")}
	_, builtin := resource.Lookup(d.Name)
	_, twice := r.out.Config.Resource(d.Name)
	kind, ok := kinds[strings.ToLower(e.get("TYPE"))]
	switch {
	case d.Name == "" || !resreq.ValidName(d.Name) || !resource.ValidName(d.Name):
		r.warn(s, "%q cannot be the name of a resource, expected up to 39 letters, digits and '_', a letter first, and no built-in name; ignored", d.Name)
		return
	case builtin && !resource.Creatable(d.Name):
		r.warn(s, "%s is a built-in resource; ignored", d.Name)
		return
	case twice:
		r.warn(s, "resource %s is there twice; ignored", d.Name)
		return
	case slices.ContainsFunc(r.known.Defs, func(def resource.Def) bool { return def.Name == d.Name }):
		r.warn(s, "resource %s was created with qmgr, which keeps it; ignored", d.Name)
		return
	case !ok:
		r.invalid(s, "TYPE of resource "+d.Name, e.get("TYPE"), "Boolean, String or Numeric")
		return
	}
	d.Kind, d.Consumable = kind, kind == resreq.Numeric
	for _, x := range e {
		if x.value == "" {
			continue
		}
		switch strings.ToUpper(x.key) {
		case "RESOURCENAME", "TYPE":
		case "INTERVAL":
			d.Interval = r.positive(s, x)
		case "INCREASING":
			d.Increasing = r.yes(s, x.key, x.value, false)
		case "CONSUMABLE":
			d.Consumable = r.yes(s, x.key, x.value, true) && kind == resreq.Numeric
		case "RELEASE":
			d.Kept = !r.yes(s, x.key, x.value, true)
		case "DESCRIPTION":
			d.Description = x.value
		default:
			r.unknown(s, x.key)
		}
	}
	r.out.Config.Resources = append(r.out.Config.Resources, d)
}

// definition returns what a resource of lsf.shared is in the one job model: a number of the cluster when one instance is for all
// hosts, and else a number of each vnode.
func (r *reader) definition(d lsf.Resource) resource.Def {
	def := resource.Def{Name: d.Name, Type: resource.Boolean, Flags: resource.AtHost}
	switch d.Kind {
	case resreq.Text:
		def.Type = resource.String
	case resreq.Numeric:
		def.Type = resource.Float
		if d.Consumable && r.out.Config.Wide(d.Name) {
			def.Flags = resource.PerQueue
		} else if d.Consumable {
			def.Flags = resource.AtHost | resource.PerVnode
		}
	}
	return def
}

// resources reads lsb.resources.
func (r *reader) resources() {
	r.each(r.files.Resources, map[string]func(section, entry){
		"ReservationUsage": func(s section, e entry) {
			name := e.get("RESOURCE")
			method, err := rusage.ReadRow(name, e.get("METHOD"), r.site)
			if err != nil {
				r.warn(s, "%s", err)
				return
			}
			if slices.ContainsFunc(r.out.Config.Usage, func(row lsf.UsageRow) bool { return row.Resource == name }) {
				r.warn(s, "resource %s is in ReservationUsage twice; ignored", name)
				return
			}
			r.out.Config.Usage = append(r.out.Config.Usage, lsf.UsageRow{Resource: name, Method: method})
		},
		"Limit": r.limit,
	})
}

func (r *reader) limit(s section, e entry) {
	var l lsf.Limit
	whose := true // it is known whose use counts
	for _, x := range e {
		if x.value == "" {
			continue
		}
		key := strings.ToUpper(x.key)
		consumers := map[string]*lsf.Consumers{"USER": &l.Users, "QUEUE": &l.Queues, "HOST": &l.Hosts, "PROJECT": &l.Projects}
		member, each := strings.CutPrefix(key, "PER_")
		if c := consumers[strings.TrimSuffix(member, "S")]; c != nil && each != strings.HasSuffix(member, "S") {
			if len(c.Names) > 0 {
				r.warn(s, "%s beside the other form of it; ignored", x.key)
				continue
			}
			c.Names, c.Each = r.consumers(s, x), each
			whose = whose && len(c.Names) > 0
			continue
		}
		switch key {
		case "NAME":
			l.Name = x.value
		case "SLOTS":
			l.Slots = r.count(s, x)
		case "SLOTS_PER_PROCESSOR", "PER_SLOT":
			if n, ok := decimal(x.value); ok {
				l.PerCPU = &n
			} else {
				r.invalid(s, x.key, x.value, "a number")
			}
		case "MEM", "SWP", "TMP":
			r.quantity(s, &l, strings.ToLower(key), x.value)
		case "RESOURCE":
			r.quantities(s, &l, x)
		default:
			r.unknown(s, x.key)
		}
	}
	if l.PerCPU != nil && len(l.Hosts.Names) == 0 {
		r.warn(s, "SLOTS_PER_PROCESSOR without PER_HOST or HOSTS; ignored")
		l.PerCPU = nil
	}
	switch {
	case !whose:
		// It would be a limit for all.
		r.warn(s, "limit %s has no consumers that can be read; ignored", l.Name)
	case l.Slots == nil && l.PerCPU == nil && len(l.Quantities) == 0:
		r.warn(s, "the limit bounds nothing, expected SLOTS, SLOTS_PER_PROCESSOR, MEM, SWP, TMP or RESOURCE; ignored")
	default:
		for _, q := range l.Quantities {
			if known, _ := r.site.Resource(q.Resource); known.Shared && len(l.Hosts.Names) > 0 {
				r.warn(s, "resource %s of limit %s belongs to no host: HOSTS and PER_HOST mean nothing for it; ignored", q.Resource, l.Name)
			}
		}
		r.out.Config.Limits = append(r.out.Config.Limits, l)
	}
}

// quantities reads [name,value] [name,value].
func (r *reader) quantities(s section, l *lsf.Limit, x setting) {
	for rest := x.value; rest != ""; rest = strings.TrimSpace(rest) {
		inside, after, closed := strings.Cut(rest, "]")
		group, opened := strings.CutPrefix(inside, "[")
		name, value, two := strings.Cut(group, ",")
		if !opened || !closed || !two {
			r.invalid(s, x.key, x.value, "[resource,amount]")
			return
		}
		r.quantity(s, l, strings.TrimSpace(name), strings.TrimSpace(value))
		rest = after
	}
}

func (r *reader) quantity(s section, l *lsf.Limit, name, value string) {
	known, ok := r.site.Resource(name)
	a, number := resreq.ParseAmount(known.Name, value)
	switch {
	case !ok || !r.site.Reservable(known):
		r.warn(s, "resource %s of a limit is not a numeric consumable resource; ignored", name)
	case !number:
		r.invalid(s, "the limit of "+name, value, "a number")
	case slices.ContainsFunc(l.Quantities, func(q lsf.Quantity) bool { return q.Resource == known.Name }):
		r.warn(s, "a second amount of %s in one limit; ignored", name)
	default:
		l.Quantities = append(l.Quantities, lsf.Quantity{Resource: known.Name, Amount: a})
	}
}

// consumers reads names; a list that names nobody, but for those that it excludes, means all others.
func (r *reader) consumers(s section, x setting) []string {
	var names []string
	excludes := true
	for name := range strings.FieldsSeq(x.value) {
		if name == "~" || strings.ContainsAny(name, "()[]") {
			r.invalid(s, x.key, x.value, "names, all and ~name")
			return nil
		}
		excludes = excludes && name[0] == '~'
		names = append(names, name)
	}
	if excludes && len(names) > 0 {
		names = append([]string{lsf.AllHosts}, names...)
	}
	return names
}
