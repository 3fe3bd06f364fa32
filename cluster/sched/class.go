package sched

import (
	"math"
	"slices"
	"strconv"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
)

// A key is what makes the requests of two jobs the same.
type key struct {
	sel, place string
	queue      pbs.QueueName // empty: it has no vnodes of its own
	partition  string
	thresholds string          // lsf_thresholds of its queue
	hosts      *lsf.HostChoice // lsf_hosts of its queue; nil: it has all
	groups     string          // keys that group vnodes, if the jobs name none
	user       string          // where vnodes bound the jobs of each; else empty
	group      string
	more       string // state.Class.More
	slots      string // the limits on slots that its jobs count for
}

// A class is the parsed request of all jobs with one key.
type class struct {
	// Fields that each cycle reads of each class come first.
	stuck  uint64                     // the last cycle in which it fitted nowhere
	late   uint64                     // the last cycle in which it fitted but for what others are to have
	lines  int                        // that its jobs had in the last cycle that counted them
	floor  [len(usualResources)]int64 // what a host has at least that takes part in a start: class.least
	plain  bool                       // that is all of it
	chunks []chunk
	sums   []need // over all chunks, by name
	bad    string // the request cannot be understood
	fit    struct {
		age  uint64 // Planner.idleAge at which it was tried on idle vnodes
		host int
		set  string // the placement set in which it fits
		ok   bool
	}
	place  spec.Place
	groups groups // that make its placement sets

	key    key
	where  *where    // what hosts are asked for beside the chunks; nil: nothing
	by     *ordering // of its hosts; nil: as the world has them
	choice []*class  // its other alternatives, in the order in which they are tried
	rising bool      // these are for ever more slots: the last for which there is room is the best
	bounds *bounds   // of the slots of its jobs; nil: none

	several bool            // the job asks for more than one chunk
	unit    bool            // its jobs have the placement set that they are in to themselves
	units   *lsf.UnitLayout // how they may be over several placement sets; nil: they may not
	agree   map[int]groups  // by term: the sets of which its chunks are in one; nil: of none

	spans   bool   // it may span placement sets
	spanAge uint64 // Planner.idleAge at which that was found out

	cycle uint64 // in which it was asked for last

	timed    bool    // it is known how long its jobs run
	shortest lengths // each of them at least
}

// A chunk is wanted count times.
type chunk struct {
	count int
	needs []need       // consumed, in the order written
	props []prop       // properties that the vnode must have
	where *where       // that its host is asked for; nil: nothing
	by    *ordering    // of the hosts of its term; nil: that of the class
	full  *resreq.Span // each host but the last has as many chunks as this says; nil: as many as there is room for
	host  string       // host=, empty for any
	vnode pbs.VnodeName

	term    int    // of the requirement that it is of
	scatter bool   // no two chunks of the term are on one host
	lasting bool   // a host gives only to the first chunk of the term what is not in again
	again   []need // what each other chunk of the term needs that is on the host
	perJob  []need // of the needs, what an instance gives to the first chunk of the term only, on whichever of its hosts
}

// A need is an amount of a consumable resource.
type need struct {
	def    resource.Def
	amount int64
}

// A prop is a property that a vnode must have.
type prop struct {
	def  resource.Def
	want resource.Quantity
}

// layout are resources of a chunk that say how its program is started; no vnode
// offers them.
var layout = [...]string{"mpiprocs", "ompthreads"}

func newClass(k key, t resource.Table, h considered, rest bool, asks asked) *class {
	c, layout := &class{key: k, where: asks.where, by: asks.by}, asks.layout
	sel, err := spec.ParseSelect(k.sel)
	if err != nil {
		c.bad = err.Error()
		return c
	}
	if k.place != "" {
		if c.place, err = spec.ParsePlace(k.place); err != nil {
			c.bad = err.Error()
			return c
		}
	}
	if c.bad = c.grouped(layout, t); c.bad != "" {
		return c
	}
	if !c.groups.own && k.groups != "" {
		c.groups = groups{keys: k.groups, defs: keysOf(k.groups, t), rest: rest}
	}
	c.unit = layout.Unit && c.groups.own
	for i, written := range sel.Chunks {
		ch, err := newChunk(written, t, h)
		if err != nil {
			c.bad = err.Error()
			return c
		}
		if n := len(layout.Kinds); n == len(sel.Chunks) || n > len(sel.Chunks) && asks.rising { // with one size there is something left over, with another there is not
			ch.stands(layout.Kinds[i])
			if c.bad = c.agreeing(layout.Kinds[i], t); c.bad != "" {
				return c
			}
		}
		of := asks.of(ch.term)
		ch.where, ch.by = of.where, of.by
		for k, ch := range onlyFirst(ch, len(c.chunks) == 0) {
			c.chunks = append(c.chunks, ch)
			if k > 0 && ch.lasting {
				ch.needs = ch.again // the host of the first one may have all of them
			}
			c.add(ch)
		}
	}
	slices.SortFunc(c.sums, func(a, b need) int {
		if a.def.Name < b.def.Name {
			return -1
		}
		return 1
	})
	c.several = c.total() > 1
	c.floor, c.plain = floorOf(c.least())
	return c
}

// floorOf returns needs of the usual resources, false if there are others.
func floorOf(needs []need) (floor [len(usualResources)]int64, plain bool) {
	for k := range floor {
		floor[k] = math.MinInt64 // any host has as much
	}
	for _, n := range needs {
		k := slices.Index(usualResources[:], n.def.Name)
		if k < 0 {
			return floor, false
		}
		floor[k] = n.amount
	}
	return floor, true
}

func newChunk(written spec.Chunk, t resource.Table, h considered) (chunk, error) {
	ch := chunk{count: written.Count}
	for _, item := range written.Items {
		def, ok := t.Resource(item.Name)
		if !ok {
			return ch, pbs.Errorf(pbs.UnknownResource, "Unknown resource: %s", item.Name)
		}
		q, err := def.Parse(item.Value)
		if err != nil {
			return ch, err
		}
		switch {
		case item.Name == "host":
			ch.host = item.Value
		case item.Name == "vnode":
			ch.vnode = pbs.VnodeName(item.Value)
		case slices.Contains(layout[:], item.Name), !h.has(def):
		case def.AtVnodes():
			ch.needs = append(ch.needs, need{def, measure(def, q, up)})
		default:
			ch.props = append(ch.props, prop{def, q})
		}
	}
	return ch, nil
}

// stands notes how the chunks of a kind stand on hosts.
func (ch *chunk) stands(l lsf.KindLayout) {
	ch.term, ch.scatter = l.Term, l.Scatter
	if l.Full {
		ch.full = &resreq.Span{Full: true, Of: l.Of}
	}
	if len(l.Once)+len(l.Job) > 0 {
		ch.lasting = true
		perJob := func(n need) bool { return slices.Contains(l.Job, n.def.Name) }
		ch.again = slices.DeleteFunc(slices.Clone(ch.needs), func(n need) bool { return slices.Contains(l.Once, n.def.Name) || perJob(n) })
		ch.perJob = slices.DeleteFunc(slices.Clone(ch.needs), func(n need) bool { return !perJob(n) })
	}
}

// onlyFirst takes what is consumed at the first host only (flag f) from all chunks but the
// very first.
func onlyFirst(ch chunk, first bool) []chunk {
	rest := ch
	further := func(n need) bool { return n.def.Flags&resource.FirstHost != 0 }
	rest.needs, rest.again = slices.DeleteFunc(slices.Clone(ch.needs), further), slices.DeleteFunc(slices.Clone(ch.again), further)
	switch {
	case len(rest.needs) == len(ch.needs), first && ch.count == 1:
		return []chunk{ch}
	case !first:
		return []chunk{rest}
	}
	ch.count, rest.count = 1, ch.count-1
	return []chunk{ch, rest}
}

// add counts a chunk into the sums: of what a host gives once as if all were on one.
func (c *class) add(ch chunk) {
	for _, n := range ch.needs {
		amount := times(n.amount, ch.count)
		if ch.once(n.def.Name) {
			amount = n.amount
		}
		i := slices.IndexFunc(c.sums, func(s need) bool { return s.def.Name == n.def.Name })
		if i < 0 {
			c.sums = append(c.sums, need{n.def, amount})
			continue
		}
		c.sums[i].amount = plus(c.sums[i].amount, amount)
	}
}

// once reports whether a host, or an instance, gives a resource to the first chunk of the kind only.
func (ch *chunk) once(name string) bool {
	return ch.lasting && !slices.ContainsFunc(ch.again, func(n need) bool { return n.def.Name == name })
}

// total returns the number of chunks.
func (c *class) total() int {
	n := 0
	for _, ch := range c.chunks {
		n += ch.count
	}
	return n
}

// alone returns the class of one of its chunks, once.
func (c *class) alone(ch chunk) *class {
	ch.count = 1
	one := &class{key: c.key, where: c.where, by: c.by, bounds: c.bounds, chunks: []chunk{ch}, place: spec.Place{Sharing: c.place.Sharing}, several: c.several}
	one.add(ch)
	return one
}

// Amounts are whole numbers: of a size kilobytes, of a float millionths.
const millionths = 1_000_000

type rounding bool

const (
	down rounding = false // what is offered
	up   rounding = true  // what is asked for
)

// measure returns the amount of a consumable resource.
func measure(def resource.Def, q resource.Quantity, r rounding) int64 {
	switch def.Type {
	case resource.Float:
		f, _ := strconv.ParseFloat(q.String(), 64)
		if f *= millionths; r == up {
			f = math.Ceil(f)
		}
		return int64(max(math.MinInt64/2, min(math.MaxInt64/2, f)))
	case resource.Size:
		kb := q.Int()
		if r == down && q.Cmp(resource.Kilobytes(kb)) < 0 {
			kb--
		}
		return kb
	default:
		return q.Int()
	}
}

// text returns an amount as exec_vnode and comments have it.
func text(def resource.Def, amount int64) string {
	switch def.Type {
	case resource.Float:
		return strconv.FormatFloat(float64(amount)/millionths, 'f', -1, 64)
	case resource.Size:
		return resource.Kilobytes(amount).String()
	case resource.Time:
		return resource.Seconds(amount).String()
	default:
		return resource.Count(amount).String()
	}
}

// times and plus saturate: a request beyond all bounds fits nowhere.
func times(a int64, n int) int64 {
	if a > 0 && n > 0 && a > math.MaxInt64/4/int64(n) {
		return math.MaxInt64 / 4
	}
	return a * int64(n)
}

func plus(a, b int64) int64 { return min(a+b, math.MaxInt64/4) }
