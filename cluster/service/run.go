package service

import (
	"context"
	"errors"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/acct"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// Run starts a job at an operator's wish, whatever its queue, its turn and the limits say:
// qrun. Without vnodes it is placed where the scheduler would.
func (b *Batch) Run(ctx context.Context, r *connect.Request[api.RunRequest]) (*connect.Response[api.RunReply], error) {
	t := &turn{take: b.Turn}
	defer t.over()
	err := b.changeJob(ctx, r, r.Msg.GetJob(), func(p person, j *state.Job) (command.Command, error) {
		if p.perm < attr.Operator {
			return nil, denyJob(p, j, typeRun)
		}
		if _, err := j.State.After(pbs.EventRun); err != nil {
			return nil, err
		}
		if resv, ok := p.view.ReservationOf(j.Queue); ok && !resv.Running() { // amounts that are not its own yet
			return nil, pbs.Refuse(pbs.BadState)
		}
		where, changes, err := b.approved(ctx, p, j, r.Msg.GetVnodes(), t)
		if errors.Is(err, errAgain) { // hooks that want the job to be another each time have it refused
			if p, j, err = b.anew(ctx, p, j); err == nil {
				where, changes, err = b.approved(ctx, p, j, r.Msg.GetVnodes(), t)
			}
		}
		if err != nil {
			return nil, err
		}
		when := time.Unix(p.view.Now().Unix(), 0).In(acct.Zone(p.view.Server().Get("timezone"))).Format("Mon Jan 02 at 15:04")
		return &command.StartJob{
			Job: j.ID, Select: j.SchedSelect, More: j.More(), ExecVnode: where, Comment: "Job run at " + when + " on " + where, Changes: changes, Wish: true,
		}, nil
	})
	return reply(&api.RunReply{}, err)
}

// approved returns where a job is to run and what the hooks of runjob change of it.
func (b *Batch) approved(ctx context.Context, p person, j *state.Job, vnodes string, t *turn) (where string, changes []command.AttrChange, err error) {
	if where, err = b.placed(ctx, p, j, vnodes, t); err != nil {
		return "", nil, err
	}
	changes, err = b.runJob(ctx, p, j, where)
	return where, changes, err
}

// anew returns the job as hooks have altered it.
func (b *Batch) anew(ctx context.Context, p person, j *state.Job) (person, *state.Job, error) {
	v, err := b.present(ctx)
	if err != nil {
		return p, nil, err
	}
	p.view = v
	j, err = jobOf(v, string(j.ID))
	return p, j, err
}

// placed returns the exec_vnode of a job that is to run on the vnodes named; of one for
// which none are named, where there is room.
func (b *Batch) placed(ctx context.Context, p person, j *state.Job, vnodes string, t *turn) (string, error) {
	switch {
	case strings.HasPrefix(vnodes, "("):
		where, err := spec.ParseExecVnode(vnodes)
		if err != nil {
			return "", err
		}
		return where.String(), nil
	case vnodes != "":
		return spread(p.view, j, vnodes)
	case b.Place == nil:
		return "", pbs.Refuse(pbs.NotSupported)
	}
	return b.room(ctx, p, j, t)
}

// spread gives the chunks of a job to vnodes, A+B..., by turns.
func spread(v *state.View, j *state.Job, vnodes string) (string, error) {
	names := strings.Split(vnodes, "+")
	sel, err := spec.ParseSelect(j.SchedSelect)
	if err != nil {
		return "", err
	}
	var all spec.ExecVnode
	for _, chunk := range sel.Chunks {
		items, err := charged(chunk.Items, v)
		if err != nil {
			return "", err
		}
		for range chunk.Count {
			name := pbs.VnodeName(strings.TrimSpace(names[len(all)%len(names)]))
			if _, ok := v.Vnode(name); !ok {
				return "", pbs.Errorf(pbs.UnknownNode, "Unknown node  %s", vnodes)
			}
			all = append(all, spec.ExecChunk{Parts: []spec.ExecPart{{Vnode: name, Items: items}}})
		}
	}
	return all.String(), nil
}

// charged returns what a chunk takes of a vnode.
func charged(asked resource.List, t resource.Table) (resource.List, error) {
	var out resource.List
	for _, it := range asked {
		def, ok := t.Resource(it.Name)
		if !ok || !def.Consumable() {
			continue
		}
		q, err := def.Parse(it.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, resource.Item{Name: it.Name, Value: q.InKB().String()})
	}
	return out, nil
}
