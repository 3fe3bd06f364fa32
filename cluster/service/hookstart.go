package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/hook"
	"rampart/transport/api"
)

// RunjobEvent returns what the hooks of runjob see of a job that is to start on vnodes.
func RunjobEvent(v *state.View, j *state.Job, where string) *hook.Event {
	job := jobObject(v, j)
	job.Attrs = slices.DeleteFunc(job.Attrs, func(a hook.Attr) bool { return a[0] == "exec_vnode" })
	job.Attrs = append(job.Attrs, hook.Attr{"exec_vnode", "", where})
	return &hook.Event{Event: "runjob", Requestor: "Scheduler", Job: &job, Settable: hook.SettableAtStart()}
}

// RunjobChanges reads what hooks of runjob have set of a job. Those that refuse its start may say
// how long it is to wait. Again reports whether vnodes have to be chosen anew.
func RunjobChanges(v *state.View, j *state.Job, out *hook.Outcome) (changes []command.AttrChange, again bool, err error) {
	if out == nil || out.Job == nil {
		return nil, false, nil
	}
	waits := out.Rejected != nil
	edits := &hook.Edits{Set: maps.Clone(out.Job.Set)}
	for name := range edits.Set {
		if slices.Contains(hook.AtRefusal(), name) != waits && (waits || name == "Hold_Types" || name == "Execution_Time") {
			delete(edits.Set, name)
		}
	}
	if d := edits.Set["depend"]; !waits && d != nil && slices.ContainsFunc(strings.Split(*d, ","), runOne) {
		return nil, false, pbs.Errorf(pbs.BadAttributeValue, "cannot modify job after runjob request has been accepted")
	}
	p := person{view: v, perm: attr.Manager, user: j.Owner}
	if changes, _, err = jobEdits(p, edits); err != nil || waits {
		return changes, false, err
	}
	for _, ch := range changes {
		if !command.ChoosesVnodes(v, ch.Entry) {
			continue
		}
		if was, _ := j.Resources.Get(ch.Entry.Resource); was == ch.Entry.Value {
			continue
		}
		again = true
	}
	if !again { // the same as before changes nothing
		changes = slices.DeleteFunc(changes, func(ch command.AttrChange) bool { return command.ChoosesVnodes(v, ch.Entry) })
	}
	return changes, again, nil
}

// runOne reports whether an item of depend has a job run instead of others: one that starts has been let run already.
func runOne(item string) bool { return strings.HasPrefix(strings.TrimSpace(item), "runone:") }

// HookChanges reads what hooks have set of a job that is queued.
func HookChanges(v *state.View, edits *hook.Edits) ([]command.AttrChange, error) {
	changes, _, err := jobEdits(person{view: v, perm: attr.Manager}, edits)
	return changes, err
}

// VnodeChanges reads what hooks of the server have set of a vnode.
func VnodeChanges(v *state.View, edits *hook.Edits) ([]command.AttrChange, error) {
	p := person{view: v, perm: attr.Manager}
	var changes []command.AttrChange
	for _, name := range slices.Sorted(maps.Keys(edits.Set)) {
		base, res, _ := strings.Cut(name, ".")
		a := &api.Attribute{Name: base, Resource: res, Op: api.Op_OP_UNSET}
		if value := edits.Set[name]; value != nil && *value != "" {
			a.Op, a.Value = api.Op_OP_SET, *value
		}
		ch, err := parseChange(p, attr.Vnode, a)
		if err != nil {
			return nil, err
		}
		changes = append(changes, ch)
	}
	return changes, nil
}

// errAgain says that hooks have altered what vnodes are chosen by: they are to be chosen anew.
var errAgain = &hooked{pbs.Attribute(pbs.RunningAttribute, "Resource_List")}

// runJob asks the hooks of runjob about a start by hand, and returns what they change of the job. With errAgain the job has been altered.
func (sh *serverHooks) runJob(ctx context.Context, p person, j *state.Job, where string) ([]command.AttrChange, error) {
	if !p.view.HasHooksAt("runjob") {
		return nil, nil
	}
	out, refusal := sh.runHooks(ctx, p, RunjobEvent(p.view, j, where))
	changes, again, err := RunjobChanges(p.view, j, out)
	switch {
	case refusal != nil && len(changes) > 0:
		if err := sh.commitHooked(ctx, p, command.AltersAtStart(j.ID, changes, false)); err != nil {
			sh.Logger.Warn("alter a job for a hook", "job", j.ID, "error", err)
		}
		return nil, refusal
	case refusal != nil:
		return nil, refusal
	case again:
		if err := sh.commitHooked(ctx, p, command.AltersAtStart(j.ID, changes, true)); err != nil {
			return nil, err
		}
		return nil, errAgain
	case err != nil:
		sh.jobLine(j.ID, err.Error())
	}
	return changes, err
}

// commitHooked proposes what hooks have set of a job. What is refused is so whatever view the hooks saw.
func (sh *serverHooks) commitHooked(ctx context.Context, p person, alter command.Command) error {
	_, err := sh.commit(ctx, p.user, alter)
	if refusal, refused := errors.AsType[*pbs.Error](err); refused {
		return &hooked{refusal}
	}
	return err
}

// jobLine tells something of a job in the server's log.
func (sh *serverHooks) jobLine(id pbs.JobID, text string) {
	if sh.Log == nil {
		return
	}
	if err := sh.Log.Write(time.Now(), pbs.LogJob, "Job", string(id), text); err != nil {
		sh.Logger.Error("write the server's log", "error", err)
	}
}
