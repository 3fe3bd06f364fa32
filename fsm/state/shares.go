package state

import (
	"iter"
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

// Shares yields what entities have used, by name.
func (t *tables) Shares() iter.Seq[*Share] { return t.shares.all() }

// FairShare tells whether the usage of entities is counted: where it matters in prime time only,
// it is counted at all times.
func (s *Server) FairShare() bool {
	return s.SchedGet("fair_share") == "True" || s.SchedGet(attr.PrimeTime+"fair_share") == "True"
}

// ShareEntity returns to whom the usage of a job counts: fairshare_entity.
func (t *tables) ShareEntity(j *Job) string {
	s := j.Subjects()
	switch t.server.SchedGet("fairshare_entity") {
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
func (t *tables) ShareAmount(list resource.List) int64 { return t.shareAmount(list, nil) }

// shareAmount computes fairshare_usage_res for what a run has used; of custom resources, which no mom measures, it counts what the job asked for.
func (t *tables) shareAmount(list, asked resource.List) int64 {
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
	text := t.server.SchedGet("fairshare_usage_res")
	n := 0.0
	if resource.ValidName(text) {
		n = value(text)
	} else if f, err := spec.ParseFormula(text); err == nil {
		n = f.Value(value)
	}
	return int64(max(0, min(mostUsage, n*1000)))
}

// measured tells whether moms measure the resource, for all that is built in they either do or it is nothing to count.
func measured(name string) bool {
	_, builtin := resource.Lookup(name)
	return builtin
}

// chargeShare counts what a run has used since its job was stored last.
func (tx *Tx) chargeShare(old, j *Job) {
	if len(j.LastRun().Used) == 0 || !tx.server.FairShare() {
		return
	}
	before := int64(0)
	if old != nil && old.LastRun().Number == j.Run.Number && len(old.LastRun().Used) > 0 {
		before = tx.shareAmount(old.LastRun().Used, old.Resources)
	}
	more := tx.shareAmount(j.LastRun().Used, j.Resources) - before
	entity := tx.ShareEntity(j)
	if more <= 0 || entity == "" {
		return
	}
	next := Share{Entity: entity, Usage: LeastUsage}
	if s, ok := tx.shares.get(&next); ok {
		next = *s
	}
	tx.PutShare(entity, min(next.Usage+more, mostUsage))
}

// PutShare stores what an entity has used, in thousandths of the unit. Who has used nothing is not kept.
func (tx *Tx) PutShare(entity string, usage int64) {
	next := &Share{entity, min(usage, mostUsage)}
	var delta uint64
	if usage > LeastUsage {
		_, delta = tx.shares.put(next)
	} else if _, ok := tx.shares.get(next); ok {
		_, delta = tx.shares.remove(next)
	}
	tx.digest += delta
}

// TrimShares forgets the usage of entities that resource_group does not name.
func (tx *Tx) TrimShares() {
	known := map[string]bool{}
	for _, l := range attr.ShareLines(tx.server.SchedGet("resource_group")) {
		known[l.Name] = true
	}
	var all []*Share
	for s := range tx.shares.all() {
		if !known[s.Entity] {
			all = append(all, s)
		}
	}
	for _, s := range all {
		tx.PutShare(s.Entity, 0)
	}
}

// FadeShares lets usage fade by fairshare_decay_factor when fairshare_decay_time has passed;
// of an entity of which nothing is left nothing is kept.
func (tx *Tx) FadeShares() {
	if !tx.server.FairShare() {
		return
	}
	if tx.cluster.Decayed == 0 {
		tx.EditCluster().Decayed = tx.Now()
		return
	}
	q, err := resource.Parse(resource.Time, tx.server.SchedGet("fairshare_decay_time"))
	if err != nil || q.Int() <= 0 || q.Int() > 1<<32 || tx.Now() < tx.cluster.Decayed+pbs.Time(q.Int())*second {
		return
	}
	tx.EditCluster().Decayed = tx.Now()
	tx.FadeSharesNow()
}

// FadeSharesNow multiplies the usage of all entities by fairshare_decay_factor.
func (tx *Tx) FadeSharesNow() {
	factor, err := strconv.ParseFloat(tx.server.SchedGet("fairshare_decay_factor"), 64)
	if err != nil || factor < 0 || factor > 1 {
		return
	}
	var all []*Share
	for s := range tx.shares.all() {
		all = append(all, s)
	}
	for _, s := range all {
		tx.PutShare(s.Entity, int64(float64(s.Usage)*factor))
	}
}

const second = pbs.Time(1e9)
