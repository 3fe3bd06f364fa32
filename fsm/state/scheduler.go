package state

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

const (
	// DefaultScheduler is the name of the scheduler that is always there. What is set of it is the server's: Server.Sched.
	DefaultScheduler = "default"
	// DefaultPartition is what is shown as the partition of the default scheduler, and of what it has confirmed; nothing else is in it.
	DefaultPartition = "pbs-default"
)

// A Scheduler is one beside the default one. It plans for jobs of queues in its partitions, on vnodes in them.
type Scheduler struct {
	Name    string    `cbor:"1,keyasint"`
	Attrs   attr.List `cbor:"2,keyasint,omitempty"`
	Started bool      `cbor:"3,keyasint,omitempty"` // it plans, where scheduling is on; else it is down
	Decayed pbs.Time  `cbor:"4,keyasint,omitempty"` // when the usage of its fair share has decayed last
}

// Get returns an attribute of the scheduler, its default if it is not set. Other than the default one it is made with scheduling
// off, and without a partition.
func (s *Scheduler) Get(name string) string {
	if text, ok := s.Attrs.Get(name, ""); ok {
		return text
	}
	switch name {
	case "scheduling":
		return "False"
	case "partition":
		return ""
	}
	return attrValue(attr.Sched, nil, name)
}

// Partitions returns the partitions that the scheduler plans for.
func (s *Scheduler) Partitions() []string { return commaList(s.Get("partition")) }

// Plans reports whether the scheduler starts jobs.
func (s *Scheduler) Plans() bool { return s.Started && s.Get("scheduling") == "True" }

// Scheduler returns the scheduler of a name, which is not the default one.
func (s *Server) Scheduler(name string) (*Scheduler, bool) {
	for i := range s.Scheds {
		if s.Scheds[i].Name == name {
			return &s.Scheds[i], true
		}
	}
	return nil, false
}

// SchedulerOf returns the name of the scheduler that plans for a partition, which is the default one for what is in none, and for
// what is in one that no other has.
func (s *Server) SchedulerOf(partition string) string {
	for i := range s.Scheds {
		if partition != "" && slices.Contains(s.Scheds[i].Partitions(), partition) {
			return s.Scheds[i].Name
		}
	}
	return DefaultScheduler
}

// policy returns what is set of a scheduler.
func (s *Server) policy(name string) policy {
	if own, ok := s.Scheduler(name); ok {
		return policy(own.Attrs)
	}
	return policy(s.Sched)
}

// SortFormula returns job_sort_formula as the scheduler has it: the server's, unless it has one of its own.
func (s *Server) SortFormula() string {
	if own, ok := s.Sched.Get("job_sort_formula", ""); ok {
		return own
	}
	return s.Get("job_sort_formula")
}

// A policy holds the attributes that are set of a scheduler.
type policy attr.List

func (p policy) get(name string) string { return attrValue(attr.Sched, attr.List(p), name) }

func (p policy) fairShare() bool {
	return p.get("fair_share") == "True" || p.get(attr.PrimeTime+"fair_share") == "True"
}

// as returns the server as a further scheduler sees it: what is set of that one stands where that of the default one stands.
func (s *Server) as(own *Scheduler) *Server {
	next := *s
	next.Sched = own.Attrs
	for _, name := range []string{"scheduling", "scheduler_iteration"} {
		next.Attrs = next.Attrs.Set(name, "", own.Get(name))
	}
	if !own.Plans() {
		next.Attrs = next.Attrs.Set("scheduling", "", "False")
	}
	return &next
}

// A scope is what one of several schedulers plans for.
type scope struct {
	name   string          // empty: the default one
	server *Server         // as it is
	key    string          // what tells it from others
	own    []string        // partitions, sorted; of the default one those of queues that no other has, and none at all
	others map[string]bool // of the default one: the partitions of others
}

// has reports whether the scheduler plans for a partition.
func (s *scope) has(partition string) bool {
	if s.name == "" {
		return !s.others[partition]
	}
	return slices.Contains(s.own, partition)
}

// For returns the view as a scheduler sees it, with its own policy, and no queued job, run or vnode but those that it plans for; false
// if there is no such scheduler. Where there is the default one only, that sees everything.
func (v *View) For(name string) (*View, bool) {
	own, ok := v.server.Scheduler(name)
	switch {
	case !ok && name != DefaultScheduler:
		return nil, false
	case len(v.server.Scheds) == 0:
		return v, true
	}
	next := *v
	next.scope = &scope{server: v.server}
	if ok {
		next.scope.name, next.scope.own = name, slices.Sorted(slices.Values(own.Partitions()))
		next.scope.key = name + " " + strings.Join(next.scope.own, ",")
		next.server = v.server.as(own)
		cluster := *v.cluster
		cluster.Decayed = own.Decayed
		next.cluster = &cluster
		return &next, true
	}
	next.scope.others = map[string]bool{}
	for i := range v.server.Scheds {
		for _, p := range v.server.Scheds[i].Partitions() {
			next.scope.others[p] = true
		}
	}
	next.scope.key = strings.Join(slices.Sorted(maps.Keys(next.scope.others)), ",")
	next.scope.own = []string{""}
	for _, p := range slices.Compact(slices.Sorted(maps.Values(v.partitionOf))) {
		if !next.scope.others[p] {
			next.scope.own = append(next.scope.own, p)
		}
	}
	return &next, true
}

// ForQueue returns the view as the scheduler sees it that plans for the jobs of a queue.
func (v *View) ForQueue(queue pbs.QueueName) *View {
	next, _ := v.For(v.SchedulerOf(queue))
	return next
}

// SchedulerOf returns the name of the scheduler that plans for the jobs of a queue.
func (t *tables) SchedulerOf(queue pbs.QueueName) string {
	return t.server.SchedulerOf(t.partitionOf[queue])
}

// Partition returns the partition of a queue, empty if it is in none.
func (t *tables) Partition(queue pbs.QueueName) string { return t.partitionOf[queue] }

// OwnPartitions returns the partitions that the scheduler of the view plans for, empty for what is in none.
func (v *View) OwnPartitions() []string {
	if v.scope == nil || v.scope.name == "" {
		return []string{""}
	}
	return v.scope.own
}

// Scope tells the vnodes of the view from those of others of the same state: which partitions they may be in. It is empty where they are
// all that there are.
func (v *View) Scope() string {
	if v.scope == nil {
		return ""
	}
	return v.scope.key
}

// PlansFor reports whether the scheduler of the view plans for a vnode.
func (v *View) PlansFor(vn *Vnode) bool { return v.scope == nil || v.scope.has(vn.Partition()) }

// SchedulerName returns the name of the scheduler of the view.
func (v *View) SchedulerName() string {
	if v.scope == nil || v.scope.name == "" {
		return DefaultScheduler
	}
	return v.scope.name
}

// Decider returns the scheduler that is to find vnodes for a reservation: of a new one one after the other, the default one first, and
// only such as plan; later the one that has its partition. Empty: nobody is to, as long as the default one does not plan.
func (t *tables) Decider(r *Reservation) string {
	s := t.server
	if t.scope != nil {
		s = t.scope.server
	}
	if r.State != pbs.ResvUnconfirmed {
		return s.SchedulerOf(r.Partition)
	}
	next := s.nextDecider(r.Denied)
	if next == "" && slices.Contains(r.Denied, DefaultScheduler) { // who else had a say plans no more: it says so for all
		return DefaultScheduler
	}
	return next
}

func (s *Server) nextDecider(denied []string) string {
	if s.Scheduling() && !slices.Contains(denied, DefaultScheduler) {
		return DefaultScheduler
	}
	for i := range s.Scheds {
		if s.Scheds[i].Plans() && !slices.Contains(denied, s.Scheds[i].Name) {
			return s.Scheds[i].Name
		}
	}
	return ""
}

// Deniers returns who has no vnodes for a new reservation when one more scheduler has none; false: nobody is left who may have some.
func (t *tables) Deniers(r *Reservation, sched string) (denied []string, more bool) {
	denied = append(slices.Clone(r.Denied), sched)
	return denied, t.server.nextDecider(denied) != "" || !slices.Contains(denied, DefaultScheduler)
}

// repart follows the partitions of queues: their jobs that wait are of other classes then.
func (t *tables) repart() {
	now := t.partitions()
	was := t.partitionOf
	if maps.Equal(now, was) {
		return
	}
	var moved []waiting
	for w := range t.queued.all() {
		if now[w.job.Queue] != was[w.job.Queue] {
			moved = append(moved, w)
		}
	}
	for _, w := range moved {
		t.queued.drop(w)
		t.firsts.drop(w)
	}
	t.partitionOf = now
	for _, w := range moved {
		t.queue(nil, w.job)
	}
}

// partitions returns those of queues that are in one, nil if none is.
func (t *tables) partitions() (all map[pbs.QueueName]string) {
	for q := range t.Queues() {
		if text, ok := q.Attrs.Get("partition", ""); ok && text != DefaultPartition {
			if all == nil {
				all = map[pbs.QueueName]string{}
			}
			all[q.Name] = text
		}
	}
	return all
}

// Partition returns the partition of the vnode, empty if it is in none.
func (v *Vnode) Partition() string {
	text, _ := v.cold("partition").Get("partition", "")
	return text
}

// hasPartition reports whether the vnode is in a partition.
func (v *Vnode) hasPartition() bool { return v.Partition() != "" }

// byPartition reports whether one vnode stands before another in the index of vnodes that are in a partition.
func byPartition(a, b *Vnode) bool {
	return cmp.Or(cmp.Compare(a.Partition(), b.Partition()), cmp.Compare(a.Seq, b.Seq)) < 0
}

// isOfQueue reports whether only jobs of one queue may have the vnode.
func (v *Vnode) isOfQueue() bool { return v.Get("queue") != "" }

// byQueue reports whether one vnode stands before another in the index of vnodes that are for one queue.
func byQueue(a, b *Vnode) bool {
	return cmp.Or(cmp.Compare(a.Get("queue"), b.Get("queue")), cmp.Compare(a.Seq, b.Seq)) < 0
}

// hasNodes is "True" of a queue that has vnodes for itself, as hasnodes is shown, and empty of another.
func (t *tables) hasNodes(q pbs.QueueName) string {
	v, ok := t.ofQueue.at(&Vnode{Attrs: attr.List{{Name: "queue", Value: string(q)}}})
	if ok && v.Get("queue") == string(q) {
		return boolText(true)
	}
	return ""
}

// scoped yields the vnodes that the scheduler of the view plans for: of a further one those of one partition after the other.
func (t *tables) scoped() iter.Seq[*Vnode] {
	switch {
	case t.scope == nil:
		return t.bySeq.all()
	case t.scope.name == "":
		return func(yield func(*Vnode) bool) {
			for v := range t.bySeq.all() {
				if t.scope.has(v.Partition()) && !yield(v) {
					return
				}
			}
		}
	}
	return func(yield func(*Vnode) bool) {
		for _, p := range t.scope.own {
			for v := range t.inPartition.from(&Vnode{Attrs: attr.List{{Name: "partition", Value: p}}}) {
				if v.Partition() != p {
					break
				}
				if !yield(v) {
					return
				}
			}
		}
	}
}

// mine leaves out the jobs that the scheduler of the view does not plan for.
func (t *tables) mine(all iter.Seq[*Job]) iter.Seq[*Job] {
	if t.scope == nil {
		return all
	}
	return func(yield func(*Job) bool) {
		for j := range all {
			if t.scope.has(t.partitionOf[j.Queue]) && !yield(j) {
				return
			}
		}
	}
}

// scopedClasses yields what Classes yields of each partition that the scheduler of the view plans for.
func (t *tables) scopedClasses(yield func(*Class, *Job) bool) {
	for _, p := range t.scope.own {
		for w := range t.firsts.from(waiting{class: &Class{Partition: p}}) {
			if w.class.Partition != p {
				break
			}
			if !yield(w.class, w.job) {
				return
			}
		}
	}
}
