package sched

import (
	"slices"

	"rampart/fsm/alloc"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// altered finds vnodes for an occurrence ahead that is to be at another time, or to have less: those that it has, if they will do.
func (q *question) altered() string {
	has := q.Nodes()
	if q.Ask.Select != q.Select || len(has) == 0 || !q.stays(has, q.window(0)) {
		placed, ok := q.bare.findWithin(q.class, q.window(0))
		if !ok {
			return q.denial(0)
		}
		has = placed
	}
	q.others(has)
	return ""
}

// others answers with the vnodes of the present occurrence, and those that the others have.
func (q *question) others(first spec.ExecVnode) {
	q.found = []spec.ExecVnode{first}
	for _, o := range q.Occurrences[1:] {
		q.found = append(q.found, o.Nodes)
	}
}

// stays reports whether the reservation may have vnodes in a window that it has already, which must be usable.
func (q *question) stays(nodes spec.ExecVnode, win *window) bool {
	for _, name := range nodes.Vnodes() {
		if vn, ok := q.view.Vnode(name); !ok || !sound(vn) {
			return false
		}
	}
	return q.has(nodes, win)
}

// alteredRunning answers for an occurrence that has begun: it keeps its vnodes, but for those of chunks that it is to have
// no longer. Where its jobs run it keeps enough for them, and of the others it gives up first those that cannot be used.
func (q *question) alteredRunning() string {
	has := q.Nodes()
	win := q.window(0)
	if q.view.InsidersStay(q.Reservation, win.last) != nil {
		return noNodes
	}
	if q.Ask.Select == q.Select {
		if !q.has(has, win) {
			return q.denial(0)
		}
		q.others(has)
		return ""
	}
	kept, ok := q.needed(has)
	if !ok {
		return hasJobs
	}
	if !q.stays(chunksOf(kept), win) {
		return noNodes
	}
	whole, ok := q.complete(kept, win)
	if !ok {
		return q.denial(0)
	}
	q.others(whole)
	return ""
}

// needed chooses which chunks stay of those that the reservation has; false: its jobs need more than the new request has.
func (q *question) needed(has spec.ExecVnode) (kept []piece, ok bool) {
	want := make([]int, len(q.class.chunks))
	for k, ch := range q.class.chunks {
		want[k] = ch.count
	}
	stays := make([]int, len(has)) // the kind that a chunk is kept as, from 1
	keep := func(i int) bool {
		for k := range want {
			if want[k] > 0 && q.serves(has[i], q.class.chunks[k]) {
				stays[i] = k + 1
				want[k]--
				return true
			}
		}
		return false
	}
	for i, ch := range has { // what jobs run on
		if !q.covers(has, stays, ch) && !keep(i) {
			return nil, false
		}
	}
	for _, usable := range []bool{true, false} {
		for i, ch := range has {
			if stays[i] == 0 && q.usable(ch) == usable {
				keep(i)
			}
		}
	}
	for i, ch := range has {
		if stays[i] > 0 {
			kept = append(kept, piece{ch, stays[i] - 1})
		}
	}
	return kept, true
}

// usable reports whether all vnodes of a chunk are.
func (q *question) usable(ch spec.ExecChunk) bool {
	return !slices.ContainsFunc(ch.Parts, func(p spec.ExecPart) bool {
		vn, ok := q.view.Vnode(p.Vnode)
		return !ok || !sound(vn)
	})
}

// covers reports whether the chunks that stay have enough for the jobs on the vnodes of a chunk.
func (q *question) covers(has spec.ExecVnode, stays []int, ch spec.ExecChunk) bool {
	for _, part := range ch.Parts {
		vn, ok := q.view.Vnode(part.Vnode)
		if !ok || !q.busy(vn) {
			continue
		}
		var sum resource.List
		some := false
		for i := range has {
			for _, p := range has[i].Parts {
				if stays[i] > 0 && p.Vnode == part.Vnode {
					some = true
					if more, err := resource.Add(sum, p.Items, q.view); err == nil {
						sum = more
					}
				}
			}
		}
		share, begun := vn.ReservedFor(q.ID)
		next := alloc.Reserved{Items: sum}
		used := slices.DeleteFunc(slices.Clone(share.Used), func(it resource.Item) bool { return !share.Names(it.Name) && !next.Names(it.Name) })
		if !some || begun && resource.Fits(used, sum, nil, q.view) != nil {
			return false
		}
	}
	return true
}
