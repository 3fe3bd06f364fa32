package service

import (
	"slices"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// ops are the operations as commands carry them.
var ops = map[api.Op]command.Op{
	api.Op_OP_SET: command.OpSet, api.Op_OP_UNSET: command.OpUnset,
	api.Op_OP_INCREASE: command.OpIncrease, api.Op_OP_DECREASE: command.OpDecrease,
}

// parseChanges reads changes of an object's attributes and permits each of them.
func parseChanges(p person, o attr.Object, list []*api.Attribute) ([]command.AttrChange, error) {
	return parseChangesOf(p, o, list, false)
}

// parseJobChanges is parseChanges of a job, by the rules of LSF or of PBS.
func parseJobChanges(p person, j *state.Job, list []*api.Attribute, lsf bool) ([]command.AttrChange, error) {
	out, err := parseChangesOf(p, attr.Job, list, lsf)
	for _, ch := range out {
		if ch.Entry.Name == "User_List" && ch.Entry.Value != "" && runsAs(p.view, ch.Entry.Value, j.Owner.Name) != j.Owner.Name {
			return nil, pbs.Refuse(pbs.BadUser)
		}
	}
	return out, err
}

func parseChangesOf(p person, o attr.Object, list []*api.Attribute, lsf bool) ([]command.AttrChange, error) {
	out := make([]command.AttrChange, 0, len(list))
	for _, a := range list {
		ch, err := parseChange(p.estimates(a, lsf), o, a)
		if err != nil {
			return nil, err
		}
		out = append(out, ch)
	}
	return out, nil
}

// estimates returns somebody as one who may say by LSF's rules for how long a job is expected to run: by those of PBS only managers may.
func (p person) estimates(a *api.Attribute, lsf bool) person {
	if lsf && a.GetName() == "Resource_List" && a.GetResource() == "soft_walltime" {
		p.perm = max(p.perm, attr.Manager)
	}
	return p
}

// boundEstimate refuses to let an owner say by LSF's rules for how long a job is expected to run where a limit bounds that, and takes
// back what was said when a limit comes: the scheduler would believe it, and only managers say so of jobs with a limit.
func (p person) boundEstimate(j *state.Job, changes []command.AttrChange, lsf bool) ([]command.AttrChange, error) {
	if p.perm >= attr.Manager {
		return changes, nil
	}
	_, limited := j.Resources.Get("walltime")
	if limited && !lsf && !byLSF(j) { // by a manager, if at all
		return changes, nil
	}
	_, estimated := j.Resources.Get("soft_walltime")
	bounds, estimates := false, false
	for _, ch := range changes {
		switch {
		case ch.Entry.Name != "Resource_List":
		case ch.Entry.Resource == "walltime":
			limited, bounds = ch.Op == command.OpSet, ch.Op == command.OpSet
		case ch.Entry.Resource == "soft_walltime":
			estimated, estimates = ch.Op == command.OpSet, true
		}
	}
	switch {
	case limited && estimated && estimates:
		return nil, pbs.Errorf(pbs.BadAttributeValue, "soft_walltime counts only for a job that no walltime bounds")
	case !bounds || !estimated:
		return changes, nil
	}
	return append(slices.Clone(changes), command.AttrChange{Op: command.OpUnset, Entry: attr.Entry{Name: "Resource_List", Resource: "soft_walltime"}}), nil
}

func parseChange(p person, o attr.Object, a *api.Attribute) (command.AttrChange, error) {
	op, ok := ops[a.GetOp()]
	if !ok {
		return command.AttrChange{}, pbs.Refuse(pbs.InvalidRequest)
	}
	def, ok := attr.Find(o, a.GetName())
	if !ok {
		return command.AttrChange{}, pbs.Refuse(pbs.UndefinedAttribute)
	}
	if err := atLevel(p.view, def.Level); err != nil {
		return command.AttrChange{}, err
	}
	if err := def.CheckWrite(a.GetResource(), p.perm, p.view); err != nil {
		return command.AttrChange{}, err
	}
	ch := command.AttrChange{Op: op, Entry: attr.Entry{Name: def.Name, Resource: a.GetResource()}}
	if op == command.OpUnset {
		return ch, checkUnset(p, def, a.GetResource())
	}
	value, err := parseValue(p, def, a)
	ch.Entry.Value = value
	return ch, err
}

func parseValue(p person, def *attr.Def, a *api.Attribute) (string, error) {
	if len(a.GetValue()) > pbs.MaxValue {
		return "", pbs.Attribute(pbs.BadAttributeValue, def.Full(a.GetResource()))
	}
	if a.GetValue() == "" { // as PBS: to set to nothing is to unset
		return "", checkUnset(p, def, a.GetResource())
	}
	if def.Name == "restrict_res_to_release_on_suspend" {
		for name := range strings.SplitSeq(a.GetValue(), ",") {
			if _, ok := p.view.Resource(strings.TrimSpace(name)); !ok {
				return "", pbs.Refuse(pbs.UnknownResource)
			}
		}
	}
	text := a.GetValue()
	if def.Type == attr.Limits && a.GetOp() == api.Op_OP_DECREASE {
		text = attr.NamesOfLimits(text)
	}
	value, err := def.ParseResource(a.GetResource(), text, p.view)
	if err == nil {
		err = def.CheckChunks(a.GetResource(), value, p.perm, p.view)
	}
	if err == nil && (def.Name == "Output_Path" || def.Name == "Error_Path") {
		value = onHost(p.user.Host, value)
	}
	return value, err
}

// onHost says of which host a path is when its writer meant their own.
func onHost(host pbs.HostName, path string) string {
	if named, _, ok := strings.Cut(path, ":"); ok && !strings.Contains(named, "/") || host == "" {
		return path
	}
	return string(host) + ":" + path
}

// checkUnset refuses a resource that is not there, or that the attribute has none of.
func checkUnset(p person, def *attr.Def, res string) error {
	if res == "" {
		return nil
	}
	if !def.PerResource() {
		return pbs.Refuse(pbs.UndefinedAttribute)
	}
	if _, ok := p.view.Resource(res); !ok {
		return pbs.Attribute(pbs.UnknownResource, def.Full(res))
	}
	return nil
}
