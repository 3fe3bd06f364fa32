package service

import (
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
func changesUsage(j *state.Job, changes []command.AttrChange) bool {
	return j.Live() &&
		slices.ContainsFunc(changes, func(ch command.AttrChange) bool { return ch.Entry.Name == requirement })
}

// reservingOf returns the requirement of a job that runs with what a new one reserves. It refuses whatever else is asked for and is not as
// it is.
func reservingOf(v *state.View, j *state.Job, text string, asked attr.List, application bool) (resreq.Requirement, error) {
	refused := func(name string) (resreq.Requirement, error) {
		return resreq.Requirement{}, pbs.Attribute(pbs.RunningAttribute, name)
	}
	if application {
		return refused(lsf.JobApplication)
	}
	own, ok := j.Attrs.Get(requirement, "")
	if !ok {
		chunks, _ := j.Resources.Get("select")
		own = lsf.Described(chunks, placeOf(j))
	}
	slots, _ := j.Resources.Get("ncpus")
	if now, said := asked.Get("Resource_List", "ncpus"); said && now != slots {
		return refused("Resource_List.ncpus")
	}
	was, _ := j.Attrs.Get(lsf.JobSlots, "")
	if now, said := asked.Get(lsf.JobSlots, ""); said && now != was {
		return refused(lsf.JobSlots)
	}
	hosts := hostsOf(j)
	if strings.Contains(own, "hname") { // it is the requirement that names them
		hosts = ""
	}
	if now, _ := asked.Get("Resource_List", "host"); now != hosts {
		return refused("Resource_List.host")
	}
	if now, said := asked.Get("Resource_List", "place"); said && sharing(now) != sharing(placeOf(j)) {
		return refused("Resource_List.place")
	}
	site := v.LSF().Site(slices.Collect(v.CustomResources()))
	before, err := resreq.Parse(own, site)
	if err != nil {
		return refused(requirement)
	}
	now, err := resreq.Parse(text, site)
	if err != nil {
		return now, refusedRequirement(err)
	}
	if !ok && len(now.Terms) < 2 && len(before.Terms) > 1 { // it is of each chunk, of whichever kind
		before = resreq.Requirement{}
	}
	next, same := before.Reserving(now)
	if !same {
		return refused(requirement)
	}
	return next, nil
}

// reservingChunks has the chunks of a job that came by qsub, and runs, reserve what a requirement says, and the job of the cluster: nothing
// else of what it did.
func reservingChunks(v *state.View, j *state.Job, req resreq.Requirement, changes []command.AttrChange) ([]command.AttrChange, error) {
	text, _ := j.Resources.Get("select")
	had, err := spec.ParseSelect(text)
	if err != nil {
		return nil, pbs.Attribute(pbs.RunningAttribute, requirement)
	}
	if slices.ContainsFunc(req.Terms, func(t resreq.Term) bool { return len(t.Rusage) > 1 }) {
		return nil, severalAlternatives()
	}
	now, wide, err := lsf.Reserving(had, req, v)
	if err != nil {
		return nil, refusedRequirement(err)
	}
	changes = slices.DeleteFunc(slices.Clone(changes), func(ch command.AttrChange) bool {
		return ch.Entry.Name == requirement || ch.Entry.Name == lsf.JobSlots ||
			ch.Entry.Name == "Resource_List" && slices.Contains([]string{"ncpus", "host", "place"}, ch.Entry.Resource)
	})
	set := func(op command.Op, name, value string) {
		changes = append(changes, command.AttrChange{Op: op, Entry: attr.Entry{Name: "Resource_List", Resource: name, Value: value}})
	}
	set(command.OpSet, "select", now.String())
	for _, it := range wide {
		set(command.OpSet, it.Name, it.Value)
	}
	for _, it := range j.Resources {
		def, known := v.Resource(it.Name)
		if _, again := wide.Get(it.Name); known && def.Consumable() && !def.AtHost() && !again {
			set(command.OpUnset, it.Name, "")
		}
	}
	return changes, nil
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
		return nil, severalAlternatives()
	}
	return without(list, "Resource_List", "place"), nil
}

func severalAlternatives() error {
	return pbs.Errorf(pbs.NotSupported, "several alternatives of rusage are not supported for a job that runs: say what it is to reserve")
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
