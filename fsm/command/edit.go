package command

import (
	"slices"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// Verb is what qmgr does to an object. The numbers are in every log: append only.
type Verb uint8

// The verbs of qmgr that change the state.
const (
	VerbCreate Verb = iota + 1
	VerbDelete
	VerbSet
	VerbUnset
)

// editList applies changes to the cold attributes of an object: =, unset, += and -=
// (specification: cli-contract section 5).
func editList(tx *state.Tx, o attr.Object, list attr.List, changes []AttrChange) (attr.List, error) {
	for _, ch := range changes {
		var err error
		if list, err = editOne(tx, o, list, ch); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func editOne(tx *state.Tx, o attr.Object, list attr.List, ch AttrChange) (attr.List, error) {
	e := ch.Entry
	def, ok := attr.Lookup(o, e.Name)
	if !ok {
		return nil, pbs.Refuse(pbs.UndefinedAttribute)
	}
	if ch.Op == OpUnset {
		return unsetAt(o, list, e), nil
	}
	value, err := checkedValue(tx, e)
	if err != nil {
		return nil, err
	}
	if ch.Op != OpSet {
		if value, err = changed(tx, def, list, e, value, ch.Op); err != nil {
			return nil, err
		}
	}
	if (o == attr.Server || o == attr.Sched) && e.Name == "job_sort_formula" && value != "" {
		if err := checkFormula(tx, value); err != nil {
			return nil, err
		}
	}
	if value == "" {
		return unsetAt(o, list, e), nil
	}
	return list.Set(e.Name, e.Resource, value), nil
}

// changed is += and -= of an attribute. A number that is not set counts as what is in force then,
// and the result has to be one that = takes.
func changed(tx *state.Tx, def *attr.Def, list attr.List, e attr.Entry, value string, op Op) (string, error) {
	old, set := list.Get(e.Name, e.Resource)
	if !set && (def.Type == attr.Number || def.Type == attr.Duration) {
		old = def.WhenUnset()
	}
	value, err := combined(tx, def, e, old, value, op)
	if err != nil {
		return "", err
	}
	return checkedResult(tx, def, e, value)
}

// checkedResult refuses the result of += and -= if it is a number that the attribute cannot have.
func checkedResult(tx *state.Tx, def *attr.Def, e attr.Entry, value string) (string, error) {
	switch def.Type {
	case attr.Number, attr.Duration, attr.Resources:
		if value != "" {
			return def.ParseResource(e.Resource, value, tx)
		}
	}
	return value, nil
}

// unsetAt drops one value, or a whole resource list. A server never goes without resources_default.ncpus: unset,
// it is as in a new server, for a job that asks for nothing takes a cpu (specification: breadth section 1, rule 37).
func unsetAt(o attr.Object, list attr.List, e attr.Entry) attr.List {
	list = unset(list, e)
	if o != attr.Server || e.Name != "resources_default" || e.Resource != "" && e.Resource != "ncpus" {
		return list
	}
	first, _ := attr.Defaults(o).Get(e.Name, "ncpus")
	return list.Set(e.Name, "ncpus", first)
}

// unset drops one value; without a resource, a whole resource list.
func unset(list attr.List, e attr.Entry) attr.List {
	if e.Resource != "" {
		return list.Unset(e.Name, e.Resource)
	}
	for _, old := range slices.Clone(list) {
		if old.Name == e.Name {
			list = list.Unset(old.Name, old.Resource)
		}
	}
	return list
}

// checkedValue parses a value of a resource by the resource's own definition.
func checkedValue(tx *state.Tx, e attr.Entry) (string, error) {
	if e.Resource == "" {
		return e.Value, nil
	}
	name := e.Name + "." + e.Resource
	def, ok := tx.Resource(e.Resource)
	if !ok {
		return "", pbs.Attribute(pbs.UnknownResource, name)
	}
	if e.Value == "" {
		return "", nil
	}
	if strings.HasPrefix(e.Value, "[") {
		return e.Value, nil // limits: the attribute table has parsed each of them by the resource
	}
	q, err := def.Parse(e.Value)
	if err != nil {
		return "", pbs.Attribute(pbs.BadAttributeValue, name)
	}
	return q.String(), nil
}

// combined is += and -=: addition for quantities, append and removal of the first
// equal item for lists.
func combined(tx *state.Tx, def *attr.Def, e attr.Entry, old, value string, op Op) (string, error) {
	if e.Resource != "" {
		if rd, ok := tx.Resource(e.Resource); ok && rd.Type.Numeric() && def.Type != attr.Limits {
			return arithmetic(rd.Type, old, value, op)
		}
	}
	switch def.Type {
	case attr.Number:
		return arithmetic(resource.Long, old, value, op)
	case attr.Duration:
		return arithmetic(resource.Time, old, value, op)
	case attr.Limits:
		return combinedLimits(old, value, op), nil
	}
	var items []string
	if old != "" {
		items = strings.Split(old, ",")
	}
	for _, it := range strings.Split(value, ",") {
		i := slices.Index(items, it)
		switch {
		case op == OpIncrease && i < 0:
			items = append(items, it)
		case op == OpDecrease && i >= 0:
			items = slices.Delete(items, i, i+1)
		}
	}
	return strings.Join(items, ","), nil
}

func combinedLimits(old, value string, op Op) string {
	if op == OpIncrease {
		return attr.WithLimits(old, value)
	}
	return attr.WithoutLimits(old, value)
}

func arithmetic(t resource.Type, old, value string, op Op) (string, error) {
	if old == "" {
		old = "0"
	}
	a, err := resource.Parse(t, old)
	if err != nil {
		return "", err
	}
	b, err := resource.Parse(t, value)
	if err != nil {
		return "", err
	}
	result := a.Add
	if op == OpDecrease {
		result = a.Sub
	}
	q, err := result(b)
	if err != nil {
		return "", pbs.Refuse(pbs.BadAttributeValue)
	}
	return q.String(), nil
}
