package sched

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// A piece is a chunk of an assignment, and which of the chunks of the request it serves; none: -1.
type piece struct {
	chunk spec.ExecChunk
	kind  int
}

// pieces finds out what the parts of an assignment are for.
func (q *question) pieces(nodes spec.ExecVnode) []piece {
	want := make([]int, len(q.class.chunks))
	for k, ch := range q.class.chunks {
		want[k] = ch.count
	}
	var all []piece
	for _, ch := range nodes {
		p := piece{ch, -1}
		for k := range want {
			if want[k] > 0 && q.serves(ch, q.class.chunks[k]) {
				p.kind = k
				want[k]--
				break
			}
		}
		all = append(all, p)
	}
	return all
}

// serves reports whether a chunk of an assignment is what a chunk of the request asks for.
func (q *question) serves(has spec.ExecChunk, wants chunk) bool {
	var sum resource.List
	for _, part := range has.Parts {
		i, ok := q.bare.byVnode[part.Vnode]
		if !ok || wants.vnode != "" && wants.vnode != part.Vnode {
			return false
		}
		if host, named := q.bare.namedBy(wants); !named || host >= 0 && host != q.bare.nodes[i].host {
			return false
		}
		for _, p := range wants.props {
			if offer, ok := q.bare.nodes[i].offer.Get(p.def.Name); !resource.Matches(p.def, p.want, offer, ok) {
				return false
			}
		}
		more, err := resource.Add(sum, part.Items, q.view)
		if err != nil {
			return false
		}
		sum = more
	}
	for _, n := range wants.needs {
		if charged(n.def, sum) != n.amount {
			return false
		}
	}
	for _, it := range sum {
		if def, ok := q.view.Resource(it.Name); ok && charged(def, resource.List{it}) > 0 &&
			!slices.ContainsFunc(wants.needs, func(n need) bool { return n.def.Name == it.Name }) {
			return false
		}
	}
	return true
}

// busy reports whether jobs of the reservation are on a vnode.
func (q *question) busy(vn *state.Vnode) bool {
	return slices.ContainsFunc(vn.Jobs, func(held state.VnodeJob) bool { return held.Reservation == q.ID })
}

// repaired replaces the vnodes of the present or next occurrence that cannot be used; where jobs of the reservation run they
// are left. The others are looked at when it is their turn.
func (q *question) repaired() string {
	has := q.Nodes()
	var kept []piece
	win := q.window(0)
	for _, p := range q.pieces(has) {
		switch nodes := append(chunksOf(kept), p.chunk); {
		case p.kind >= 0 && !q.taken(p.chunk) && q.stays(nodes, win):
			kept = append(kept, p)
		case q.runs() && q.used(p.chunk):
			return noNodes
		}
	}
	whole, ok := has, len(kept) == len(has) && len(kept) == q.class.total()
	if !ok {
		whole, ok = q.complete(kept, win)
	}
	if !ok {
		return q.denial(0)
	}
	q.others(whole)
	return ""
}

func chunksOf(all []piece) (nodes spec.ExecVnode) {
	for _, p := range all {
		nodes = append(nodes, p.chunk)
	}
	return nodes
}

// taken reports whether a maintenance has a vnode of a chunk.
func (q *question) taken(ch spec.ExecChunk) bool {
	return slices.ContainsFunc(ch.Parts, func(p spec.ExecPart) bool { return slices.Contains(q.Taken(), p.Vnode) })
}

// used reports whether jobs of the reservation are on a vnode of a chunk.
func (q *question) used(ch spec.ExecChunk) bool {
	return slices.ContainsFunc(ch.Parts, func(p spec.ExecPart) bool {
		vn, ok := q.view.Vnode(p.Vnode)
		return ok && q.busy(vn)
	})
}

// complete adds to what is kept what is missing of the request; on vnodes that the reservation had before, if they will do.
func (q *question) complete(kept []piece, win *window) (whole spec.ExecVnode, ok bool) {
	w, cl := q.bare, q.class
	switch {
	case len(kept) == 0 && len(q.Taken()) == 0:
		return w.findWithin(cl, win)
	case len(kept) < cl.total() && len(cl.groups.defs) > 0: // all of it is in one placement set
		if q.runs() {
			return nil, false
		}
		return w.findWithin(cl, win)
	}
	has := chunksOf(kept)
	w.within(win, func() {
		w.attempt()
		w.change(has, -1)
		defer func() {
			w.change(has, 1)
			w.recount(has)
		}()
		for _, name := range has.Vnodes() {
			w.look(w.nodes[w.byVnode[name]].host)
			w.mark(w.byVnode[name])
		}
		w.recount(has)
		ok = true
		for k, ch := range cl.chunks {
			for _, p := range kept {
				if p.kind == k {
					whole, ch.count = append(whole, p.chunk), ch.count-1
				}
			}
			var more spec.ExecVnode
			ok = ok && q.addTo(w, ch, &more)
			whole = append(whole, more...)
			defer w.undo(more)
		}
	})
	return whole, ok
}

// addTo places more chunks of one kind beside those that the attempt has placed.
func (q *question) addTo(w *world, ch chunk, more *spec.ExecVnode) bool {
	if ch.count <= 0 {
		return true
	}
	if q.class.place.Arrangement == spec.Pack && len(w.touched) > 0 {
		return len(w.touched) == 1 && w.fill(w.touched[0], q.class, ch, ch.count, more) == ch.count
	}
	if before := w.setOf(q.Taken()); before != nil {
		w.set = before
		ch.count = w.leftover(q.class, ch, more)
		w.set = nil
	}
	if q.class.place.Arrangement == spec.Pack {
		one := *q.class
		one.chunks, one.sums = []chunk{ch}, nil
		one.add(ch)
		placed, ok := w.onOne(&one)
		*more = append(*more, placed...)
		return ok
	}
	return w.leftover(q.class, ch, more) == 0
}

// setOf returns the set of some vnodes, nil if there are none.
func (w *world) setOf(names []pbs.VnodeName) *pset {
	s := &pset{}
	for _, name := range names {
		if i, ok := w.byVnode[name]; ok {
			s.nodes, s.hosts = append(s.nodes, i), append(s.hosts, w.nodes[i].host)
		}
	}
	slices.Sort(s.nodes)
	slices.Sort(s.hosts)
	s.hosts = slices.Compact(s.hosts)
	if len(s.nodes) == 0 {
		return nil
	}
	return s
}
