package alloc

import (
	"cmp"
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

// Lines are what the log says of it: the last one is of a finer kind (specification:
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
func Prune(a Assignment, keep spec.Select, good func(host string) bool, t resource.Table) (Split, error) {
	all, err := candidates(a, good, t)
	if err != nil {
		return Split{}, err
	}
	compared := inExecVnode(a.ExecVnode)
	for _, name := range leading {
		compared[name] = true
	}
	var taken []int
	parts := map[int]spec.ExecChunk{}
	free := all
	for n, c := range expand(keep).Chunks {
		want, err := needs(c.Items, compared, t)
		if err != nil {
			return Split{}, err
		}
		at := slices.IndexFunc(free, func(c *candidate) bool { return !c.used && c.has(want) })
		if at < 0 || n == 0 && at > 0 {
			return Split{}, unpruned(a, all, c.Items, n == 0, keep, t)
		}
		got := free[at]
		got.used = true
		for len(free) > 0 && free[0].used { // the usual case of alike chunks stays linear
			free = free[1:]
		}
		cut, err := cutDown(a.ExecVnode[got.index], want, t)
		if err != nil {
			return Split{}, err
		}
		taken, parts[got.index] = append(taken, got.index), cut
	}
	return pruned(a, keep, taken, parts, t)
}

// pruned writes down what is kept. Unlike a release it may cut all that is left of a vnode.
func pruned(a Assignment, keep spec.Select, taken []int, parts map[int]spec.ExecChunk, t resource.Table) (Split, error) {
	s := Split{Kept: Assignment{Select: keep}}
	for _, i := range taken {
		s.Kept.ExecVnode = append(s.Kept.ExecVnode, parts[i])
		s.Kept.ExecHost = append(s.Kept.ExecHost, a.ExecHost[i])
	}
	for i, before := range a.ExecVnode {
		gone, err := rest(before, parts[i], t)
		if err != nil {
			return Split{}, err
		}
		if len(gone.Parts) > 0 {
			s.Released = append(s.Released, Placed{a.ExecHost[i].Host, gone})
		}
	}
	kept, err := withRequest(a, s.Kept, keep, t)
	s.Kept = kept
	return s, err
}

// A candidate is a chunk on a good host.
type candidate struct {
	index int
	used  bool
	sums  map[string]resource.Quantity
}

// candidates returns the chunks that may be taken, the job's first one in front.
func candidates(a Assignment, good func(host string) bool, t resource.Table) ([]*candidate, error) {
	var all []*candidate
	for i, c := range a.ExecVnode {
		if i > 0 && !good(a.ExecHost[i].Host) {
			continue
		}
		items, err := summed(c, t)
		if err != nil {
			return nil, err
		}
		one := &candidate{index: i, sums: make(map[string]resource.Quantity, len(items))}
		for _, it := range items {
			if one.sums[it.Name], err = parse(it, t); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	if len(all) > 1 {
		slices.SortStableFunc(all[1:], func(x, y *candidate) int {
			return cmp.Or(x.sums["ncpus"].Cmp(y.sums["ncpus"]), x.sums["mem"].Cmp(y.sums["mem"]))
		})
	}
	return all, nil
}

// needs returns the amounts that a requested chunk wants of what vnodes are charged with.
func needs(items resource.List, compared map[string]bool, t resource.Table) (map[string]resource.Quantity, error) {
	want := map[string]resource.Quantity{}
	for _, it := range items {
		q, err := parse(it, t)
		if err != nil {
			return nil, err
		}
		if def, _ := t.Resource(it.Name); compared[it.Name] && def.Consumable() && !q.IsZero() {
			want[it.Name] = q
		}
	}
	return want, nil
}

func (c *candidate) has(want map[string]resource.Quantity) bool {
	for name, q := range want {
		if have, ok := c.sums[name]; !ok || have.Cmp(q) < 0 {
			return false
		}
	}
	return true
}

// cutDown keeps of a chunk, vnode by vnode from the left, what is wanted; what is not wanted
// is dropped, and a vnode that contributes nothing. Something of a chunk is always kept: its
// first vnode, with nothing of it.
func cutDown(c spec.ExecChunk, want map[string]resource.Quantity, t resource.Table) (spec.ExecChunk, error) {
	need := make(map[string]resource.Quantity, len(want))
	for name, q := range want {
		need[name] = q
	}
	var kept spec.ExecChunk
	for _, p := range c.Parts {
		var items resource.List
		for _, it := range p.Items {
			wanted, open := need[it.Name]
			if !open {
				continue
			}
			q, err := parse(it, t)
			if err != nil {
				return spec.ExecChunk{}, err
			}
			if q.IsZero() {
				continue
			}
			if q.Cmp(wanted) > 0 {
				items = append(items, resource.Item{Name: it.Name, Value: wanted.InKB().String()})
				delete(need, it.Name)
				continue
			}
			items = append(items, it)
			left, err := wanted.Sub(q)
			if err != nil {
				return spec.ExecChunk{}, err
			}
			if need[it.Name] = left; left.IsZero() {
				delete(need, it.Name)
			}
		}
		if len(items) > 0 {
			kept.Parts = append(kept.Parts, spec.ExecPart{Vnode: p.Vnode, Items: items})
		}
	}
	if len(kept.Parts) == 0 {
		kept.Parts = []spec.ExecPart{{Vnode: c.Parts[0].Vnode}}
	}
	return kept, nil
}

func unpruned(a Assignment, all []*candidate, chunk resource.List, first bool, keep spec.Select, t resource.Table) error {
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
