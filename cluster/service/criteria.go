package service

import (
	"cmp"
	"strconv"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// A criterion reports whether a job is what a listing asks for.
type criterion func(v *state.View, j *state.Job) bool

// newCriteria reads what a request of the user me asks of jobs. An empty owner is who asks.
func newCriteria(list []*api.Criterion, me string, t resource.Table) ([]criterion, error) {
	var all []criterion
	for _, c := range list {
		if c.GetName() == "Job_Owner" && c.GetValue() == "" {
			c = &api.Criterion{Name: c.GetName(), Relation: c.GetRelation(), Value: me}
		}
		def, ok := attr.Lookup(attr.Job, c.GetName())
		switch {
		case !ok:
			return nil, pbs.Refuse(pbs.UndefinedAttribute)
		case (c.GetResource() != "") != def.PerResource():
			return nil, pbs.Attribute(pbs.BadAttributeValue, c.GetName())
		}
		holds, err := meaning(def, c, t)
		if err != nil {
			return nil, err
		}
		all = append(all, holds)
	}
	return all, nil
}

// meet reports whether a job meets all of the criteria.
func meet(all []criterion, v *state.View, j *state.Job) bool {
	for _, c := range all {
		if !c(v, j) {
			return false
		}
	}
	return true
}

// meaning returns how a criterion looks at a job: states and owners by lists of what will
// do, the others by their types.
func meaning(def *attr.Def, c *api.Criterion, t resource.Table) (criterion, error) {
	wanted := c.GetRelation() != api.Relation_RELATION_NOT_EQUAL
	switch def.Name {
	case "job_state":
		return func(_ *state.View, j *state.Job) bool {
			return strings.Contains(c.GetValue(), j.Letter()) == wanted
		}, nil
	case "Job_Owner":
		patterns := strings.Split(c.GetValue(), ",")
		return func(_ *state.View, j *state.Job) bool { return listed(patterns, j.Owner, false) == wanted }, nil
	case "queue":
		return func(_ *state.View, j *state.Job) bool { return (string(j.Queue) == c.GetValue()) == wanted }, nil
	}
	compare, err := comparison(def, c, t)
	if err != nil {
		return nil, err
	}
	return func(v *state.View, j *state.Job) bool {
		value := v.JobAttribute(j, def.Name, c.GetResource())
		if value == "" && c.GetResource() == "" {
			value = def.Default
		}
		if value == "" {
			return !wanted // what is not there differs from everything
		}
		return related(compare(value), c.GetRelation())
	}, nil
}

// comparison returns how values of the attribute compare with that of the criterion.
func comparison(def *attr.Def, c *api.Criterion, t resource.Table) (func(value string) int, error) {
	typed, ok := map[attr.Type]resource.Type{
		attr.Number: resource.Long, attr.Epoch: resource.Long, attr.Duration: resource.Time, attr.Boolean: resource.Boolean,
	}[def.Type]
	if def.PerResource() {
		rd, known := t.Resource(c.GetResource())
		if !known {
			return nil, pbs.Attribute(pbs.UnknownResource, def.Name+"."+c.GetResource())
		}
		typed, ok = rd.Type, true
	}
	switch {
	case def.Name == "Checkpoint":
		return func(value string) int { return cmp.Compare(checkpointRank(value), checkpointRank(c.GetValue())) }, nil
	case def.Name == "Hold_Types":
		wanted, err := pbs.ParseHolds(c.GetValue())
		return func(value string) int {
			holds, _ := pbs.ParseHolds(value) // what the state holds can be parsed
			return cmp.Compare(holds, wanted)
		}, err
	case !ok:
		return func(value string) int { return strings.Compare(value, c.GetValue()) }, nil
	}
	wanted, err := resource.Parse(typed, c.GetValue())
	if err != nil {
		return nil, pbs.Attribute(pbs.BadAttributeValue, strings.TrimSuffix(def.Name+"."+c.GetResource(), "."))
	}
	return func(value string) int {
		q, err := resource.Parse(typed, value)
		if err != nil {
			return -1
		}
		return q.Cmp(wanted)
	}, nil
}

// checkpointRank orders checkpoint intervals: n, s, c with minutes, c, u.
func checkpointRank(value string) int {
	letter, minutes, given := strings.Cut(value, "=")
	switch letter {
	case "n":
		return 1 << 30
	case "s":
		return 1 << 29
	case "c", "w":
		if n, err := strconv.Atoi(minutes); given && err == nil {
			return min(n, 1<<28) + 1
		}
		return 1
	}
	return 0
}

func related(order int, r api.Relation) bool {
	switch r {
	case api.Relation_RELATION_NOT_EQUAL:
		return order != 0
	case api.Relation_RELATION_LESS:
		return order < 0
	case api.Relation_RELATION_LESS_OR_EQUAL:
		return order <= 0
	case api.Relation_RELATION_GREATER:
		return order > 0
	case api.Relation_RELATION_GREATER_OR_EQUAL:
		return order >= 0
	}
	return order == 0
}
