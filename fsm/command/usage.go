package command

import (
	"slices"
	"strings"

	"rampart/fsm/alloc"
	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// ofUsage reports whether a change may be a part of one of what a running job reserves.
func ofUsage(tx *state.Tx, e attr.Entry) bool {
	if e.Name != "Resource_List" {
		return strings.HasPrefix(e.Name, "lsf_")
	}
	def, known := tx.Resource(e.Resource)
	return e.Resource == "select" || known && def.Consumable() && !def.AtHost()
}

// reserveAnew has a run reserve other amounts from now on: those of the job's new select and of its other resources, where the run is
// (specification: reservation section 2.9). It refuses what the select says else, and what cannot be held.
func reserveAnew(tx *state.Tx, old, j *state.Job) error {
	q, ok := tx.Queue(j.Queue)
	if !ok {
		return pbs.Refuse(pbs.UnknownQueue)
	}
	if err := mayRelease(tx, old); err != nil {
		return err
	}
	if old.Run.Phases != nil {
		return pbs.Errorf(pbs.BadState, "%s has given vnodes back: what it reserves of the others stays", j.ID)
	}
	if err := parseResources(tx, j); err != nil {
		return err
	}
	if err := walltimes(j); err != nil {
		return err
	}
	kinds, err := reservingKinds(tx, old, j)
	if err != nil {
		return err
	}
	err = withinBounds(tx, q, j, func(res string) bool {
		had, _ := old.Resources.Get(res)
		now, _ := j.Resources.Get(res)
		return had != now
	})
	if err != nil {
		return err
	}
	if err := withinReservations(tx, q, j); err != nil {
		return err
	}
	w, reached := beyondLimits(tx, old, j, tx.RunLimits(j), true)
	if !reached {
		w, reached = beyondLimits(tx, old, j, tx.QueueLimits(j), false)
	}
	if reached {
		return pbs.Errorf(pbs.ResourceBusy, "%s", strings.TrimSuffix(lsf.ReasonOf(w.Text()), ";"))
	}
	return (&reserver{tx: tx, old: old, job: j, taken: map[pool]int64{}}).hold(kinds)
}

// beyondLimits compares what a job asks for beyond what it did with limits on resources.
func beyondLimits(tx *state.Tx, old, j *state.Job, limits []state.Limit, running bool) (state.Wait, bool) {
	for _, l := range limits {
		if l.Resource == "" {
			continue
		}
		def, _ := tx.Resource(l.Resource)
		before, _ := old.Resources.Get(l.Resource)
		l.Need -= def.Measure(before)
		if w, reached := tx.Reached([]state.Limit{l}, running, j.Weight(), nil); reached {
			return w, true
		}
	}
	return state.Wait{}, false
}

// A reservingKind is what the chunks of one kind reserve of their hosts.
type reservingKind struct {
	count    int
	was, now resource.List
	term     int
	once     []string // that a host gives to the first of them only
	perJob   []string // that an instance gives to the first one of the term only
}

// reservingKinds compares the select of a job with the one that it runs with, and gives it the schedselect and the sums of the new one.
// The two differ in amounts only.
func reservingKinds(tx *state.Tx, old, j *state.Job) ([]reservingKind, error) {
	differs := pbs.Attribute(pbs.RunningAttribute, lsf.JobRequirement)
	had, _ := old.Resources.Get("select")
	wants, _ := j.Resources.Get("select")
	before, err := spec.ParseSelect(had)
	if err != nil {
		return nil, differs
	}
	after, err := spec.ParseSelect(wants)
	if err != nil {
		return nil, err
	}
	asked := old.SchedSelect
	if old.Checkpointed() {
		asked = unbound(asked, old.Checkpoint)
	}
	planned, err := spec.ParseSelect(asked)
	n := len(before.Chunks)
	if err != nil || len(after.Chunks) != n || len(planned.Chunks) != n || planned.Total() > len(old.Run.ExecVnode) {
		return nil, differs
	}
	text, _ := j.Attrs.Get(lsf.JobLayout, "")
	layout := lsf.ReadLayout(text)
	kinds := make([]reservingKind, n)
	for i := range kinds {
		k := reservingKind{count: before.Chunks[i].Count, was: amountsOf(tx, before.Chunks[i].Items), now: amountsOf(tx, after.Chunks[i].Items)}
		if i < len(layout.Kinds) {
			k.term, k.once, k.perJob = layout.Kinds[i].Term, layout.Kinds[i].Once, layout.Kinds[i].Job
		}
		rest, others := beside(before.Chunks[i].Items, k.was), beside(after.Chunks[i].Items, k.now)
		if after.Chunks[i].Count != k.count || planned.Chunks[i].Count != k.count || !slices.Equal(rest, others) {
			return nil, differs
		}
		planned.Chunks[i].Items = append(beside(planned.Chunks[i].Items, k.was), k.now...)
		kinds[i] = k
	}
	sums, err := spec.Sum(planned, tx)
	if err != nil {
		return nil, err
	}
	j.SchedSelect = planned.String()
	if old.Checkpointed() && asked == old.Checkpoint.Select {
		rebase(tx, j, j.SchedSelect, asked != old.SchedSelect)
	}
	dropSums(tx, j)
	for _, it := range sums {
		j.Resources = j.Resources.Set(it.Name, it.Value)
	}
	return kinds, nil
}

// amountsOf returns what of a chunk can change while the job runs: what is consumed of vnodes, but for what its programs were given by number.
func amountsOf(t resource.Table, items resource.List) (amounts resource.List) {
	for _, it := range items {
		if def, ok := t.Resource(it.Name); ok && it.Name != "ncpus" && it.Name != "ngpus" && def.AtVnodes() {
			amounts = append(amounts, it)
		}
	}
	return amounts
}

// beside returns the items that are none of some others.
func beside(items, others resource.List) resource.List {
	return slices.DeleteFunc(slices.Clone(items), func(it resource.Item) bool {
		_, among := others.Get(it.Name)
		return among
	})
}

// A reserver gives a run its new amounts.
type reserver struct {
	tx       *state.Tx
	old, job *state.Job
	taken    map[pool]int64 // more than before, as it is measured
}

// A pool is an amount of a resource of which several vnodes may take.
type pool struct {
	vnode    pbs.VnodeName
	resource string
}

// hold changes what the job's vnodes are charged with.
func (r *reserver) hold(kinds []reservingKind) error {
	run := r.job.EditRun()
	parts := slices.Clone(run.ExecVnode)
	at := 0
	given := map[string]bool{} // of the term: what a host, or an instance, has given
	for i, k := range kinds {
		if i > 0 && k.term != kinds[i-1].term {
			clear(given)
		}
		met := map[string]bool{}
		for range k.count {
			host := run.ExecHost[at].Host
			parts[at] = r.chunk(parts[at], k, func(res string) bool {
				return met[host] && slices.Contains(k.once, res) || slices.Contains(k.perJob, res) && r.gave(given, host, parts[at], res)
			}, at == 0)
			met[host] = true
			at++
		}
	}
	run.Fades = fades(r.tx, r.job)
	shares, err := alloc.ByVnode(parts, r.tx)
	if err != nil {
		return err
	}
	for _, change := range []func(spec.ExecPart) error{r.lower, r.raise} { // vnodes may share what one of them gives back
		for _, s := range shares {
			if err := change(s); err != nil {
				return err
			}
		}
	}
	run.Assignment = r.tx.InternAssignment(alloc.Assignment{ExecVnode: parts, ExecHost: run.ExecHost})
	run.Assigned = assignedNow(r.tx, r.job)
	return nil
}

// chunk returns a chunk with the new amounts of its kind but for those that are given already; first: it is the job's first.
// Of several vnodes the first ones give what they can.
func (r *reserver) chunk(c spec.ExecChunk, k reservingKind, given func(res string) bool, first bool) spec.ExecChunk {
	next := spec.ExecChunk{Parts: slices.Clone(c.Parts)}
	for i, p := range c.Parts {
		next.Parts[i].Items = beside(p.Items, k.was)
	}
	for _, it := range k.now {
		def, _ := r.tx.Resource(it.Name)
		if given(it.Name) || !first && def.Flags&resource.FirstHost != 0 {
			continue
		}
		rest := def.Measure(it.Value)
		for i, p := range c.Parts {
			text, _ := p.Items.Get(it.Name)
			had, some, last := def.Measure(text), rest, i == len(c.Parts)-1
			if !last {
				some = min(rest, had+r.free(p.Vnode, def))
			}
			if some > 0 || last && i == 0 {
				next.Parts[i].Items = append(next.Parts[i].Items, resource.Item{Name: it.Name, Value: def.Measured(some)})
			}
			r.taken[r.pool(p.Vnode, def)] += some - had
			rest -= some
		}
	}
	return next
}

func (r *reserver) pool(name pbs.VnodeName, def resource.Def) pool {
	if v, ok := r.tx.Vnode(name); ok {
		if of := r.tx.Pool(v, def.Name); of != nil {
			name = of.Name
		}
	}
	return pool{name, def.Name}
}

// free returns what nobody has of a resource of a vnode, nor the chunks of the job before.
func (r *reserver) free(name pbs.VnodeName, def resource.Def) int64 {
	p := r.pool(name, def)
	v, ok := r.tx.Vnode(p.vnode)
	if !ok {
		return 0
	}
	offered, _ := v.Available().Get(def.Name)
	used, _ := r.tx.InUse(v).Get(def.Name)
	return max(0, def.Measure(offered)-def.Measure(used)-r.taken[p])
}

// place returns a vnode, and where the run is among those that have a share of it.
func (r *reserver) place(name pbs.VnodeName) (v *state.Vnode, at int, err error) {
	v, ok := r.tx.Vnode(name)
	at = -1
	if ok {
		at = heldAt(v, r.job)
	}
	if at < 0 {
		return nil, at, pbs.Errorf(pbs.BadState, "vnode %s is not the job's any more", name)
	}
	return v, at, nil
}

// lower takes from a vnode what the run does not have of it from now on.
func (r *reserver) lower(s spec.ExecPart) error {
	v, at, err := r.place(s.Vnode)
	if err != nil {
		return err
	}
	held := v.Jobs[at]
	held.Items = r.least(held.Items, s.Items)
	return r.exchange(v, at, held)
}

// raise charges a vnode with all that the run has of it from now on, if it has what that is more than before (L3, L15). Others, who may
// have what the run holds no more as time passes, keep it.
func (r *reserver) raise(s spec.ExecPart) error {
	v, at, err := r.place(s.Vnode)
	if err != nil {
		return err
	}
	held := v.Jobs[at]
	more := r.more(r.tx.HeldAt(r.old, held.Items, r.tx.Now()), r.tx.HeldAt(r.job, s.Items, r.tx.Now()))
	short := r.tx.ShortFor(v, held.Reservation, more, state.Promised{})
	if short != nil {
		return pbs.Errorf(pbs.ResourceBusy, "%s: %s", strings.TrimSuffix(lsf.ReasonOfUsage(short.Resource), ";"), v.HostWord())
	}
	if err := leavesPromised(r.tx, r.job, v, state.VnodeJob{Items: more, Reservation: held.Reservation}); err != nil {
		return err
	}
	held.Items, held.Fades = s.Items, anyFades(r.job, s.Items)
	return r.exchange(v, at, held)
}

func (r *reserver) exchange(v *state.Vnode, at int, held state.VnodeJob) error {
	next, err := v.Exchange(at, held, r.tx)
	if err != nil {
		return err
	}
	r.tx.PutSettled(next)
	return nil
}

// least returns the amounts that are in both of two lists.
func (r *reserver) least(was, now resource.List) (both resource.List) {
	for _, it := range now {
		def, _ := r.tx.Resource(it.Name)
		before, _ := was.Get(it.Name)
		if n := min(def.Measure(before), def.Measure(it.Value)); n > 0 {
			both = append(both, resource.Item{Name: it.Name, Value: def.Measured(n)})
		}
	}
	return both
}

// more returns by how much some amounts are above others.
func (r *reserver) more(was, now resource.List) (more resource.List) {
	for _, it := range now {
		def, _ := r.tx.Resource(it.Name)
		before, _ := was.Get(it.Name)
		if n := def.Measure(it.Value) - def.Measure(before); n > 0 {
			more = append(more, resource.Item{Name: it.Name, Value: def.Measured(n)})
		}
	}
	return more
}
