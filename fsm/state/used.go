package state

import (
	"slices"

	"rampart/fsm/resource"
)

// noteUsed keeps in mind what a job that starts has of server and queue: what is assigned of that
// is shown from then on, nothing too.
func (tx *Tx) noteUsed(j *Job) {
	charged := tx.charged(j)
	if used, more := alsoUsed(tx.server.Used, charged); more {
		next := *tx.server
		next.Used = used
		tx.PutServer(&next)
	}
	q, ok := tx.Queue(j.Queue)
	if !ok {
		return
	}
	if used, more := alsoUsed(q.Used, charged); more {
		next := *q
		next.Used = used
		tx.PutQueue(&next)
	}
}

// alsoUsed adds the names of a list, and reports whether there were any to add.
func alsoUsed(used []string, list resource.List) (all []string, more bool) {
	all = used
	for _, it := range list {
		i, known := slices.BinarySearch(all, it.Name)
		if known {
			continue
		}
		if !more {
			all, more = slices.Clone(all), true // the record is shared
		}
		all = slices.Insert(all, i, it.Name)
	}
	return all, more
}

// withUsed adds those of which nothing is assigned now.
func withUsed(assigned resource.List, used []string, t resource.Table) resource.List {
	for _, name := range used {
		def, known := t.Resource(name)
		if _, some := assigned.Get(name); known && !some {
			assigned = assigned.Set(name, nothing(def))
		}
	}
	return assigned
}

// nothing returns how PBS writes that none of a resource is assigned.
func nothing(def resource.Def) string {
	if def.Type == resource.Size {
		return "0kb"
	}
	return "0"
}
