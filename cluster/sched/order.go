package sched

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// An order is how the site wants jobs to be considered: those that may preempt others first,
// then those within their soft limits, then by the Priority of their queues, by job_sort_formula, by job_sort_key, and in
// the order of state.Before.
type order struct {
	view      *state.View
	now       pbs.Time
	queues    map[pbs.QueueName]int64 // Priority; nil: it does not count
	turns     bool                    // round_robin: one job of each queue of the same Priority in turn
	formula   *spec.Formula
	threshold float64 // jobs with no higher score do not start
	bounded   bool    // there is a threshold
	keys      []sortKey
	defs      map[string]resource.Def // of the resources that formula and keys name
	strict    bool                    // strict_ordering
	depth     int                     // how many jobs that wait get a start time that others must not delay
	depths    map[pbs.QueueName]int   // the same, of queues that have their own
	fuzzy     pbs.Time                // how far apart the times are that are looked at for a start: opt_backfill_fuzzy
	enforce   bool                    // sched_preempt_enforce_resumption
	shares    *shares                 // fair share; nil: there is none
	tree      *shares                 // the tree of fair share, where scores ask for it, with fair_share off, too
	levels    *levels                 // who may preempt whom; nil: nobody
	eligible  bool                    // eligible_time is counted
	starve    pbs.Time                // how long a job waits before it starves; 0: none does
	starving  bool                    // some job may starve
}

// A sortKey is an entry of job_sort_key: the value of a resource, or of one of the names
// that a formula may have, most or least first.
type sortKey struct {
	name string
	low  bool
}

func newOrder(v *state.View, now pbs.Time, set settings) order {
	s := v.Server()
	o := order{view: v, now: now, turns: set.get("round_robin") == "True", strict: set.get("strict_ordering") == "True", depth: depthOf(v, set), levels: newLevels(v, set), shares: newShares(v, set)}
	o.depths, o.fuzzy, o.enforce = depthsOf(v, set), fuzzyOf[s.SchedGet("opt_backfill_fuzzy")], s.SchedGet("sched_preempt_enforce_resumption") == "True"
	o.starve, o.eligible = starveOf(set), s.Bool("eligible_time_enable")
	if set.get("by_queue") == "True" || o.turns {
		o.queues = prioritiesOf(v)
	}
	if text := s.SortFormula(); text != "" {
		o.formula, _ = spec.ParseFormula(text) // the attribute's parser has taken it
		bound := s.SchedGet("job_sort_formula_threshold")
		o.threshold, _ = strconv.ParseFloat(bound, 64)
		o.bounded = bound != "" && o.formula != nil
	}
	for _, k := range attr.SortKeys(set.get("job_sort_key")) {
		o.keys = append(o.keys, sortKey{k.Name, k.Low})
	}
	o.name()
	return o
}

// depthOf is backfill_depth, 1 if it is not set, and 0 without backfill.
func depthOf(v *state.View, set settings) int {
	s := v.Server()
	if set.get("backfill") == "False" {
		return 0
	}
	if text := s.Get("backfill_depth"); text != "" {
		return int(s.Int("backfill_depth"))
	}
	return 1
}

// depthsOf returns the backfill_depth of each queue that has one, of none without backfill.
func depthsOf(v *state.View, set settings) map[pbs.QueueName]int {
	if set.get("backfill") == "False" {
		return nil
	}
	var all map[pbs.QueueName]int
	for q := range v.Queues() {
		text := q.Get("backfill_depth")
		if text == "" {
			continue
		}
		if all == nil {
			all = map[pbs.QueueName]int{}
		}
		all[q.Name], _ = strconv.Atoi(text)
	}
	return all
}

// fuzzyOf are the values of opt_backfill_fuzzy.
var fuzzyOf = map[string]pbs.Time{
	"low": pbs.Time(10 * time.Minute), "medium": pbs.Time(time.Hour), "high": pbs.Time(3 * time.Hour),
}

// prioritiesOf returns the Priority of each queue, nil if they are all the same.
func prioritiesOf(v *state.View) map[pbs.QueueName]int64 {
	all := map[pbs.QueueName]int64{}
	differ, first := false, int64(0)
	for q := range v.Queues() {
		n, _ := strconv.ParseInt(q.Get("Priority"), 10, 64)
		if len(all) == 0 {
			first = n
		}
		all[q.Name], differ = n, differ || n != first
	}
	if !differ {
		return nil
	}
	return all
}

// name finds the definitions of what formula and keys name.
func (o *order) name() {
	var names []string
	if o.formula != nil {
		names = slices.Clone(o.formula.Names())
	}
	for _, k := range o.keys {
		names = append(names, k.name)
	}
	o.tree = o.shares
	if o.tree == nil && slices.ContainsFunc(names, ofShares) {
		o.tree = sharesOf(o.view)
	}
	for _, n := range names {
		if def, ok := o.view.Resource(n); ok {
			if o.defs == nil {
				o.defs = map[string]resource.Def{}
			}
			o.defs[n] = def
		}
	}
}

// ofShares reports whether a name in a formula is about fair share.
func ofShares(name string) bool {
	return slices.Contains([]string{"fair_share_perc", "fairshare_perc", "fairshare_tree_usage", "fairshare_factor"}, name)
}

// scores reports whether the jobs of a class may come in another order than that of the state.
func (o *order) scores() bool { return o.formula != nil || len(o.keys) > 0 }

// A rank is where a job stands, but for its place in the order of submission.
type rank struct {
	cleared bool // a run was just suspended for it

	level int64 // of preempt_prio
	haste int64 // it was preempted, or starves: how long ago
	over  uint8 // soft limits that it is over: isOverQueue, isOverServer
	queue int64
	score float64
	keys  []float64 // most first
}

func (a *rank) compare(b *rank) int {
	if c := a.first(b); c != 0 {
		return c
	}
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	return -slices.Compare(a.keys, b.keys)
}

// first compares what comes before formula, shares and keys.
func (a *rank) first(b *rank) int {
	if a.cleared != b.cleared {
		if b.cleared {
			return 1
		}
		return -1
	}
	if a.level != b.level {
		return cmp.Compare(b.level, a.level)
	}
	if a.haste != b.haste {
		return cmp.Compare(b.haste, a.haste)
	}
	if within, other := a.over == 0, b.over == 0; within != other {
		if other {
			return 1
		}
		return -1
	}
	return cmp.Compare(b.queue, a.queue)
}

// rank computes where the job stands.
func (o *order) rank(j *state.Job) rank {
	r := rank{queue: o.queues[j.Queue], level: o.levels.of(j.Queue, o.is(j))}
	if !o.scores() {
		return r
	}
	value := func(name string) float64 { return o.value(j, name) }
	if o.formula != nil {
		r.score = o.formula.Value(value)
	}
	for _, k := range o.keys {
		v := value(k.name)
		if k.low {
			v = -v
		}
		r.keys = append(r.keys, v)
	}
	return r
}

// value returns what a name in a formula stands for.
func (o *order) value(j *state.Job, name string) float64 {
	switch name {
	case "job_priority", "sort_priority":
		return float64(j.Priority)
	case "queue_priority":
		if o.queues != nil {
			return float64(o.queues[j.Queue])
		}
		q, _ := o.view.Queue(j.Queue)
		n, _ := strconv.ParseFloat(q.Get("Priority"), 64)
		return n
	case "eligible_time":
		return float64(j.Accrued.Seconds(o.now))
	case "fair_share_perc", "fairshare_perc", "fairshare_tree_usage", "fairshare_factor": // ofShares
		return o.tree.value(j, name)
	case "accrue_type":
		if j.Accrued == nil {
			return 0
		}
		return float64(j.Accrued.Type)
	}
	def, known := o.defs[name]
	text, asked := j.Resources.Get(name)
	if !known || !asked {
		return 0
	}
	n := float64(def.Measure(text))
	if def.Type == resource.Float {
		n /= millionths
	}
	return n
}

// jobsOf returns the jobs of a class in their order.
func (o *order) jobsOf(of *state.Class, first *state.Job) []ranked {
	var all []ranked
	for j, ok := first, true; ok; j, ok = o.view.NextOf(of, j) {
		all = append(all, ranked{j, o.rank(j)})
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return a.rank.compare(&b.rank) })
	return all
}

// ranked is a job with its rank.
type ranked struct {
	job  *state.Job
	rank rank
}

// soft reports whether there may be soft limits on the jobs of a queue.
func (c *cycle) soft(queue pbs.QueueName) bool {
	soft, known := c.softs[queue]
	if !known {
		soft = c.view.SoftlyLimited(queue)
		c.softs[queue] = soft
	}
	return soft
}

// over tells which soft limits the job would be over if it ran now.
func (c *cycle) over(j *state.Job) uint8 {
	return c.overSoft(j, func(of limited) int64 { return c.limiter.planned[of] })
}
