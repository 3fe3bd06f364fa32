package command

import (
	"slices"

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

// checkFormula refuses a formula with a name that stands for nothing, as PBS does. One that
// older builds have taken stays.
func checkFormula(tx *state.Tx, text string) error {
	f, err := spec.ParseFormula(text)
	if err != nil || tx.Cluster().FeatureLevel < LevelObjects {
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
