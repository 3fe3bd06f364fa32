package state

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// A Pending is what a job has of vnodes while it waits (specification: reservation section 5.2), and for how long it may. When the job is
// expected to start, and where, is in its attribute estimated.
type Pending struct {
	Age    int32    `cbor:"1,keyasint,omitempty"` // dispatch turns in which it has held something
	Paused bool     `cbor:"2,keyasint,omitempty"` // it has held for as long as it may, and holds nothing until the next turn
	Since  pbs.Time `cbor:"3,keyasint,omitempty"` // when the present period of holding began
	Held   []Kept   `cbor:"4,keyasint,omitempty"` // in the order in which it was taken; never written to
}

// Kept is what is kept of a vnode for a job that waits.
type Kept struct {
	Vnode pbs.VnodeName `cbor:"1,keyasint"`
	Slots int64         `cbor:"2,keyasint,omitempty"` // of ncpus
	Mem   int64         `cbor:"3,keyasint,omitempty"` // in kilobytes
}

// Same reports whether two say the same; either may be nil.
func (p *Pending) Same(o *Pending) bool {
	if p == nil || o == nil {
		return p == o
	}
	return p.Age == o.Age && p.Paused == o.Paused && p.Since == o.Since && slices.Equal(p.Held, o.Held)
}

// Slots returns how many slots are kept in all.
func (p *Pending) Slots() (n int64) {
	for _, k := range p.Held {
		n += k.Slots
	}
	return n
}

// Mem returns how many kilobytes are kept in all.
func (p *Pending) Mem() (n int64) {
	for _, k := range p.Held {
		n += k.Mem
	}
	return n
}

// DropPending drops what is kept for a job, and when it was expected to start because of that.
func (j *Job) DropPending() {
	if j.Pending != nil {
		j.Pending = nil
		j.ForgetStart()
	}
}

// Pendings yields the jobs that wait and that have, or have had, something kept for them, in the order of their submission.
func (t *tables) Pendings() iter.Seq[*Job] { return t.mine(t.pendings.all()) }

// keptOn is what is kept of a vnode for one job.
type keptOn struct {
	Kept
	seq uint64
	sub uint32
}

func (k keptOn) less(o keptOn) bool {
	return cmp.Or(cmp.Compare(k.Vnode, o.Vnode), cmp.Compare(k.seq, o.seq), cmp.Compare(k.sub, o.sub)) < 0
}

// keeps brings the index of what is kept of vnodes up to a job that has changed.
func (t *tables) keeps(old, j *Job) {
	var was, is *Pending
	if old != nil {
		was = old.Pending
	}
	if j != nil {
		is = j.Pending
	}
	if was == is {
		return
	}
	if was != nil {
		for _, k := range was.Held {
			t.kept.drop(keptOn{k, old.Seq, old.Sub})
		}
	}
	if is != nil {
		for _, k := range is.Held {
			t.kept.set(keptOn{k, j.Seq, j.Sub})
		}
	}
}

// KeptOf returns what is kept of a vnode for all jobs that wait.
func (t *tables) KeptOf(name pbs.VnodeName) (sum Kept) {
	sum.Vnode = name
	t.kept.items.Ascend(keptOn{Kept: Kept{Vnode: name}}, func(k keptOn) bool {
		if k.Vnode != name {
			return false
		}
		sum.Slots += k.Slots
		sum.Mem += k.Mem
		return true
	})
	return sum
}

// reservedItems returns resources_reserved of a vnode: what is kept of it for jobs that wait (specification: reservation section 9.6).
func (t *tables) reservedItems(v *Vnode) resource.List {
	kept := t.KeptOf(v.Name)
	var items resource.List
	if kept.Mem > 0 {
		items = append(items, resource.Item{Name: "mem", Value: resource.Kilobytes(kept.Mem).String()})
	}
	if kept.Slots > 0 {
		items = append(items, resource.Item{Name: "ncpus", Value: resource.Count(kept.Slots).String()})
	}
	return items
}

// Backfills reports whether jobs of the queue may use until then what others are to have at a later time.
func (q *Queue) Backfills() bool { return q.Get("backfill") != "False" }

// keptText is lsf_reserved: what is kept for the job, as an assignment is written.
func (p *Pending) keptText() string {
	if p == nil {
		return ""
	}
	var b strings.Builder
	for i, k := range p.Held {
		if i > 0 {
			b.WriteByte('+')
		}
		fmt.Fprintf(&b, "(%s:ncpus=%d", k.Vnode, k.Slots)
		if k.Mem > 0 {
			fmt.Fprintf(&b, ":mem=%dkb", k.Mem)
		}
		b.WriteByte(')')
	}
	return b.String()
}

// sinceText is lsf_reserved_since.
func (p *Pending) sinceText() string {
	if p == nil || len(p.Held) == 0 {
		return ""
	}
	return seconds(p.Since)
}
