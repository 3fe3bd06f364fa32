package state

import (
	"cmp"
	"iter"
	"slices"
	"strconv"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// A Share is what an entity of fair share has used, of all that has not faded yet.
type Share struct {
	Entity string `cbor:"1,keyasint"`
	Usage  int64  `cbor:"2,keyasint,omitempty"` // thousandths of the unit of fairshare_usage_res
	Sched  string `cbor:"3,keyasint,omitempty"` // whose tree it is of; empty: the default scheduler's
}

func (s *Share) less(o *Share) bool {
	return cmp.Or(cmp.Compare(s.Sched, o.Sched), cmp.Compare(s.Entity, o.Entity)) < 0
}

// treeOf returns as what shares name a scheduler.
func treeOf(sched string) string {
	if sched == DefaultScheduler {
		return ""
	}
	return sched
}

// A ShareNode is an entity of fair share, or a group of them, in its tree.
type ShareNode struct {
	Name, Parent string // the root has no parent
	ID, Group    int64  // its number in resource_group, and that of its parent; -1: none
	Shares       int64
	Usage        float64 // of it and all below it, in units of fairshare_usage_res
	Part         float64 // of everything, by its shares: 0 to 1
	TreeUsage    float64 // PBS's fairshare_tree_usage
}

// LeastUsage is what an entity has used that has used nothing, in thousandths: one unit, so that shares decide from the first job on.
const LeastUsage = 1000

// mostUsage bounds what an entity may have used, so that sums do not overflow.
const mostUsage = 1 << 50

// Shares yields what entities have used, by name: in the tree of the scheduler whose view it is, or in those of all.
func (t *tables) Shares() iter.Seq[*Share] {
	if t.scope == nil {
		return t.shares.all()
	}
	return t.sharesOf(t.scope.name)
}

func (t *tables) sharesOf(tree string) iter.Seq[*Share] {
	return func(yield func(*Share) bool) {
		for s := range t.shares.from(&Share{Sched: tree}) {
			if s.Sched != tree || !yield(s) {
				return
			}
		}
	}
}

// FairShare reports whether the usage of entities is counted: where it matters in prime time only,
// it is counted at all times.
func (s *Server) FairShare() bool { return policy(s.Sched).fairShare() }

// sharesFairly reports whether any scheduler counts usage.
func (s *Server) sharesFairly() bool {
	return s.FairShare() || slices.ContainsFunc(s.Scheds, func(own Scheduler) bool { return policy(own.Attrs).fairShare() })
}

// ShareEntity returns to whom the usage of a job counts: fairshare_entity.
func (t *tables) ShareEntity(j *Job) string { return policy(t.server.Sched).entity(j) }

func (p policy) entity(j *Job) string {
	s := j.Subjects()
	switch p.get("fairshare_entity") {
	case "egroup":
		return s[2].Name
	case "egroup:euser":
		return s[2].Name + ":" + s[1].Name
	case "queue":
		return string(j.Queue)
	case "Account_Name":
		name, _ := j.Attrs.Get("Account_Name", "")
		return name
	}
	return s[1].Name
}

// ShareAmount computes fairshare_usage_res for a list of resources, in thousandths.
func (t *tables) ShareAmount(list resource.List) int64 {
	return t.shareAmount(policy(t.server.Sched), list, nil)
}

// shareAmount computes fairshare_usage_res for what a run has used; of custom resources, which no mom measures, it counts what the job asked for.
func (t *tables) shareAmount(p policy, list, asked resource.List) int64 {
	value := func(name string) float64 {
		def, known := t.Resource(name)
		text, has := list.Get(name)
		if !has && known && !measured(name) {
			text, has = asked.Get(name)
		}
		if !known || !has {
			return 0
		}
		n := float64(def.Measure(text))
		if def.Type == resource.Float {
			n /= 1e6
		}
		return n
	}
	text := p.get("fairshare_usage_res")
	n := 0.0
	if resource.ValidName(text) {
		n = value(text)
	} else if f, err := spec.ParseFormula(text); err == nil {
		n = f.Value(value)
	}
	return int64(max(0, min(mostUsage, n*1000)))
}

// measured reports whether moms measure the resource, for all that is built in they either do or it is nothing to count.
func measured(name string) bool {
	_, builtin := resource.Lookup(name)
	return builtin
}

// chargeShare counts what a run has used since its job was stored last.
func (tx *Tx) chargeShare(old, j *Job) {
	if len(j.LastRun().Used) == 0 || !tx.server.sharesFairly() {
		return
	}
	sched := tx.SchedulerOf(j.Queue)
	p := tx.server.policy(sched)
	if !p.fairShare() {
		return
	}
	before := int64(0)
	if old != nil && old.LastRun().Number == j.Run.Number && len(old.LastRun().Used) > 0 {
		before = tx.shareAmount(p, old.LastRun().Used, old.Resources)
	}
	more := tx.shareAmount(p, j.LastRun().Used, j.Resources) - before
	entity := p.entity(j)
	if more <= 0 || entity == "" {
		return
	}
	next := Share{Entity: entity, Usage: LeastUsage, Sched: treeOf(sched)}
	if s, ok := tx.shares.get(&next); ok {
		next = *s
	}
	tx.PutShare(sched, entity, min(next.Usage+more, mostUsage))
}

// PutShare stores what an entity has used in the tree of a scheduler, in thousandths of the unit. An entity that has used nothing has no record.
func (tx *Tx) PutShare(sched, entity string, usage int64) {
	next := &Share{entity, min(usage, mostUsage), treeOf(sched)}
	var delta uint64
	if usage > LeastUsage {
		_, delta = tx.shares.put(next)
	} else if _, ok := tx.shares.get(next); ok {
		_, delta = tx.shares.remove(next)
	}
	tx.digest += delta
}

// TrimShares forgets the usage of entities that resource_group of a scheduler does not name.
func (tx *Tx) TrimShares(sched string) {
	known := map[string]bool{}
	for _, l := range attr.ShareLines(tx.server.policy(sched).get("resource_group")) {
		known[l.Name] = true
	}
	var all []*Share
	for s := range tx.sharesOf(treeOf(sched)) {
		if !known[s.Entity] {
			all = append(all, s)
		}
	}
	for _, s := range all {
		tx.PutShare(sched, s.Entity, 0)
	}
}

// FadeShares lets usage fade by fairshare_decay_factor when fairshare_decay_time has passed;
// of an entity of which nothing is left nothing is kept.
func (tx *Tx) FadeShares() {
	if tx.fadeDue(policy(tx.server.Sched), tx.cluster.Decayed) {
		if tx.cluster.Decayed != 0 {
			tx.FadeSharesNow(DefaultScheduler)
		}
		tx.EditCluster().Decayed = tx.Now()
	}
	for i := range tx.server.Scheds {
		own := tx.server.Scheds[i]
		if !tx.fadeDue(policy(own.Attrs), own.Decayed) {
			continue
		}
		if own.Decayed != 0 {
			tx.FadeSharesNow(own.Name)
		}
		own.Decayed = tx.Now()
		next := *tx.server
		next.Scheds = slices.Clone(next.Scheds)
		next.Scheds[i] = own
		tx.PutServer(&next)
	}
}

// fadeDue reports whether the usage that a scheduler counts is to fade, or to be counted from now on.
func (tx *Tx) fadeDue(p policy, last pbs.Time) bool {
	if !p.fairShare() || last == 0 {
		return p.fairShare()
	}
	q, err := resource.Parse(resource.Time, p.get("fairshare_decay_time"))
	return err == nil && q.Int() > 0 && q.Int() <= 1<<32 && tx.Now() >= last+pbs.Time(q.Int())*second
}

// FadeSharesNow multiplies the usage of all entities in the tree of a scheduler by its fairshare_decay_factor.
func (tx *Tx) FadeSharesNow(sched string) {
	factor, err := strconv.ParseFloat(tx.server.policy(sched).get("fairshare_decay_factor"), 64)
	if err != nil || factor < 0 || factor > 1 {
		return
	}
	var all []*Share
	for s := range tx.sharesOf(treeOf(sched)) {
		all = append(all, s)
	}
	for _, s := range all {
		tx.PutShare(sched, s.Entity, int64(float64(s.Usage)*factor))
	}
}

// DropShares forgets the tree of a scheduler.
func (tx *Tx) DropShares(sched string) {
	var all []*Share
	for s := range tx.sharesOf(treeOf(sched)) {
		all = append(all, s)
	}
	for _, s := range all {
		tx.PutShare(sched, s.Entity, 0)
	}
}

const second = pbs.Time(1e9)
