package mom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/hook"
	"rampart/mom/task"
	"rampart/transport"
	"rampart/transport/api"
)

// pruneFor bounds what a mother superior waits for the servers to commit a pruning. They withdraw one
// that they cannot bring to it sooner.
const pruneFor = 30 * time.Second

// jobSource answers what hooks of a job ask: besides what there is in the cluster, what would
// be left of its assignment.
type jobSource struct {
	hookSource
	runner hookRunner
	task   task.Task
}

// Objects implements hook.Source.
func (s jobSource) Objects(ctx context.Context, kind, name string, yield func(hook.Object) error) error {
	if kind != "release" {
		return s.hookSource.Objects(ctx, kind, name, yield)
	}
	wishes, err := readWishes(name)
	if err != nil {
		s.runner.mom.lines.Job(pbs.LogError, s.task.Key.Job, "cannot prune: "+err.Error())
		return err
	}
	reply, err := s.runner.askPrune(ctx, s.task, wishes, true)
	if err != nil || !reply.GetGranted() {
		return ctx.Err() // the log says why; the hook decides what follows
	}
	found := hook.Object{Name: "released"}
	for _, a := range reply.GetAttributes() {
		found.Attrs = append(found.Attrs, hook.Attr{a.GetName(), a.GetResource(), a.GetValue()})
	}
	for _, name := range reply.GetReleased() {
		found.Attrs = append(found.Attrs, hook.Attr{"released", "", name})
	}
	return yield(found)
}

// readWishes reads what a hook asks about: releases, one after the other, of which the last one is new. A script may write anything into the pipe.
func readWishes(text string) ([]hook.Release, error) {
	var wishes []hook.Release
	if err := json.Unmarshal([]byte(text), &wishes); err != nil {
		return nil, fmt.Errorf("read what a hook releases: %w", err)
	}
	if len(wishes) == 0 {
		return nil, errors.New("a hook asks about no release")
	}
	return wishes, nil
}

// askPrune asks the servers for a smaller assignment, and tells the log why there is none. The last of the
// wishes is the one that it is about.
func (r hookRunner) askPrune(ctx context.Context, t task.Task, wishes []hook.Release, preview bool) (*api.PruneReply, error) {
	last := len(wishes) - 1
	wish := wishes[last]
	req := &api.PruneRequest{
		Job: string(t.Key.Job), RunCount: uint32(t.Key.Run), KeepSelect: wish.Keep, Vnodes: wish.Vnodes, Preview: preview,
	}
	for _, w := range wishes[:last] {
		req.Earlier = append(req.Earlier, &api.PruneStep{KeepSelect: w.Keep, Vnodes: w.Vnodes})
	}
	for _, h := range t.Hosts {
		good := t.Good(h.Name)
		if !good {
			req.Bad = append(req.Bad, string(h.Name))
		}
		if preview && wish.Keep != "" && t.Party(h.Name) {
			word := "good"
			if !good {
				word = "fail"
			}
			r.mom.lines.Node(pbs.LogDebug, t.Key.Job, fmt.Sprintf("job node_list_%s: node %s", word, h.Name))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, pruneFor)
	defer cancel()
	reply, err := r.mom.config.Reporter.Prune(ctx, connect.NewRequest(req))
	if err != nil {
		err = transport.FromWire(err)
		r.mom.lines.Job(pbs.LogError, t.Key.Job, "cannot prune: "+err.Error())
		return nil, err
	}
	out := reply.Msg
	for _, line := range out.GetLines() {
		r.mom.lines.Job(pbs.LogDebug2, t.Key.Job, line)
	}
	if out.GetDetail() != "" {
		r.mom.lines.Job(pbs.LogDebug, t.Key.Job, out.GetDetail())
	}
	if !out.GetGranted() && len(out.GetLines()) == 0 {
		r.mom.lines.Job(pbs.LogDebug2, t.Key.Job, "cannot prune: "+out.GetWhy())
	}
	return out, nil
}

// prune puts what hooks have released in force: it is committed, and this mom has it on its disk.
func (r hookRunner) prune(ctx context.Context, t task.Task, wishes []hook.Release) error {
	reply, err := r.askPrune(ctx, t, wishes, false)
	switch {
	case err != nil:
		return fmt.Errorf("release vnodes: %w", err)
	case !reply.GetGranted():
		return fmt.Errorf("release vnodes: %s: %w", reply.GetWhy(), task.ErrHook)
	}
	runner := r.life.task(t.Key)
	if runner == nil {
		return fmt.Errorf("release vnodes: %w", pbs.Refuse(pbs.UnknownJob))
	}
	if reply.GetChanged() {
		r.mom.lines.Job(pbs.LogJob, t.Key.Job, "pruned from exec_vnode="+t.Attrs.Get("exec_vnode"))
		for _, a := range reply.GetAttributes() {
			if a.GetName() == "exec_vnode" {
				r.mom.lines.Job(pbs.LogJob, t.Key.Job, "pruned to exec_vnode="+a.GetValue())
			}
		}
		if _, err := runner.Await(ctx, func(t task.Task) bool { return t.Assignment.Number >= reply.GetNumber() }); err != nil {
			return err
		}
	}
	return runner.Tell(ctx, task.Pruned{})
}

// PruneToRequest implements task.Hooks.
func (r hookRunner) PruneToRequest(ctx context.Context, t task.Task) error {
	wishes := []hook.Release{{Keep: t.Attrs.Resource("Resource_List", "select_requested")}}
	reply, err := r.askPrune(ctx, t, wishes, true) // tells the log what it is about
	if err == nil && !reply.GetGranted() {
		err = fmt.Errorf("prune to what was requested: %s: %w", reply.GetWhy(), task.ErrHook)
	}
	if err != nil || !reply.GetChanged() {
		return err
	}
	return r.prune(ctx, t, wishes)
}
