// Package alloc implements the arithmetic on what a running job has: what is charged of vnodes for it,
// which of its vnodes stay and which it gives back, and what its request looks like afterwards
// (specification: ramp-down sections 5 and 6). Everything is a pure function on values: the same assignment and wish
// give the same result on every replica. It does not know jobs, hosts or permissions.
package alloc

import (
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// An Assignment is what a run has of vnodes and hosts. The chunks of the two stand in the same order, one for each; the
// first one is on the primary execution host. Nobody writes to one: another takes its place.
type Assignment struct {
	ExecVnode spec.ExecVnode `cbor:"1,keyasint"`
	ExecHost  spec.ExecHost  `cbor:"2,keyasint"`
}

// A Grant is an assignment and the request that it fulfils, as the job keeps that.
type Grant struct {
	Assignment
	SchedSelect string        `cbor:"3,keyasint,omitempty"`
	Resources   resource.List `cbor:"4,keyasint,omitempty"` // Resource_List
}

// granted is a grant with the request of each of its chunks.
type granted struct {
	Grant
	chunks []spec.Chunk
}

// open reads the request. Chunks that do not match are refused with SystemError.
func (g Grant) open() (granted, error) {
	sel, err := spec.ParseSelect(g.SchedSelect)
	if err != nil {
		return granted{}, err
	}
	all := expand(sel).Chunks
	if n := len(g.ExecVnode); n == 0 || len(g.ExecHost) != n || len(all) != n {
		return granted{}, pbs.Errorf(pbs.SystemError, "the job has %d chunks in exec_vnode, %d in exec_host and %d in schedselect",
			n, len(g.ExecHost), len(all))
	}
	return granted{g, all}, nil
}

// expand writes every chunk of a select as often as it counts.
func expand(sel spec.Select) spec.Select {
	out := spec.Select{Chunks: make([]spec.Chunk, 0, sel.Total())}
	for _, c := range sel.Chunks {
		for range c.Count {
			out.Chunks = append(out.Chunks, spec.Chunk{Count: 1, Items: c.Items})
		}
	}
	return out
}

// Primary reports whether a chunk is on the primary execution host.
func (a Assignment) Primary(chunk int) bool { return a.ExecHost[chunk].Host == a.ExecHost[0].Host }

// Vnodes yields each vnode that the assignment names, with the host that it is on.
func (a Assignment) Vnodes(yield func(name pbs.VnodeName, host string) bool) {
	seen := make(map[pbs.VnodeName]bool, len(a.ExecVnode))
	for i, c := range a.ExecVnode {
		for _, p := range c.Parts {
			if seen[p.Vnode] {
				continue
			}
			seen[p.Vnode] = true
			if !yield(p.Vnode, a.ExecHost[i].Host) {
				return
			}
		}
	}
}

// Hosts returns the hosts of the assignment, the primary execution host first, each once.
func (a Assignment) Hosts() []string {
	var all []string
	seen := make(map[string]bool, len(a.ExecHost))
	for _, h := range a.ExecHost {
		if !seen[h.Host] {
			seen[h.Host] = true
			all = append(all, h.Host)
		}
	}
	return all
}

// A Split is an assignment in two parts: what stays, and what is given back. For each vnode the
// parts add up to the original.
type Split struct {
	Kept     Grant
	Released []Placed
}

// Placed is a chunk, or a part of one, and the host that it is on.
type Placed struct {
	Host string
	spec.ExecChunk
}

// String prints it as exec_vnode writes a chunk.
func (p Placed) String() string { return spec.ExecVnode{p.ExecChunk}.String() }

// ReleasedVnodes returns what is given back as exec_vnode writes it.
func (s Split) ReleasedVnodes() spec.ExecVnode {
	all := make(spec.ExecVnode, len(s.Released))
	for i, p := range s.Released {
		all[i] = p.ExecChunk
	}
	return all
}

// Whole reports whether nothing is given back.
func (s Split) Whole() bool { return len(s.Released) == 0 }

// fulfilling returns the grant of what is kept, with its request: the select, in both places, and the sums. Resources that
// were asked for in chunks and are in none any more go; those of the whole job stay.
func (g granted) fulfilling(kept Assignment, sel spec.Select, t resource.Table) (Grant, error) {
	sums, err := spec.Sum(sel, t)
	if err != nil {
		return Grant{}, err
	}
	next := resource.List(nil)
	asked := map[string]bool{"nodect": true}
	for _, c := range (spec.Select{Chunks: g.chunks}).Grouped().Chunks {
		for _, it := range c.Items {
			asked[it.Name] = true
		}
	}
	for _, it := range g.Resources {
		if !asked[it.Name] {
			next = append(next, it)
		}
	}
	for _, it := range sums {
		next = next.Set(it.Name, it.Value)
	}
	text := sel.String()
	return Grant{kept, text, next.Set("select", text)}, nil
}
