package command

import (
	"slices"
	"strings"

	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/state"
)

// fades returns of which resources a job that starts holds less as time passes, as its requirement says (specification: reservation
// section 3). What several hosts share it holds to its end, and so it does what a section Limit bounds, and all in a reservation, of
// which nobody outside could have it. Of a compound requirement only that counts in which all terms agree that name the resource.
func fades(tx *state.Tx, j *state.Job) (all []state.Fade) {
	text := j.Requires()
	if j.Reservation != "" || !strings.Contains(text, "duration") {
		return nil
	}
	config := tx.LSF()
	req, err := resreq.Parse(text, config.Site(slices.Collect(tx.CustomResources())))
	if err != nil {
		return nil // it was taken when the resource that it names was there
	}
	rules := config.Rules()
	differ := map[string]bool{}
	for _, term := range req.Terms {
		if len(term.Rusage) == 0 {
			continue
		}
		for _, r := range term.Rusage[0] {
			f := state.Fade{Resource: r.Resource, Duration: r.Duration, Decay: r.Decay}
			at := slices.IndexFunc(all, func(o state.Fade) bool { return o.Resource == r.Resource })
			switch def, known := tx.Resource(r.Resource); {
			case !known || !def.AtVnodes() || rules.Limited[r.Resource] || config.SharesHosts(r.Resource):
			case at < 0:
				all = append(all, f)
			case all[at] != f:
				differ[r.Resource] = true
			}
		}
	}
	return slices.DeleteFunc(all, func(f state.Fade) bool { return f.Duration == 0 || differ[f.Resource] })
}

// anyFades reports whether a run holds some of its items for a time only.
func anyFades(j *state.Job, items resource.List) bool {
	return slices.ContainsFunc(j.Run.Fades, func(f state.Fade) bool {
		_, has := items.Get(f.Resource)
		return has
	})
}
