package service

import (
	"context"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/hook"
)

// HookSource answers what hooks on a replica ask about the cluster.
type HookSource struct{ View *state.View }

// Objects implements hook.Source.
func (s HookSource) Objects(ctx context.Context, kind, name string, yield func(hook.Object) error) error {
	v := s.View
	switch kind {
	case "server":
		return yield(HookObject(v.Cluster().Name, v.ServerAttributes()))
	case "queue":
		for q := range v.Queues() {
			if name == "" || name == string(q.Name) {
				if err := yield(HookObject(string(q.Name), v.QueueAttributes(q))); err != nil {
					return err
				}
			}
		}
	case "vnode":
		if name != "" {
			if vn, ok := v.Vnode(pbs.VnodeName(name)); ok {
				return yield(HookObject(name, v.VnodeAttributes(vn)))
			}
			return nil
		}
		for vn := range v.Vnodes() {
			if err := yield(HookObject(string(vn.Name), v.VnodeAttributes(vn))); err != nil {
				return err
			}
		}
	case "resv":
		if name != "" {
			if r, err := reservationOf(v, name); err == nil {
				return yield(reservationObject(v, r))
			}
			return nil
		}
		for r := range v.Reservations() {
			if err := yield(reservationObject(v, r)); err != nil {
				return err
			}
		}
	case "job":
		if name != "" {
			if j, err := jobOf(v, name); err == nil {
				return yield(jobObject(v, j))
			}
			return nil
		}
		for j := range v.Jobs() {
			if j.State == pbs.Finished {
				continue
			}
			if err := yield(jobObject(v, j)); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

// HookObject returns an object as scripts see it.
func HookObject(name string, list attr.List) hook.Object {
	o := hook.Object{Name: name, Attrs: make([]hook.Attr, len(list))}
	for i, e := range list {
		o.Attrs[i] = hook.Attr{e.Name, e.Resource, e.Value}
	}
	return o
}

func jobObject(v *state.View, j *state.Job) hook.Object {
	o := HookObject(string(j.ID), v.JobAttributes(j))
	if j.Checkpointed() {
		o.Attrs = append(o.Attrs, hook.Checkpointed)
	}
	return o
}
