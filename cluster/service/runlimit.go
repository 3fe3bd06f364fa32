package service

import (
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// referenceOf returns the host or model by which a run limit counts that is said by LSF's rules, and maybe for a host; empty: it is of wall-clock
// time wherever it is said (specification: reservation section 6.2).
func referenceOf(v *state.View, asked string) (string, error) {
	site := v.LSF()
	if asked != "" {
		if _, known := site.SpecFactor(asked); !known {
			if _, err := knownHosts(v, []string{asked}); err != nil {
				return "", pbs.Errorf(pbs.BadAttributeValue, "%s: Bad host specification", asked)
			}
		}
	}
	switch {
	case site.AbsRunlimit:
		return "", nil
	case asked != "":
		return asked, nil
	case site.HostSpec != "" || site.Uneven():
		return v.RunReference(), nil
	}
	return "", nil
}

// counted notes by which host the run limit of a new job counts, its own and those that it gets from its application and its queue.
func counted(v *state.View, list attr.List) (attr.List, error) {
	asked, said := list.Get(lsf.JobReference, "")
	if _, byLSF := list.Get(requirement, ""); !byLSF {
		if said {
			return nil, pbs.Errorf(pbs.BadAttributeValue, "%s is for jobs with %s", lsf.JobReference, requirement)
		}
		return list, nil
	}
	reference, err := referenceOf(v, asked)
	if err != nil || reference == "" {
		return list.Unset(lsf.JobReference, ""), err
	}
	return list.Set(lsf.JobReference, "", reference), nil
}

// countedAgain is counted for a job of which LSF's rules alter the run limit.
func countedAgain(v *state.View, j *state.Job, changes []command.AttrChange, bmod bool) ([]command.AttrChange, error) {
	var out []command.AttrChange
	asked, said, limit := "", false, false
	for _, ch := range changes {
		switch {
		case ch.Entry.Name == lsf.JobReference:
			asked, said = ch.Entry.Value, true
			continue
		case ch.Entry.Name == "Resource_List" && ch.Entry.Resource == "walltime":
			limit = true
		}
		out = append(out, ch)
	}
	switch {
	case said && !(bmod && limit):
		return nil, pbs.Errorf(pbs.BadAttributeValue, "%s goes with a run limit of LSF's", lsf.JobReference)
	case !limit || !bmod:
		return changes, nil
	}
	reference, err := referenceOf(v, asked)
	if had, _ := j.Attrs.Get(lsf.JobReference, ""); err != nil || had == reference {
		return out, err
	}
	ch := command.AttrChange{Entry: attr.Entry{Name: lsf.JobReference, Value: reference}}
	if reference == "" {
		ch.Op = command.OpUnset
	}
	return append(out, ch), nil
}

// saidBefore returns the limit of a job that runs as a new one is compared with it: a run limit as it was said, for the host that the new one is said for.
func saidBefore(v *state.View, j *state.Job, changes []command.AttrChange, res string) (had string, limited bool) {
	had, limited = j.Resources.Get(res)
	said, paced := j.Attrs.Get(lsf.JobRunLimit, "")
	before, counts := j.Attrs.Get(lsf.JobReference, "")
	if res != "walltime" || !limited || !counts || v.LSF().AbsRunlimit {
		return had, limited
	}
	now := before
	for _, ch := range changes {
		if ch.Entry.Name == lsf.JobReference {
			now = ch.Entry.Value
		}
	}
	if paced {
		had = said
	}
	was, _ := v.LSF().SpecFactor(before)
	is, _ := v.LSF().SpecFactor(now)
	seconds := resource.Def{Type: resource.Time}.Measure(had)
	return resource.Seconds(lsf.Scaled(seconds, was, is)).String(), true
}
