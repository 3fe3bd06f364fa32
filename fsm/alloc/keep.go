package alloc

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// maxKept bounds a number of chunks that are to stay, like the languages do.
const maxKept = 1 << 17

// A Wish says what is to stay besides the primary execution host.
type Wish struct {
	Chunks []spec.Chunk // each with Count 1, in the order in which they are satisfied
	Text   string       // of the select, for messages
}

// ParseWish reads the value of -k: "select=SPEC" or a number of chunks. It refuses with the
// texts of rows 7, 8 and 14 of the table of errors.
func ParseWish(text string, t resource.Table) (Wish, error) {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil && n > 0 {
		if n > maxKept {
			return Wish{}, illegal("")
		}
		w := Wish{Chunks: make([]spec.Chunk, n), Text: text}
		for i := range w.Chunks {
			w.Chunks[i].Count = 1
		}
		return w, nil
	}
	value, ok := strings.CutPrefix(text, "select=")
	if !ok {
		return Wish{}, pbs.Errorf(pbs.InvalidRequest, `only a "select=" string is valid in -k option`)
	}
	sel, err := spec.ParseSelect(value)
	if err != nil {
		if pbs.CodeOf(err) == pbs.DuplicateResource {
			return Wish{}, illegal(err.Error())
		}
		return Wish{}, illegal("")
	}
	for i, c := range sel.Chunks {
		items := slices.Clone(c.Items)
		for j, it := range items {
			if _, known := t.Resource(it.Name); !known {
				return Wish{}, pbs.Errorf(pbs.UnknownResource, "Unknown resource: %s", it.Name)
			}
			q, err := parse(it, t)
			if err != nil {
				return Wish{}, illegal("illegal value for " + it.Name)
			}
			items[j].Value = q.String()
		}
		sel.Chunks[i].Items = items
	}
	return Wish{Chunks: expand(sel).Chunks, Text: value}, nil
}

func illegal(why string) error {
	text := "illegal -k value"
	if why != "" {
		text += ": " + why
	}
	return pbs.Errorf(pbs.BadSelect, "%s", text)
}

// Unsatisfied is why a wish cannot be granted.
type Unsatisfied struct {
	Chunk resource.List // that nothing was left for
	Wish  Wish
	Have  string // exec_vnode of what there was, the primary execution host included
}

// Error returns what the user reads.
func (u *Unsatisfied) Error() string { return "Server returned error 15010 for job" }

// Unwrap makes it the refusal of row 19.
func (u *Unsatisfied) Unwrap() error { return pbs.Errorf(pbs.SystemError, "%s", u.Error()) }

// Lines are what the server log says of it.
func (u *Unsatisfied) Lines(t resource.Table) []string {
	amount := func(name string) int64 {
		for _, it := range u.Chunk {
			if q, err := parse(it, t); err == nil && it.Name == name {
				return q.Int()
			}
		}
		return 0
	}
	first := "could not satisfy select chunk (ncpus=" + strconv.FormatInt(amount("ncpus"), 10) +
		" ssi=" + strconv.FormatInt(amount("ssinodes"), 10) + " mem=" + strconv.FormatInt(amount("mem"), 10) +
		" vmem=" + strconv.FormatInt(amount("vmem"), 10) + " naccels=" + strconv.FormatInt(amount("naccelerators"), 10) +
		" accel_mem=" + strconv.FormatInt(amount("accelerator_memory"), 10) + ")"
	lines := []string{first}
	for _, it := range u.Chunk {
		if !slices.Contains(leading[:], it.Name) {
			lines = append(lines, "("+it.Name+"="+it.Value+")")
		}
	}
	return append(lines, "NEED chunks for keep_select ("+u.Wish.Text+")", "HAVE chunks from job's exec_vnode: "+u.Have)
}

// Keep keeps the primary execution host and of the other chunks only what the wish names
// (specification: ramp-down section 6). Vnodes for which failed is true (it may be nil) can
// satisfy nothing. It refuses with Unsatisfied.
func Keep(a Assignment, w Wish, failed func(pbs.VnodeName) bool, t resource.Table) (Split, error) {
	chunks, err := available(a, failed, t)
	if err != nil {
		return Split{}, err
	}
	taken := make([]int, 0, len(w.Chunks)) // chunks of a, in the order of the wish
	parts := map[int]spec.ExecChunk{}
	whole := true
	for i := range a.ExecVnode {
		if a.Primary(i) {
			taken, parts[i] = append(taken, i), a.ExecVnode[i]
		}
	}
	from := 0
	for n, wanted := range w.Chunks {
		want := wanted.Items
		if n == 0 || !slices.Equal(want, w.Chunks[n-1].Items) {
			from = 0 // else what was passed over would be passed over again
		}
		at := slices.IndexFunc(chunks[from:], func(c *chunk) bool { return !c.used && c.satisfies(want, t) })
		if at < 0 {
			return Split{}, &Unsatisfied{Chunk: want, Wish: w, Have: a.ExecVnode.String()}
		}
		c := chunks[from+at]
		c.used, from = true, from+at+1
		cut, all, err := cutChunk(a.ExecVnode[c.index], want, t)
		if err != nil {
			return Split{}, err
		}
		taken, parts[c.index], whole = append(taken, c.index), cut, whole && all
	}
	if whole && len(taken) == len(a.ExecVnode) {
		return Split{Kept: a}, nil
	}
	return split(a, taken, parts, t)
}

// split writes down which chunks stay, in the order of taken, and with which parts.
func split(a Assignment, taken []int, parts map[int]spec.ExecChunk, t resource.Table) (Split, error) {
	var s Split
	for _, i := range taken {
		s.Kept.ExecVnode = append(s.Kept.ExecVnode, parts[i])
		s.Kept.ExecHost = append(s.Kept.ExecHost, a.ExecHost[i])
		s.Kept.Select.Chunks = append(s.Kept.Select.Chunks, a.Select.Chunks[i])
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
	grouped := group(s.Kept.Select)
	kept, err := withRequest(a, s.Kept, grouped, t)
	kept.Select = grouped
	s.Kept = kept
	return s, err
}

// cutChunk keeps the parts of a chunk from the left until what is wanted of each named
// consumable is reached, and cuts the last value. It reports whether all of it stays.
func cutChunk(c spec.ExecChunk, want resource.List, t resource.Table) (kept spec.ExecChunk, all bool, err error) {
	need := map[string]resource.Quantity{}
	for _, it := range want {
		def, _ := t.Resource(it.Name)
		if !def.AtVnodes() {
			continue
		}
		if need[it.Name], err = def.Parse(it.Value); err != nil {
			return spec.ExecChunk{}, false, err
		}
	}
	if len(need) == 0 {
		return c, true, nil
	}
	all = true
	for _, p := range c.Parts {
		items, needed, same, err := cutPart(p.Items, need, t)
		if err != nil {
			return spec.ExecChunk{}, false, err
		}
		if needed {
			kept.Parts = append(kept.Parts, spec.ExecPart{Vnode: p.Vnode, Items: items})
		}
		all = all && needed && same
	}
	if len(kept.Parts) == 0 { // nothing but zeros was wanted
		return c, true, nil
	}
	return kept, all, nil
}

// cutPart takes what is needed of one vnode, and lowers need by it.
func cutPart(have resource.List, need map[string]resource.Quantity, t resource.Table) (kept resource.List, needed, same bool, err error) {
	same = true
	for _, it := range have {
		wanted, named := need[it.Name]
		if !named {
			kept = append(kept, it)
			continue
		}
		q, err := parse(it, t)
		if err != nil {
			return nil, false, false, err
		}
		if q.Cmp(wanted) <= 0 {
			if need[it.Name], err = wanted.Sub(q); err != nil {
				return nil, false, false, err
			}
			kept, needed = append(kept, it), needed || !q.IsZero()
			continue
		}
		same = false
		if !wanted.IsZero() {
			needed = true
			kept = append(kept, resource.Item{Name: it.Name, Value: wanted.InKB().String()})
			if need[it.Name], err = wanted.Sub(wanted); err != nil {
				return nil, false, false, err
			}
		}
	}
	return kept, needed, same, nil
}

// rest is what is left of a chunk without what is kept of it. The kept parts are some of its
// own, in their order.
func rest(before, kept spec.ExecChunk, t resource.Table) (gone spec.ExecChunk, err error) {
	next := 0
	for _, p := range before.Parts {
		if next == len(kept.Parts) || kept.Parts[next].Vnode != p.Vnode {
			gone.Parts = append(gone.Parts, p)
			continue
		}
		left, err := restItems(p.Items, kept.Parts[next].Items, t)
		if err != nil {
			return spec.ExecChunk{}, err
		}
		if len(left) > 0 {
			gone.Parts = append(gone.Parts, spec.ExecPart{Vnode: p.Vnode, Items: left})
		}
		next++
	}
	return gone, nil
}

func restItems(before, kept resource.List, t resource.Table) (left resource.List, err error) {
	for _, it := range before {
		stays, ok := kept.Get(it.Name)
		switch {
		case !ok:
			left = append(left, it)
		case stays != it.Value:
			q, err := parse(it, t)
			if err != nil {
				return nil, err
			}
			k, err := parse(resource.Item{Name: it.Name, Value: stays}, t)
			if err != nil {
				return nil, err
			}
			if q.Type().Numeric() {
				if q, err = q.Sub(k); err != nil {
					return nil, err
				}
				if !q.IsZero() {
					left = append(left, resource.Item{Name: it.Name, Value: q.InKB().String()})
				}
			}
		}
	}
	return left, nil
}

// leading are the resources that are compared first, in this order.
var leading = [...]string{"ncpus", "ssinodes", "mem", "vmem", "naccelerators", "accelerator_memory"}

// A chunk is one that may be kept.
type chunk struct {
	index   int
	used    bool
	entries int
	has     [len(leading)]bool
	sums    map[string]resource.Quantity
	names   []string // of the others, by name
}

// available returns the chunks besides those of the primary execution host, the smallest
// first.
func available(a Assignment, failed func(pbs.VnodeName) bool, t resource.Table) ([]*chunk, error) {
	placed := inExecVnode(a.ExecVnode)
	var all []*chunk
	for i, c := range a.ExecVnode {
		if a.Primary(i) || failed != nil && slices.ContainsFunc(c.Parts, func(p spec.ExecPart) bool { return failed(p.Vnode) }) {
			continue
		}
		one, err := weigh(i, c, a.Select.Chunks[i].Items, placed, t)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(x, y *chunk) int { return cmp.Or(x.compare(y), cmp.Compare(y.index, x.index)) })
	return all, nil
}

func weigh(index int, c spec.ExecChunk, request resource.List, placed map[string]bool, t resource.Table) (*chunk, error) {
	items, err := derive(c, request, placed, t)
	if err != nil {
		return nil, err
	}
	one := &chunk{index: index, sums: make(map[string]resource.Quantity, len(items))}
	times := map[string]int{}
	for _, p := range c.Parts {
		for _, it := range p.Items {
			times[it.Name]++
		}
	}
	for _, it := range items {
		q, err := parse(it, t)
		if err != nil {
			return nil, err
		}
		one.sums[it.Name] = q
		if i := slices.Index(leading[:], it.Name); i >= 0 {
			if one.has[i] = !q.IsZero(); one.has[i] {
				one.entries++
			}
			continue
		}
		one.entries += max(times[it.Name], 1)
		one.names = append(one.names, it.Name)
	}
	slices.Sort(one.names)
	return one, nil
}

func (c *chunk) compare(o *chunk) int {
	if by := cmp.Compare(c.entries, o.entries); by != 0 {
		return by
	}
	for i := range leading {
		if c.has[i] != o.has[i] {
			if o.has[i] {
				return -1
			}
			return 1
		}
	}
	if by := slices.Compare(c.names, o.names); by != 0 {
		return by
	}
	for i, name := range leading {
		if c.has[i] {
			if by := c.sums[name].Cmp(o.sums[name]); by != 0 {
				return by
			}
		}
	}
	for _, name := range c.names {
		if by := c.sums[name].Cmp(o.sums[name]); by != 0 {
			return by
		}
	}
	return 0
}

// satisfies tells whether the chunk has what is wanted: numbers at least as large, others
// equal.
func (c *chunk) satisfies(want resource.List, t resource.Table) bool {
	for _, it := range want {
		def, _ := t.Resource(it.Name)
		q, err := def.Parse(it.Value)
		if err != nil {
			return false
		}
		have, ok := c.sums[it.Name]
		if !ok && def.Type.Numeric() && q.IsZero() {
			continue
		}
		if !resource.Matches(def, q, have.String(), ok) {
			return false
		}
	}
	return true
}
