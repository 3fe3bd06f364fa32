package service

import (
	"cmp"
	"slices"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// What a job that runs reserves may be changed, and nothing else of what it wants of hosts (specification: reservation section 2.9).

// changesUsage reports whether changes of a job are of what it reserves while it runs.
func changesUsage(v *state.View, j *state.Job, changes []command.AttrChange) bool {
	return j.Live() &&
		slices.ContainsFunc(changes, func(ch command.AttrChange) bool { return ch.Entry.Name == requirement })
}

// reservingOf returns the requirement of a job that runs with what a new one reserves. It refuses whatever else is asked for and is not as
// it is.
func reservingOf(v *state.View, j *state.Job, text string, asked attr.List, application bool) (string, error) {
	if application {
		return "", pbs.Attribute(pbs.RunningAttribute, lsf.JobApplication)
	}
	own, ok := j.Attrs.Get(requirement, "")
	if !ok {
		return "", pbs.Attribute(pbs.RunningAttribute, requirement)
	}
	slots, _ := j.Resources.Get("ncpus")
	if now, said := asked.Get("Resource_List", "ncpus"); said && now != slots {
		return "", pbs.Attribute(pbs.RunningAttribute, "Resource_List.ncpus")
	}
	was, _ := j.Attrs.Get(lsf.JobSlots, "")
	if now, said := asked.Get(lsf.JobSlots, ""); said && now != was {
		return "", pbs.Attribute(pbs.RunningAttribute, lsf.JobSlots)
	}
	hosts := hostsOf(j)
	if strings.Contains(own, "hname") { // it is the requirement that names them
		hosts = ""
	}
	if now, _ := asked.Get("Resource_List", "host"); now != hosts {
		return "", pbs.Attribute(pbs.RunningAttribute, "Resource_List.host")
	}
	if now, said := asked.Get("Resource_List", "place"); said && sharing(now) != sharing(placeOf(j)) {
		return "", pbs.Attribute(pbs.RunningAttribute, "Resource_List.place")
	}
	site := v.LSF().Site(slices.Collect(v.CustomResources()))
	before, err := resreq.Parse(own, site)
	if err != nil {
		return "", pbs.Attribute(pbs.RunningAttribute, requirement)
	}
	now, err := resreq.Parse(text, site)
	if err != nil {
		return "", refusedRequirement(err)
	}
	next, same := before.Reserving(now)
	if !same {
		return "", pbs.Attribute(pbs.RunningAttribute, requirement)
	}
	return cmp.Or(next.String(), saidNothing), nil
}

func placeOf(j *state.Job) string {
	text, _ := j.Resources.Get("place")
	return text
}

// sharing returns what a place says of sharing; what does not say it shares.
func sharing(text string) spec.Sharing {
	place, err := spec.ParsePlace(text)
	if err != nil || place.Sharing == spec.Shared {
		return ""
	}
	return place.Sharing
}

// usageOnly takes out of what a requirement makes of a job that runs what cannot change, and refuses it where it is not as it is.
func usageOnly(j *state.Job, list attr.List) (attr.List, error) {
	if place, _ := list.Get("Resource_List", "place"); place != placeOf(j) {
		return nil, pbs.Attribute(pbs.RunningAttribute, "Resource_List.place")
	}
	if _, several := list.Get(lsf.JobAlternatives, ""); several {
		return nil, pbs.Errorf(pbs.NotSupported, "several alternatives of rusage are not supported for a job that runs: say what it is to reserve")
	}
	return without(list, "Resource_List", "place"), nil
}

// wideOf returns what the requirement of a job has reserved of resources that belong to no host.
func wideOf(v *state.View, j *state.Job) (names []string) {
	text := j.Requires()
	r, err := resreq.Parse(text, v.LSF().Site(slices.Collect(v.CustomResources())))
	if text == "" || err != nil {
		return nil
	}
	for _, term := range r.Terms {
		for _, usage := range term.Rusage {
			for _, u := range usage {
				def, known := v.Resource(u.Resource)
				_, has := j.Resources.Get(u.Resource)
				if known && has && !def.AtHost() && !slices.Contains(names, u.Resource) {
					names = append(names, u.Resource)
				}
			}
		}
	}
	return names
}
