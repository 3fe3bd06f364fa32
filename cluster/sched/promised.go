package sched

import (
	"iter"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// promised collects what jobs and reservations are to have of vnodes.
type promised struct {
	hold   calendar.Hold
	placed spec.ExecVnode
	place  spec.Place
}

// add notes what somebody is to have of vnodes.
func (f *future) add(h calendar.Hold, placed spec.ExecVnode, place spec.Place) {
	f.unread = append(f.unread, promised{h, placed, place})
}

// settle puts what was noted into the calendars, since one is asked for.
func (f *future) settle() {
	for len(f.unread) > 0 {
		all := f.unread
		f.unread = nil
		for _, p := range all {
			f.enter(p.hold, p.placed, p.place)
		}
	}
}

func (f *future) enter(h calendar.Hold, placed spec.ExecVnode, place spec.Place) {
	for _, ch := range placed {
		for _, part := range ch.Parts {
			vn, ok := f.view.Vnode(part.Vnode)
			if !ok {
				continue
			}
			one := h
			one.Alone, one.Host = vn.AloneFor(place), vn.HostAloneFor(place)
			f.hold(vn, vn, one, part.Items)
			if f.pooled {
				for _, it := range part.Items {
					if target := f.view.Pool(vn, it.Name); target != nil && target.Name != vn.Name {
						one.Alone, one.Host = false, false
						f.hold(target, vn, one, resource.List{it})
					}
				}
			}
		}
	}
}

// holdOf returns what a job is to have from a time on.
func holdOf(k calendar.Kind, j *state.Job, from pbs.Time, until span) calendar.Hold {
	return calendar.Hold{From: from, Until: until.last, Expected: until.expected, Kind: k, By: string(j.ID)}
}

func (f *future) hold(vn, from *state.Vnode, h calendar.Hold, items resource.List) {
	s := f.changing(vn)
	f.held = append(f.held, vn.Name)
	h.Items = f.amounts(vn, from, items)
	s.busy = s.busy || h.From > f.now
	s.Add(&h)
}

// drop takes away what a reservation is to have of the vnodes of some assignments, and returns it.
func (f *future) drop(r *state.Reservation, all iter.Seq[spec.ExecVnode]) (gone []left) {
	done := map[pbs.VnodeName]bool{}
	take := func(vn *state.Vnode) {
		if done[vn.Name] {
			return
		}
		done[vn.Name] = true
		s := f.changing(vn)
		for _, h := range s.Take(func(h *calendar.Hold) bool { return h.Kind.Reserves() && h.By == string(r.ID) }) {
			gone = append(gone, left{of: s, was: h})
		}
	}
	var last spec.ExecVnode
	for nodes := range all {
		if nodes.Equal(last) {
			continue
		}
		last = nodes
		for _, ch := range nodes {
			for _, part := range ch.Parts {
				vn, ok := f.view.Vnode(part.Vnode)
				if !ok {
					continue
				}
				take(vn)
				if f.pooled {
					for _, it := range part.Items {
						if target := f.view.Pool(vn, it.Name); target != nil {
							take(target)
						}
					}
				}
			}
		}
	}
	return gone
}
