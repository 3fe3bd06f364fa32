package service

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/hook"
	"rampart/transport/api"
)

// reservationObject returns a reservation as scripts see it.
func reservationObject(v *state.View, r *state.Reservation) hook.Object {
	return HookObject(string(r.ID), v.ReservationForHooks(r))
}

// submitHooks lets the hooks of resvsub look at what is asked for, and change it.
func (rs *reservations) submitHooks(ctx context.Context, p person, w *wish) error {
	if !p.view.HasHooksAt("resvsub") {
		return nil
	}
	list := w.list.Set("Variable_List", "", w.origin(p.user))
	for name, value := range map[string]string{"reserve_rrule": w.rule, "reserve_job": w.job, "qmove": w.qmove} {
		if value != "" {
			list = list.Set(name, "", value)
		}
	}
	if w.waits {
		list = list.Set("interactive", "", strconv.FormatInt(w.wait, 10))
	}
	for _, m := range []struct {
		moment
		name, resource string
	}{{w.times.start, "reserve_start", ""}, {w.times.end, "reserve_end", ""}, {w.times.length, "Resource_List", "walltime"}} {
		if m.given {
			list = list.Set(m.name, m.resource, strconv.FormatInt(m.at.Unix(), 10))
		}
	}
	asked := HookObject("", list)
	out, err := rs.runHooks(ctx, p, &hook.Event{Event: "resvsub", Resv: &asked, Settable: hook.SettableResv()})
	if out == nil || err != nil {
		return err
	}
	p.perm = attr.Manager // as if one had asked for it
	for _, a := range resvEdits(out.Resv) {
		w.forget(a)
		if a.GetOp() == api.Op_OP_UNSET {
			continue
		}
		if err := w.add(p, a); err != nil {
			return err
		}
	}
	return nil
}

// resvEdits returns what hooks want of a reservation, in the order of the names.
func resvEdits(edits *hook.Edits) []*api.Attribute {
	if edits == nil {
		return nil
	}
	var all []*api.Attribute
	for name, value := range edits.Set {
		base, res, _ := strings.Cut(name, ".")
		a := &api.Attribute{Name: base, Resource: res, Op: api.Op_OP_UNSET}
		if value != nil && *value != "" {
			a.Op, a.Value = api.Op_OP_SET, *value
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *api.Attribute) int {
		return strings.Compare(a.GetName()+"."+a.GetResource(), b.GetName()+"."+b.GetResource())
	})
	return all
}

// forget drops what was asked for under a name, for what a hook has set in place of it.
func (w *wish) forget(a *api.Attribute) {
	switch {
	case w.times.forget(a):
	case a.GetName() == "Resource_List" && a.GetResource() == "":
		w.withoutResources()
	default:
		w.list = w.list.Unset(a.GetName(), a.GetResource())
	}
}

// alterHooks lets the hooks of modifyresv look at changes of a reservation, and change them. What they set is one change with
// what was asked for.
func (rs *reservations) alterHooks(ctx context.Context, p person, r *state.Reservation, asked []*api.Attribute) ([]*api.Attribute, error) {
	if !p.view.HasHooksAt("modifyresv") {
		return asked, nil
	}
	before, change := reservationObject(p.view, r), hook.Object{Name: string(r.ID)}
	vars := (&wish{}).origin(p.user)
	change.Attrs = append(change.Attrs, hook.Attr{"Variable_List", "", vars})
	for _, a := range asked {
		if def, ok := attr.Find(attr.Reservation, a.GetName()); ok && a.GetOp() != api.Op_OP_UNSET {
			change.Attrs = append(change.Attrs, hook.Attr{def.Name, a.GetResource(), a.GetValue()})
		}
	}
	e := &hook.Event{Event: "modifyresv", Resv: &change, ResvBefore: &before, Settable: hook.SettableResv()}
	out, err := rs.runHooks(ctx, p, e)
	if out == nil || err != nil {
		return asked, err
	}
	for _, a := range resvEdits(out.Resv) {
		asked = slices.DeleteFunc(slices.Clone(asked), func(had *api.Attribute) bool {
			return strings.EqualFold(had.GetName(), a.GetName()) && had.GetResource() == a.GetResource() || isLength(had) && isLength(a)
		})
		if a.GetOp() == api.Op_OP_SET || !(&times{}).forget(a) && a.GetName() != "Resource_List" {
			asked = append(asked, a)
		}
	}
	return asked, nil
}

// isLength tells the two names of how long a reservation lasts.
func isLength(a *api.Attribute) bool {
	def, ok := attr.Find(attr.Reservation, a.GetName())
	return ok && (def.Name == "reserve_duration" || def.Full(a.GetResource()) == "Resource_List.walltime")
}

// origin says where a reservation was asked for.
func (w *wish) origin(u pbs.User) string {
	vars := "PBS_O_LOGNAME=" + attr.EscapeVariable(u.Name)
	if u.Host != "" {
		vars += ",PBS_O_HOST=" + attr.EscapeVariable(string(u.Host))
	}
	if w.rule != "" {
		vars += ",PBS_TZID=" + attr.EscapeVariable(w.zone)
	}
	return vars
}
