package lsf

import (
	"fmt"
	"slices"
	"strconv"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/rusage"
	"rampart/fsm/spec"
)

// A Request is what a job asks for in LSF's terms.
type Request struct {
	Requirement resreq.Requirement
	Slots       int
	Hosts       []string // that it may run on; none: any
	Methods     rusage.Methods
}

// A Shape is the same in the terms of the one job model.
type Shape struct {
	Select spec.Select
	Place  spec.Place
	Wide   resource.List      // what the job holds of resources that belong to no host
	Where  resreq.Requirement // what of the selection chunks cannot say: hosts are asked for it
	Order  resreq.Requirement // by what its hosts are ordered; nothing: as the scheduler has them
	Layout Layout             // how the chunks stand on hosts, beside the placement
}

// MaxSlots bounds the slots of a job, as the chunks of a select are bounded.
const MaxSlots = 1 << 17

// SiteOf returns what requirements may name beside the built-in indices: the resources that a site
// has made, by their definitions.
func SiteOf(defs []resource.Def) resreq.Site {
	site := resreq.Site{Resources: map[string]resreq.Resource{}}
	for _, def := range defs {
		if !resreq.ValidName(def.Name) && def.Name != idle || def.Flags&resource.Invisible != 0 {
			continue
		}
		r := resreq.Resource{Name: def.Name, Kind: resreq.Text, Shared: !def.AtHost()}
		switch {
		case def.Type.Numeric():
			r.Kind, r.Consumable = resreq.Numeric, def.Consumable()
		case def.Type == resource.Boolean:
			r.Kind = resreq.Boolean
		}
		site.Resources[def.Name] = r
	}
	return site
}

// unsupported refuses what LSF knows and the job model does not hold yet: nothing that somebody asks
// for is passed over in silence.
func unsupported(format string, args ...any) error {
	return pbs.Errorf(pbs.NotSupported, "%s", fmt.Sprintf(format, args...))
}

// Shapes turns a requirement into chunks and their placement, once for each alternative of what is reserved. t defines the resources.
// All have the layout of the first one.
func Shapes(r Request, t resource.Table, site resreq.Site) ([]Shape, error) {
	n := 1
	for _, term := range r.Requirement.Terms {
		n = max(n, len(term.Rusage))
	}
	if n > maxAlternatives {
		return nil, unsupported("%d alternatives in rusage are not supported, but up to %d", n, maxAlternatives)
	}
	all := make([]Shape, n)
	for i := range all {
		one := r
		one.Requirement = r.Requirement.Effective(i)
		var err error
		if all[i], err = Shaped(one, t, site); err != nil {
			return nil, err
		}
		all[0].Layout = all[0].Layout.joined(all[i].Layout)
	}
	return all, nil
}

// maxAlternatives bounds what is tried for one job in each cycle.
const maxAlternatives = 16

// Shaped turns a requirement into chunks and their placement: of alternatives the first. t defines the resources.
func Shaped(r Request, t resource.Table, site resreq.Site) (Shape, error) {
	s := &shaper{table: t, site: site, methods: r.Methods}
	if len(r.Hosts) == 1 {
		s.host = r.Hosts[0]
	}
	if r.Slots < 1 || r.Slots > MaxSlots {
		return Shape{}, &resreq.Refusal{Cause: resreq.TooManyProcessors, At: -1, Problem: fmt.Sprintf("%d slots, expected 1 to %d", r.Slots, MaxSlots)}
	}
	terms := r.Requirement.Terms
	if len(terms) == 0 {
		terms = []resreq.Term{{}}
	}
	if r.Requirement.Compound() {
		total := 0
		for _, term := range terms {
			total += term.Slots
		}
		if total != r.Slots && r.Slots != 1 {
			return Shape{}, unsupported("the terms of the requirement are for %d slots, and the job has %d", total, r.Slots)
		}
	} else {
		terms = []resreq.Term{{Slots: r.Slots, Simple: terms[0].Simple}}
	}
	for i, term := range terms {
		if err := s.term(term, i+1, len(terms) > 1); err != nil {
			return Shape{}, err
		}
	}
	s.asked(terms, r.Hosts)
	switch {
	case s.spread && len(terms) == 1:
		s.shape.Place.Arrangement = spec.Scatter
	case s.packed && len(terms) == 1:
		s.shape.Place.Arrangement = spec.Pack
	default:
		s.shape.Place.Arrangement = spec.Free
	}
	return s.shape, nil
}

// A shaper collects the chunks of all terms.
type shaper struct {
	table resource.Table
	site  resreq.Site
	host  string // the only one that the job may run on; empty: there are several
	shape Shape

	methods rusage.Methods
	raised  map[string]resreq.Amount // by how much the terms so far raise indices
	wides   map[string]resreq.Amount // what they have of resources that belong to no host

	spread bool // a term has each chunk on a host of its own
	packed bool // a term is one chunk

	wheres []resreq.Select // of each term, what chunks cannot say
}

// term adds the chunks of one term, the number-th.
func (s *shaper) term(t resreq.Term, number int, several bool) error {
	wanted, err := s.wanted(t.Select)
	if err != nil {
		return err
	}
	same, err := s.same(t.Same, several)
	if err != nil {
		return err
	}
	if err := s.units(t.CU); err != nil {
		return err
	}
	var usage resreq.Usage
	if len(t.Rusage) > 0 {
		usage = t.Rusage[0]
	}
	if err := s.raise(usage, t.Slots); err != nil {
		return err
	}
	per, whole, rest := 1, t.Slots, 0 // chunks of per slots each, and one of the rest
	switch ptile := t.Span.Ptile; {
	case t.Span.OneHost:
		per, whole, s.packed = t.Slots, 1, true
	case ptile > 0:
		per = min(ptile, t.Slots)
		whole, rest, s.spread = t.Slots/per, t.Slots%per, true
	case s.host != "" && s.byHost(usage):
		per, whole = t.Slots, 1
	}
	hosts := whole + min(rest, 1)
	if t.Slots > 1 && !t.Span.OneHost && t.Span.Ptile == 0 {
		hosts = 0 // as many as there is room on
		if s.host != "" {
			hosts = 1
		}
	}
	if err := s.wide(usage, t.Slots, hosts); err != nil {
		return err
	}
	for _, c := range []struct{ count, slots int }{{whole, per}, {min(rest, 1), rest}} {
		if c.count == 0 {
			continue
		}
		onHost, once, err := s.onHost(usage, c.slots)
		if err != nil {
			return err
		}
		s.chunk(c.count, c.slots, onHost, wanted)
		kind := KindLayout{Term: number, Scatter: several && t.Span.Ptile > 0, Same: same}
		if whole > 1 && t.Span.Ptile == 0 {
			kind.Once = once.Once
		}
		if whole+min(rest, 1) > 1 {
			kind.Job = once.Job
		}
		if t.Span.Full {
			kind.Full, kind.Of = true, t.Span.Of
		}
		s.shape.Layout.Kinds = append(s.shape.Layout.Kinds, kind)
	}
	return nil
}

// asked notes what of each term its hosts are asked for, and by what they are ordered.
func (s *shaper) asked(terms []resreq.Term, hosts []string) {
	where, order := make([]resreq.Term, len(terms)), make([]resreq.Term, len(terms))
	wheres, orders := false, false
	for i, t := range terms {
		where[i].Slots, order[i].Slots = t.Slots, t.Slots
		where[i].Select = s.wheres[i]
		if len(hosts) > 1 && len(terms) == 1 { // those of several terms are known by name alone
			where[i].Select = where[i].Select.On(hosts...)
		}
		if !isDefaultOrder(t.Order) {
			order[i].Order = t.Order
		}
		wheres, orders = wheres || where[i].Select.Given(), orders || len(order[i].Order) > 0
	}
	if wheres {
		s.shape.Where = resreq.Requirement{Terms: where}
	}
	if orders {
		s.shape.Order = resreq.Requirement{Terms: order}
	}
}

func isDefaultOrder(keys []resreq.Key) bool {
	return len(keys) == 0 || len(keys) == 2 && keys[0] == resreq.Key{Name: "r15s"} && keys[1] == resreq.Key{Name: "pg"}
}

func (s *shaper) chunk(count, slots int, amounts, wanted resource.List) {
	items := resource.List{{Name: "ncpus", Value: strconv.Itoa(slots)}}
	items = append(items, amounts...)
	items = append(items, wanted...)
	s.shape.Select.Chunks = append(s.shape.Select.Chunks, spec.Chunk{Count: count, Items: items})
}

// wanted returns the items of a chunk that a selection is.
func (s *shaper) wanted(sel resreq.Select) (resource.List, error) {
	all, where := sel.Split(s.site)
	s.wheres = append(s.wheres, where)
	var items resource.List
	if s.host != "" {
		items = append(items, resource.Item{Name: "host", Value: s.host})
	}
	for _, c := range all {
		name := c.Resource
		if model, ok := modelNames[name]; ok {
			name = model
		}
		def, known := s.table.Resource(name)
		if !known || !def.AtHost() {
			return nil, unsupported("select[] by %s is not supported yet: no host has a resource of that name", c.Resource)
		}
		value := c.Text
		switch {
		case c.Text == "" && c.Not:
			value = "False"
		case c.Text == "":
			value = "True"
		}
		if old, twice := items.Get(name); twice {
			if old != value {
				return nil, unsupported("select[] names two values of %s, %s and %s, and no host has both", c.Resource, old, value)
			}
			continue
		}
		items = append(items, resource.Item{Name: name, Value: value})
	}
	return items, nil
}

// same keeps all chunks on hosts with one value of each of some resources, or, where there are several terms, those of one: it returns what is
// for these. In a resource that no host has all of them are the same.
func (s *shaper) same(all []string, several bool) (ofTerm []string, err error) {
	var names []string
	for _, name := range all {
		if model, ok := modelNames[name]; ok {
			name = model
		}
		if def, known := s.table.Resource(name); known && !def.AtHost() {
			return nil, unsupported("same[%s] is not supported: it is no resource of hosts", name)
		} else if known && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if several {
		return names, nil
	}
	for _, name := range slices.Backward(names) {
		s.within(name)
	}
	return nil, nil
}

// units keeps all chunks in one compute unit, where the job may have no more, or over several as it says: the type of the units is a
// resource of hosts. Without a type it is the smallest.
func (s *shaper) units(cu resreq.CU) error {
	if cu == (resreq.CU{}) {
		return nil
	}
	kind := cu.Type
	if kind == "" && len(s.site.UnitTypes) > 0 {
		kind = s.site.UnitTypes[0]
	}
	def, known := s.table.Resource(kind)
	switch {
	case kind == "":
		return unsupported("cu[%s] is not supported: there are no compute units", cu)
	case !known || !def.AtHost():
		return unsupported("cu[%s] is not supported: no host has a resource %s", cu, kind)
	case cu.MaxCUs == 1:
		s.within(kind)
	default:
		s.shape.Layout.Units = UnitLayout{Type: kind, Max: cu.MaxCUs, Usable: cu.UsableCUSlots, Balance: cu.Balance}
	}
	if cu.Excl {
		s.shape.Layout.Unit, s.shape.Place.Sharing = true, spec.ExclusiveHost
	}
	return nil
}

// within keeps all chunks on hosts with one value of a resource, too.
func (s *shaper) within(name string) {
	all := []string{name}
	for _, o := range append([]string{s.shape.Place.Group}, s.shape.Layout.Same...) {
		if o != "" && !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	if s.shape.Place.Group = name; len(all) > 1 {
		s.shape.Layout.Same = all[1:]
	}
}
