package service

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// withApplication gives a job what its application, or else that of the site, says of jobs that do not say it themselves: for how long
// they may run, or are expected to, and on how much of a cpu (specification: reservation section 6.2). How long a job is expected to run
// counts for one that no limit bounds.
func withApplication(v *state.View, queue pbs.QueueName, list attr.List) (attr.List, error) {
	name, asked := list.Get(lsf.JobApplication, "")
	switch _, byLSF := list.Get(requirement, ""); {
	case asked && !byLSF:
		return nil, pbs.Errorf(pbs.BadAttributeValue, "%s is for jobs with %s", lsf.JobApplication, requirement)
	case !byLSF:
		return list, nil
	case !asked:
		name = v.LSF().DefaultApplication
	}
	a, ok := v.LSF().Application(name)
	switch {
	case !ok && asked:
		return nil, pbs.Errorf(pbs.BadAttributeValue, "%s: No such application profile", name)
	case !ok:
		return withoutEstimate(v, queue, list), nil
	}
	list = list.Set(lsf.JobApplication, "", name)
	for _, l := range []struct {
		resource       string
		standard, most int64
	}{{"walltime", cmp.Or(a.RunDefault, a.RunMax), a.RunMax}, {"cput", a.CPULimit, a.CPULimit}} {
		text, said := list.Get("Resource_List", l.resource)
		if !said && l.standard > 0 {
			text = strconv.FormatInt(l.standard, 10)
			list = list.Set("Resource_List", l.resource, text)
		}
		if q, err := resource.Parse(resource.Time, text); err == nil && l.most > 0 && q.Int() > l.most {
			return nil, pbs.Errorf(pbs.ResourceLimit, "Cannot exceed application's hard limit(s)")
		}
	}
	if _, said := list.Get("Resource_List", "soft_walltime"); !said && a.Runtime > 0 {
		list = list.Set("Resource_List", "soft_walltime", strconv.FormatInt(a.Runtime, 10))
	}
	return withoutEstimate(v, queue, list), nil
}

// withoutEstimate takes back for how long a job is expected to run if its own limit, or that of its queue, says more.
func withoutEstimate(v *state.View, queue pbs.QueueName, list attr.List) attr.List {
	_, limited := list.Get("Resource_List", "walltime")
	for _, name := range []string{"resources_default", "resources_max"} { // without a default the maximum is the limit
		if q, ok := v.Queue(cmp.Or(queue, v.Server().DefaultQueue())); ok && !limited {
			_, limited = q.Resources(name).Get("walltime")
		}
		if !limited {
			_, limited = v.Server().Resources(name).Get("walltime")
		}
	}
	if limited {
		return list.Unset("Resource_List", "soft_walltime")
	}
	return list
}

// appliedAgain turns a change of a job's application into one of what the application says: limits that the old one gave the job, and
// nobody asks for now, go with it, and what is the queue's stands back behind the new one's.
func appliedAgain(v *state.View, j *state.Job, asked attr.List, changes []command.AttrChange) (string, []command.AttrChange, error) {
	name, _ := j.Attrs.Get(lsf.JobApplication, "")
	old, _ := v.LSF().Application(name)
	list := attr.List{}.Set(requirement, "", saidNothing)
	if name, named := asked.Get(lsf.JobApplication, ""); named {
		list = list.Set(lsf.JobApplication, "", name)
	}
	gave := map[string]int64{"walltime": cmp.Or(old.RunDefault, old.RunMax), "cput": old.CPULimit, "soft_walltime": old.Runtime}
	for res, seconds := range gave {
		had, has := j.Resources.Get(res)
		has = has && !slices.Contains(j.Defaults, res)
		q, _ := resource.Parse(resource.Time, had)
		value, said := asked.Get("Resource_List", res)
		back := slices.ContainsFunc(changes, func(ch command.AttrChange) bool {
			return ch.Entry.Name == "Resource_List" && ch.Entry.Resource == res && !said
		})
		switch {
		case said:
			list = list.Set("Resource_List", res, value)
		case has && !back && q.Int() != seconds:
			list = list.Set("Resource_List", res, had)
		}
	}
	list, err := withApplication(v, j.Queue, list)
	if err != nil {
		return "", nil, err
	}
	about := func(ch command.AttrChange) bool {
		_, limit := gave[ch.Entry.Resource]
		return ch.Entry.Name == lsf.JobApplication || ch.Entry.Name == "Resource_List" && limit
	}
	changes = slices.DeleteFunc(slices.Clone(changes), about)
	note := func(name, res, had string) {
		switch now, _ := list.Get(name, res); {
		case now != "" && now != had:
			changes = append(changes, command.AttrChange{Entry: attr.Entry{Name: name, Resource: res, Value: now}})
		case now == "" && had != "":
			changes = append(changes, command.AttrChange{Op: command.OpUnset, Entry: attr.Entry{Name: name, Resource: res}})
		}
	}
	note(lsf.JobApplication, "", name)
	for _, res := range slices.Sorted(maps.Keys(gave)) {
		had := ""
		if !slices.Contains(j.Defaults, res) { // what the queue gives it has without a limit of the application anyway
			had, _ = j.Resources.Get(res)
		}
		note("Resource_List", res, had)
	}
	now, _ := list.Get(lsf.JobApplication, "")
	return now, changes, nil
}
