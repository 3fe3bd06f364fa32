package command

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// reassign takes a run off all vnodes of its old assignment and puts it on those of the new
// one, which has less of the same. It returns what the run is charged with by then. Most of ten
// thousand vnodes stay as they are, so each is looked at once.
func reassign(tx *state.Tx, old, j *state.Job) (resource.List, error) {
	kept, err := sharesKept(tx, j)
	if err != nil {
		return nil, err
	}
	sum := resource.NewSum(tx)
	for i := range kept.shares {
		if err := kept.shares[i].put(tx, j, sum); err != nil {
			return nil, err
		}
	}
	stay := 0 // which is met next if both assignments have one order, as they mostly do
	gone := map[pbs.VnodeName]bool{}
	for _, c := range old.Run.ExecVnode {
		for _, p := range c.Parts {
			if stay < len(kept.shares) && kept.shares[stay].name == p.Vnode {
				stay++
				continue
			}
			if _, stays := kept.at[p.Vnode]; stays || gone[p.Vnode] {
				continue
			}
			gone[p.Vnode] = true
			if err := putShare(tx, j, p.Vnode, nil); err != nil {
				return nil, err
			}
		}
	}
	return sum.List(), nil
}

// A keptShare is what a run keeps of one vnode.
type keptShare struct {
	name  pbs.VnodeName
	asked []resource.List // by its chunks
	items resource.List   // their sum
	slots []uint32
	cpus  int
	shown int // how often the job stands among the vnode's jobs
}

// keptShares are the shares of an assignment in its order.
type keptShares struct {
	shares []keptShare
	at     map[pbs.VnodeName]int
}

// sharesKept sums up what an assignment takes of each vnode.
func sharesKept(tx *state.Tx, j *state.Job) (keptShares, error) {
	parts, hosts := j.Run.ExecVnode, j.Run.ExecHost
	all := keptShares{make([]keptShare, 0, len(parts)), make(map[pbs.VnodeName]int, len(parts))}
	var last keptShare // most chunks are alike
	slots := make([]uint32, len(parts))
	for i, chunk := range parts {
		for n, p := range chunk.Parts {
			at, met := all.at[p.Vnode]
			if !met {
				at = len(all.shares)
				all.at[p.Vnode] = at
				all.shares = append(all.shares, keptShare{name: p.Vnode})
			}
			s := &all.shares[at]
			switch {
			case !met && last.asked != nil && slices.Equal(p.Items, last.asked[0]):
				s.asked, s.items, s.cpus, s.shown = last.asked, last.items, last.cpus, last.shown
			default:
				sum := share{held: state.VnodeJob{Items: s.items}, cpus: s.cpus, shown: s.shown}
				if _, err := sum.add(tx, p.Items); err != nil {
					return keptShares{}, err
				}
				s.asked, s.items, s.cpus, s.shown = append(slices.Clip(s.asked), p.Items), sum.held.Items, sum.cpus, sum.shown
			}
			if len(s.asked) == 1 {
				last = *s
			}
			switch {
			case n > 0 || i >= len(hosts):
			case s.slots == nil:
				slots[i] = uint32(hosts[i].Slot)
				s.slots = slots[i : i+1 : i+1]
			default:
				s.slots = append(s.slots, uint32(hosts[i].Slot))
			}
		}
	}
	return all, nil
}

// put leaves the run with its share of the vnode and adds what it is charged with: of a vnode that it
// has to itself all, once.
func (s *keptShare) put(tx *state.Tx, j *state.Job, sum *resource.Sum) error {
	v, ok := tx.Vnode(s.name)
	at := -1
	if ok {
		at = heldAt(v, j)
	}
	if at >= 0 && v.Jobs[at].Exclusive {
		sum.Add(wholeOf(v, s.items))
	} else {
		for _, items := range s.asked {
			sum.Add(items)
		}
	}
	if at < 0 || s.same(v.Jobs[at]) { // as most are
		return nil
	}
	return putShare(tx, j, s.name, s)
}

// same reports whether a run goes on with what it has of a vnode.
func (s *keptShare) same(has state.VnodeJob) bool {
	return slices.Equal(s.items, has.Items) && slices.Equal(s.slots, has.Slots) && len(has.CPUs) <= s.shown
}

// heldAt returns the place of a run among those of a vnode, or -1.
func heldAt(v *state.Vnode, j *state.Job) int {
	return slices.IndexFunc(v.Jobs, func(h state.VnodeJob) bool { return h.Of(j) })
}

// putShare makes what a run has of a vnode, if it is there, the share; nil for nothing.
func putShare(tx *state.Tx, j *state.Job, name pbs.VnodeName, s *keptShare) error {
	v, ok := tx.Vnode(name)
	if !ok {
		return nil
	}
	at := heldAt(v, j)
	if at < 0 {
		return nil
	}
	if s == nil {
		vacated(tx, v, at)
		return nil
	}
	held := v.Jobs[at]
	held.Items, held.Slots = s.items, slices.Clone(s.slots)
	held.CPUs = held.CPUs[:min(len(held.CPUs), s.shown)]
	next, err := v.Exchange(at, held, tx)
	if err != nil {
		return err
	}
	tx.PutSettled(next)
	return nil
}
