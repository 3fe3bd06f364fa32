package service

import (
	"context"
	"errors"
	"slices"
	"strings"

	"rampart/cluster"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/hook"
	"rampart/transport"
	"rampart/transport/api"
)

// serverHooks are the hooks of the server's events, and what is done of their answers.
type serverHooks struct {
	*base
	Hooks Hooks // runs scripts; nil: there is nothing to run them
}

// hooked is the refusal of a hook: it is final, whatever view the hook saw.
type hooked struct{ refusal *pbs.Error }

func (h *hooked) Error() string { return h.refusal.Message }

// Unwrap makes it the refusal that the user reads.
func (h *hooked) Unwrap() error { return h.refusal }

// runHooks runs the hooks of an event before its change is proposed. It returns nil when
// there are none, and beside what they have answered a refusal when one of them rejects.
func (sh *serverHooks) runHooks(ctx context.Context, p person, e *hook.Event) (*hook.Outcome, error) {
	if !p.view.HasHooksAt(e.Event) {
		return nil, nil
	}
	if sh.Hooks == nil {
		return nil, &hooked{pbs.Errorf(pbs.HookError, "hooks of %s cannot run on this server", e.Event)}
	}
	e.Requestor, e.RequestorHost = p.user.Name, string(p.user.Host)
	defer transport.Working(ctx)()
	out := sh.Hooks.Run(ctx, p.view, e)
	if out.Rejected == nil {
		return out, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text := out.Message
	if text == "" {
		text = e.Event + " request rejected by '" + out.Rejected.Name + "'"
	}
	return out, &hooked{pbs.Errorf(pbs.HookError, "%s", strings.ReplaceAll(text, "\n", " "))}
}

// queueJob lets the hooks of queuejob look at a job and change it.
func (sh *serverHooks) queueJob(ctx context.Context, p person, c *command.SubmitJob) error {
	if !p.view.HasHooksAt("queuejob") {
		return nil
	}
	job := HookObject("", c.Attributes)
	queue := c.Queue
	if queue == "" {
		queue = p.view.Server().DefaultQueue()
	}
	job.Attrs = append(job.Attrs, hook.Attr{"queue", "", string(queue)}, hook.Attr{"Job_Owner", "", p.user.String()})
	for _, name := range []string{"Checkpoint", "Hold_Types", "Join_Path", "Keep_Files", "Mail_Points", "Priority", "Rerunable"} {
		if def, _ := attr.Lookup(attr.Job, name); job.Get(name, "") == "" {
			job.Attrs = append(job.Attrs, hook.Attr{name, "", def.Default})
		}
	}
	out, err := sh.runHooks(ctx, p, &hook.Event{Event: "queuejob", Job: &job, Settable: hook.SettableJob()})
	if out == nil || err != nil {
		return err
	}
	changes, queued, err := sh.editsOf(ctx, p, out.Job)
	if err != nil {
		return err
	}
	if queued != "" {
		c.Queue = pbs.QueueName(queued)
	}
	for _, ch := range changes {
		if ch.Op == command.OpUnset || ch.Entry.Value == "" {
			c.Attributes = c.Attributes.Unset(ch.Entry.Name, ch.Entry.Resource)
			continue
		}
		c.Attributes = c.Attributes.Set(ch.Entry.Name, ch.Entry.Resource, ch.Entry.Value)
	}
	return nil
}

// editsOf is jobEdits of hooks that have just run. Where a fresh view refuses their values as well that is final: they are not
// asked again.
func (sh *serverHooks) editsOf(ctx context.Context, p person, edits *hook.Edits) (changes []command.AttrChange, queue string, err error) {
	if changes, queue, err = jobEdits(p, edits); err == nil {
		return changes, queue, nil
	}
	v, failed := sh.Replica.Read(ctx, cluster.Fresh)
	if failed != nil {
		return nil, "", failed
	}
	p.view = v
	changes, queue, err = jobEdits(p, edits)
	if refusal, ok := errors.AsType[*pbs.Error](err); ok {
		return nil, "", &hooked{refusal}
	}
	return changes, queue, err
}

// jobEdits reads what hooks want of a job as if a Manager had asked for it.
func jobEdits(p person, edits *hook.Edits) (changes []command.AttrChange, queue string, err error) {
	if edits == nil {
		return nil, "", nil
	}
	p.perm = attr.Manager
	names := make([]string, 0, len(edits.Set))
	for name := range edits.Set {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value := edits.Set[name]
		base, res, _ := strings.Cut(name, ".")
		if base == "queue" {
			if value != nil {
				queue = *value
			}
			continue
		}
		a := &api.Attribute{Name: base, Resource: res, Op: api.Op_OP_UNSET}
		if value != nil {
			a.Op, a.Value = api.Op_OP_SET, *value
		}
		if base == "Resource_List" && res == "" || value != nil && *value == "" {
			a.Op = api.Op_OP_UNSET
		}
		ch, err := parseChange(p, attr.Job, a)
		if err != nil {
			return nil, "", err
		}
		changes = append(changes, ch)
	}
	return changes, queue, nil
}

// alterJob lets the hooks of modifyjob look at changes of a job, and change them.
func (sh *serverHooks) alterJob(ctx context.Context, p person, j *state.Job, changes []command.AttrChange) ([]command.AttrChange, error) {
	if !p.view.HasHooksAt("modifyjob") {
		return changes, nil
	}
	before, job := jobObject(p.view, j), hook.Object{Name: string(j.ID)}
	for _, ch := range changes {
		if ch.Op != command.OpUnset && ch.Entry.Value != "" { // to set to nothing is to unset, which has no value of its type
			job.Attrs = append(job.Attrs, hook.Attr{ch.Entry.Name, ch.Entry.Resource, ch.Entry.Value})
		}
	}
	out, err := sh.runHooks(ctx, p, &hook.Event{Event: "modifyjob", Job: &job, JobBefore: &before, Settable: hook.SettableJob()})
	if out == nil || err != nil {
		return changes, err
	}
	more, _, err := sh.editsOf(ctx, p, out.Job)
	if err != nil {
		return nil, err
	}
	for _, m := range more {
		changes = slices.DeleteFunc(changes, func(ch command.AttrChange) bool {
			return ch.Entry.Name == m.Entry.Name && ch.Entry.Resource == m.Entry.Resource
		})
	}
	return append(changes, more...), nil
}

// movedTo asks the hooks of movejob about a job that is to be moved, and returns the queue into which they let it.
func (sh *serverHooks) movedTo(ctx context.Context, p person, j *state.Job, queue pbs.QueueName) (pbs.QueueName, error) {
	if !p.view.HasHooksAt("movejob") {
		return queue, nil
	}
	job := jobObject(p.view, j)
	setQueue(&job, string(queue))
	out, err := sh.runHooks(ctx, p, &hook.Event{Event: "movejob", Job: &job, SrcQueue: string(j.Queue), Settable: []string{"queue"}})
	if out == nil || err != nil || out.Job == nil {
		return queue, err
	}
	if other := out.Job.Set["queue"]; other != nil && *other != "" {
		return sh.chosenQueue(ctx, p.view, *other)
	}
	return queue, nil
}

// chosenQueue is queueOf of what hooks that have just run want. As with editsOf the refusal by a fresh view is final.
func (sh *serverHooks) chosenQueue(ctx context.Context, v *state.View, destination string) (pbs.QueueName, error) {
	queue, err := queueOf(v, destination)
	if err == nil {
		return queue, nil
	}
	if v, err = sh.Replica.Read(ctx, cluster.Fresh); err != nil {
		return "", err
	}
	queue, err = queueOf(v, destination)
	if refusal, ok := errors.AsType[*pbs.Error](err); ok {
		return "", &hooked{refusal}
	}
	return queue, err
}

// setQueue makes a job in an event one of the queue.
func setQueue(o *hook.Object, queue string) {
	for i := range o.Attrs {
		if o.Attrs[i][0] == "queue" {
			o.Attrs[i][2] = queue
		}
	}
}
