package service

import (
	"slices"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// fields are the attributes that a listing shows, in the order of the table.
type fields struct {
	object attr.Object
	wanted []field // nil: all that the reader may see
	perm   attr.Perm
	hidden bool // show_hidden_attribs
}

type field struct {
	def *attr.Def
	res string // empty: all resources of the attribute
}

// newFields reads the attributes asked for, NAME or NAME.RESOURCE.
func newFields(o attr.Object, names []string, perm attr.Perm, v *state.View) (fields, error) {
	f := fields{object: o, perm: perm, hidden: v.Server().Bool("show_hidden_attribs")}
	for _, name := range names {
		base, res, _ := strings.Cut(name, ".")
		def, ok := attr.Find(o, base)
		if !ok {
			return fields{}, pbs.Refuse(pbs.UndefinedAttribute)
		}
		f.wanted = append(f.wanted, field{def, res})
	}
	order := map[*attr.Def]int{}
	for i, def := range attr.All(o) {
		order[def] = i
	}
	slices.SortStableFunc(f.wanted, func(a, b field) int { return order[a.def] - order[b.def] })
	return f, nil
}

// of turns a list, in the order of the table, into what the reader is shown.
func (f fields) of(list attr.List, t resource.Table) []*api.Attribute {
	out := make([]*api.Attribute, 0, len(list))
	for _, e := range list {
		if f.shows(e, t) {
			out = append(out, &api.Attribute{Name: e.Name, Resource: e.Resource, Value: e.Value})
		}
	}
	return out
}

func (f fields) shows(e attr.Entry, t resource.Table) bool {
	def, ok := attr.Lookup(f.object, e.Name)
	if !ok || !def.MayRead(e.Resource, f.perm, t) {
		return false
	}
	if f.wanted == nil {
		return !def.Hidden || f.hidden
	}
	return slices.ContainsFunc(f.wanted, func(w field) bool {
		return w.def == def && (w.res == "" || w.res == e.Resource)
	})
}

// ofJob returns what the reader is shown of a job. When few attributes are asked
// for, only those are looked at.
func (f fields) ofJob(v *state.View, j *state.Job) []*api.Attribute {
	if f.wanted == nil {
		return f.of(v.JobAttributes(j), v)
	}
	out := make([]*api.Attribute, 0, len(f.wanted))
	for _, w := range f.wanted {
		if w.def.PerResource() && w.res == "" {
			for _, e := range resourcesOf(j, w.def.Name) {
				out = f.append(out, v, w.def, e.Name, e.Value)
			}
			continue
		}
		value := v.JobAttribute(j, w.def.Name, w.res)
		if value == "" && w.res == "" {
			value = w.def.Default
		}
		out = f.append(out, v, w.def, w.res, value)
	}
	return out
}

func (f fields) append(out []*api.Attribute, t resource.Table, def *attr.Def, res, value string) []*api.Attribute {
	if value == "" || !def.MayRead(res, f.perm, t) {
		return out
	}
	return append(out, &api.Attribute{Name: def.Name, Resource: res, Value: value})
}

// resourcesOf returns the entries of a job's attribute with resources.
func resourcesOf(j *state.Job, name string) resource.List {
	switch name {
	case "Resource_List":
		return j.Resources
	case "resources_used":
		return j.LastRun().Used
	}
	var out resource.List
	for _, e := range j.Attrs.Of(name) {
		out = append(out, resource.Item{Name: e.Resource, Value: e.Value})
	}
	return out
}
