package alloc

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// Unpruned is why an assignment cannot be pruned to a select.
type Unpruned struct {
	Chunk     resource.List  // that nothing was left for
	First     bool           // it is the first one, which only the job's first chunk may satisfy
	Keep      string         // the select
	Available spec.ExecVnode // what there was
	Next      resource.List  // sums of the first of it that was not taken
}

// Error returns what is told to whoever asked.
func (u *Unpruned) Error() string { return "the hosts that are left do not satisfy " + u.Keep }

// Lines returns what the log says of it, and apart from it a detail for a finer level (specification:
// reliable-startup section 13).
func (u *Unpruned) Lines(t resource.Table) (lines []string, detail string) {
	wish := Unsatisfied{Chunk: u.Chunk, Wish: Wish{Text: u.Keep}, Have: u.Available.String()}
	all := wish.Lines(t)
	lines = append(all[:1:1], all[len(all)-2:]...) // resources besides the six are told in the detail
	detail = "could not satisfy the original select chunk ("
	if u.First {
		detail = "could not satisfy 1st select chunk ("
	}
	return lines, detail + plain(u.Chunk) + ") with first available chunk (" + plain(u.Next) + ")"
}

func plain(items resource.List) string {
	words := make([]string, len(items))
	for i, it := range items {
		words[i] = it.Name + "=" + it.Value
	}
	return strings.Join(words, " ")
}

// Prune cuts the assignment of a job that is being started down to a select, with the chunks
// of hosts for which good is true (specification: reliable-startup section 8). The first
// chunk is kept whatever good says of it. The entries of exec_host are those of before, for
// the caller to number anew. It refuses with Unpruned.
func Prune(g Grant, keep spec.Select, good func(host string) bool, t resource.Table) (Split, error) {
	a, err := g.open()
	if err != nil {
		return Split{}, err
	}
	all, err := candidates(a.Assignment, good, t)
	if err != nil {
		return Split{}, err
	}
	compared := inExecVnode(a.ExecVnode)
	for _, name := range leading {
		compared[name] = true
	}
	kept := make([]taken, 0, keep.Total())
	var n need
	low, from := 0, 0 // no candidate before low is free, and none before from does what is needed
	wants := expand(keep).Chunks
	for i, c := range wants {
		if i == 0 || !c.Alike(wants[i-1]) {
			if n, err = newNeed(c.Items, compared, t); err != nil {
				return Split{}, err
			}
			from = low
		}
		at := slices.IndexFunc(all[from:], func(c candidate) bool { return !c.used && n.metBy(c.sums) })
		if at < 0 || i == 0 && at > 0 {
			return Split{}, unpruned(a.Assignment, all, c.Items, i == 0, keep, t)
		}
		got := &all[from+at]
		got.used, from = true, from+at+1
		for low < len(all) && all[low].used {
			low++
		}
		cut, err := n.cut(a.ExecVnode[got.index], got.sums, t)
		if err != nil {
			return Split{}, err
		}
		kept = append(kept, taken{got.index, cut})
	}
	left, released := divided(a.Assignment, kept)
	to, err := a.fulfilling(left, keep, t)
	return Split{to, released}, err
}

// A candidate is a chunk on a good host.
type candidate struct {
	index int
	used  bool
	sums  *sums
}

// sums are what a chunk has in all. Chunks that follow each other and have the same share
// them.
type sums struct {
	of         map[string]resource.Quantity
	ncpus, mem resource.Quantity
}

// candidates returns the chunks that may be taken, the job's first one in front.
func candidates(a Assignment, good func(host string) bool, t resource.Table) ([]candidate, error) {
	var all []candidate
	for i, c := range a.ExecVnode {
		if i > 0 && !good(a.ExecHost[i].Host) {
			continue
		}
		if n := len(all); n > 0 && alike(c, a.ExecVnode[all[n-1].index]) {
			all = append(all, candidate{index: i, sums: all[n-1].sums})
			continue
		}
		items, err := summed(c, t)
		if err != nil {
			return nil, err
		}
		one := &sums{of: make(map[string]resource.Quantity, len(items))}
		for _, it := range items {
			if one.of[it.Name], err = parse(it, t); err != nil {
				return nil, err
			}
		}
		one.ncpus, one.mem = one.of["ncpus"], one.of["mem"]
		all = append(all, candidate{index: i, sums: one})
	}
	if len(all) > 1 {
		slices.SortStableFunc(all[1:], func(x, y candidate) int {
			if x.sums == y.sums {
				return 0
			}
			return cmp.Or(x.sums.ncpus.Cmp(y.sums.ncpus), x.sums.mem.Cmp(y.sums.mem))
		})
	}
	return all, nil
}

// A need is the amounts that a requested chunk wants of what vnodes are charged with, and what
// was found about the sums that were looked at last.
type need struct {
	amounts map[string]resource.Quantity

	seen *sums
	met  bool
	done *sums
	made cut
}

func newNeed(items resource.List, compared map[string]bool, t resource.Table) (need, error) {
	n := need{amounts: map[string]resource.Quantity{}}
	for _, it := range items {
		q, err := parse(it, t)
		if err != nil {
			return need{}, err
		}
		if def, _ := t.Resource(it.Name); compared[it.Name] && def.Consumable() && !q.IsZero() {
			n.amounts[it.Name] = q
		}
	}
	return n, nil
}

func (n *need) metBy(s *sums) bool {
	if n.seen == s {
		return n.met
	}
	n.seen, n.met = s, true
	for name, q := range n.amounts {
		if have, ok := s.of[name]; !ok || have.Cmp(q) < 0 {
			n.met = false
		}
	}
	return n.met
}

// cut keeps of a chunk, vnode by vnode from the left, what is wanted; what is not wanted is
// dropped, and a vnode that contributes nothing. Something of a chunk is always kept: its
// first vnode, with nothing of it.
func (n *need) cut(c spec.ExecChunk, s *sums, t resource.Table) (cut, error) {
	if n.done == s {
		return n.made, nil
	}
	open, kept := maps.Clone(n.amounts), map[int]resource.List{}
	for i, p := range c.Parts {
		items, err := cutDown(p.Items, open, t)
		if err != nil {
			return nil, err
		}
		if len(items) > 0 {
			kept[i] = items
		}
	}
	if len(kept) == 0 {
		kept[0] = nil
	}
	made, err := newCut(c, kept, t)
	if err == nil {
		n.done, n.made = s, made
	}
	return made, err
}

// cutDown takes what is open of one vnode, and lowers open by it.
func cutDown(have resource.List, open map[string]resource.Quantity, t resource.Table) (kept resource.List, err error) {
	for _, it := range have {
		wanted, named := open[it.Name]
		if !named {
			continue
		}
		q, err := parse(it, t)
		if err != nil {
			return nil, err
		}
		if q.IsZero() {
			continue
		}
		if q.Cmp(wanted) > 0 {
			kept = append(kept, resource.Item{Name: it.Name, Value: wanted.InKB().String()})
			delete(open, it.Name)
			continue
		}
		kept = append(kept, it)
		left, err := wanted.Sub(q)
		if err != nil {
			return nil, err
		}
		if open[it.Name] = left; left.IsZero() {
			delete(open, it.Name)
		}
	}
	return kept, nil
}

func unpruned(a Assignment, all []candidate, chunk resource.List, first bool, keep spec.Select, t resource.Table) error {
	u := &Unpruned{Chunk: chunk, First: first, Keep: keep.String()}
	next := false
	for _, c := range all {
		u.Available = append(u.Available, a.ExecVnode[c.index])
		if c.used || next {
			continue
		}
		next = true
		if items, err := summed(a.ExecVnode[c.index], t); err == nil {
			u.Next = items
		}
	}
	return u
}
