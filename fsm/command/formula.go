package command

import (
	"slices"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// formulaWords are the names beside resources that job_sort_formula may have.
var formulaWords = []string{
	"accrue_type", "eligible_time", "fair_share_perc", "fairshare_factor", "fairshare_perc", "fairshare_tree_usage",
	"job_priority", "queue_priority",
}

// checkFormula refuses a formula with a name that stands for nothing, as PBS does.
func checkFormula(tx *state.Tx, text string) error {
	f, err := spec.ParseFormula(text)
	if err != nil {
		return err
	}
	for _, name := range f.Names() {
		if slices.Contains(formulaWords, name) {
			continue
		}
		def, ok := tx.Resource(name)
		switch {
		case !ok:
			return pbs.Errorf(pbs.BadAttributeValue, "Formula contains invalid keyword: %s", name)
		case !def.Type.Numeric() && def.Type != resource.Boolean:
			return pbs.Errorf(pbs.BadAttributeValue, "Formula contains a resource of an invalid type: %s", name)
		}
	}
	return nil
}

// oneFormula refuses changes by which the server and a scheduler have different formulas: they are the same, or one of them has none.
func oneFormula(tx *state.Tx, s *state.Server, changes []AttrChange) error {
	const name = "job_sort_formula"
	changed := slices.ContainsFunc(changes, func(ch AttrChange) bool { return ch.Entry.Name == name })
	formula, set := s.Attrs.Get(name, "")
	if !changed || !set {
		return nil
	}
	differs := func(list attr.List) bool {
		own, set := list.Get(name, "")
		return set && own != formula
	}
	if differs(s.Sched) || slices.ContainsFunc(s.Scheds, func(o state.Scheduler) bool { return differs(o.Attrs) }) {
		return pbs.Refuse(pbs.FormulasApart)
	}
	return nil
}
