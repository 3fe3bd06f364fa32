package sched

import (
	"cmp"
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// kept holds the calendars that a planner keeps from one cycle to the next. What has changed since is read anew: a vnode with its
// runs, a reservation, a job that runs longer or shorter than it was to. So is what changes by itself as time goes by: a
// run that is not over in time, or a reservation that is to begin. What a cycle does to a calendar is undone before the next.
type kept struct {
	index, digest uint64 // of the view that they are of
	pooled        bool   // in that view vnodes shared amounts of others
	vnodes        map[pbs.VnodeName]*foreseen
	byNode        [2][]*foreseen         // the same, by node of a world of what is free, and of an idle one
	runs          map[pbs.JobID]*keptRun // that are in calendars
	resvs         map[uint64]*state.Reservation
	begins        []period // of occurrences that do not have their vnodes yet, by their beginning
	changed       []*foreseen
	timeline      timeline
	reads         uint64     // of calendars, until now
	made, spare   []*lasting // by the cycle, and those of earlier ones
	scratch       *world     // of later
	ahead         []pbs.Time // of beginsFrom: one cycle after the other has it
	tooLong       map[*class]conflict
	counted       counted                      // the same
	peaks         peaks                        // the same
	cycle         uint64                       // how many cycles there were
	wholes        map[pbs.QueueName]*wholeRuns // of queues; of the server: of the queue without a name
}

// letGo ends a cycle: its view is not kept.
func (k *kept) letGo() {
	for _, l := range k.made {
		l.world.view, l.world.win = nil, nil
	}
	k.made, k.spare = k.made[:0], append(k.spare, k.made...)
}

// lasting returns a lasting that is not in use.
func (k *kept) lasting() *lasting {
	l := &lasting{}
	if n := len(k.spare); n > 0 {
		l, k.spare = k.spare[n-1], k.spare[:n-1]
	}
	k.made = append(k.made, l)
	return l
}

// foreseen is the calendar of a vnode.
type foreseen struct {
	calendar.Vnode
	runs bool // they are in it
	busy bool // somebody is to get something of it, or of what it shares

	vnode      *state.Vnode // that it was read of
	read, till pbs.Time     // it holds from the one until before the other
	jobs       []pbs.JobID  // that it was read of
	stale      bool
	version    uint64    // the number of the read
	node       int32     // that it is in worlds; known once it is in the timeline
	before     *foreseen // what it was before the cycle changed it; nil: it has not
}

// keptRun is a job as it was when a calendar was read of it.
type keptRun struct {
	job *state.Job
	on  int // in so many calendars
}

// A period is the time of an occurrence.
type period struct{ from, until pbs.Time }

func (p period) compare(o period) int {
	return cmp.Or(cmp.Compare(p.from, o.from), cmp.Compare(p.until, o.until))
}

// forget drops everything that was kept.
func (k *kept) forget() { *k = kept{} }

// follow drops what does not hold in a view any more.
func (k *kept) follow(v *state.View) {
	for _, s := range k.changed {
		was := s.before
		s.Vnode, s.busy, s.before = was.Vnode, was.busy, nil
	}
	clear(k.changed)
	k.changed = k.changed[:0]
	k.cycle++
	if k.vnodes == nil || v.Index() < k.index || v.Index() == k.index && v.Digest() != k.digest {
		*k = kept{vnodes: map[pbs.VnodeName]*foreseen{}, runs: map[pbs.JobID]*keptRun{}, resvs: map[uint64]*state.Reservation{}}
		k.followReservations(v)
	} else if v.Index() != k.index {
		k.followReservations(v)
		k.followRuns(v)
	}
	k.index, k.digest = v.Index(), v.Digest()
}

// followRuns drops the calendars of runs that end at another time than before.
func (k *kept) followRuns(v *state.View) {
	if len(k.runs) == 0 {
		return
	}
	for j := range v.JobsChanged(k.index+1, 0, 0) {
		run, known := k.runs[j.ID]
		if !known {
			continue
		}
		if !sameRun(run.job, j) {
			k.drop(run.job)
		}
		run.job = j
	}
}

// sameRun reports whether calendars tell the same of a job as before.
func sameRun(a, b *state.Job) bool {
	text := func(j *state.Job, name string) string {
		value, _ := j.Resources.Get(name)
		return value
	}
	one, other := a.LastRun(), b.LastRun()
	return a.State == b.State && a.Started == b.Started && text(a, "walltime") == text(b, "walltime") && text(a, "soft_walltime") == text(b, "soft_walltime") && text(a, "place") == text(b, "place") &&
		one.Number == other.Number && one.StoppedFor == other.StoppedFor && one.Phases == other.Phases && one.ExecVnode.Equal(other.ExecVnode)
}

// drop has the calendars read anew of the vnodes of a job; one that waits has none.
func (k *kept) drop(j *state.Job) {
	k.stale(j.LastRun().AllVnodes())
}

func (k *kept) stale(nodes spec.ExecVnode) {
	for _, ch := range nodes {
		for _, part := range ch.Parts {
			if s := k.vnodes[part.Vnode]; s != nil {
				s.stale = true
				k.timeline.note(s.node)
			}
		}
	}
}

// followReservations drops the calendars of what has become of reservations, and brings the times at which they begin up to date.
func (k *kept) followReservations(v *state.View) {
	changed := v.Reservations()
	if k.index > 0 {
		changed = v.ReservationsChanged(k.index)
	}
	var gone, come []period
	for r := range changed {
		was := k.resvs[r.Seq]
		k.resvs[r.Seq] = r
		gone, come = appendPeriods(gone, was), appendPeriods(come, r)
		k.differ(was, r)
	}
	if len(k.resvs) > v.ReservationCount() {
		for seq, was := range k.resvs {
			if _, there := v.Reservation(was.ID); !there {
				gone = appendPeriods(gone, was)
				k.differ(was, nil)
				delete(k.resvs, seq)
			}
		}
	}
	k.replace(gone, come)
}

// appendPeriods adds the times of the occurrences that have their vnodes promised and not yet; of no reservation there are none.
func appendPeriods(all []period, r *state.Reservation) []period {
	if r == nil {
		return all
	}
	for n := range r.Occurrences {
		if len(r.Occurrences[n].Nodes) > 0 && (n > 0 || !begun(r)) {
			from, until := r.Times(n)
			all = append(all, period{from, until})
		}
	}
	return all
}

// replace takes some times out of begins, and puts others in.
func (k *kept) replace(gone, come []period) {
	if len(gone) == 0 && len(come) == 0 {
		return
	}
	slices.SortFunc(gone, period.compare)
	slices.SortFunc(come, period.compare)
	merged := make([]period, 0, len(k.begins)-len(gone)+len(come))
	for _, p := range k.begins {
		if len(gone) > 0 && gone[0] == p {
			gone = gone[1:]
			continue
		}
		for len(come) > 0 && come[0].compare(p) <= 0 {
			merged, come = append(merged, come[0]), come[1:]
		}
		merged = append(merged, p)
	}
	k.begins = append(merged, come...)
}

// beginsFrom returns when occurrences begin, from a time on, each time once. An occurrence that is late counts as about to begin.
func (k *kept) beginsFrom(now pbs.Time) []pbs.Time {
	ahead, _ := slices.BinarySearchFunc(k.begins, now, func(p period, now pbs.Time) int { return cmp.Compare(p.from, now+1) })
	all := slices.Grow(k.ahead[:0], 1+len(k.begins)-ahead)
	if slices.ContainsFunc(k.begins[:ahead], func(p period) bool { return p.until > now }) {
		all = append(all, now+1)
	}
	for _, p := range k.begins[ahead:] {
		if len(all) == 0 || all[len(all)-1] != p.from {
			all = append(all, p.from)
		}
	}
	k.ahead = all
	return all
}

// conflicts returns an empty map, for one cycle after the other.
func (k *kept) conflicts() map[*class]conflict {
	if k.tooLong == nil {
		k.tooLong = map[*class]conflict{}
	}
	clear(k.tooLong)
	return k.tooLong
}

// differ drops the calendars of the vnodes of occurrences in which two states of a reservation differ; nil: it is none. The
// present one may have begun, or ended, without a difference in its record.
func (k *kept) differ(was, is *state.Reservation) {
	var old, now []state.Occurrence
	if was != nil {
		old = was.Occurrences
	}
	if is != nil {
		now = is.Occurrences
	}
	same := was != nil && is != nil && was.Length == is.Length && was.Placement() == is.Placement()
	var last spec.ExecVnode
	drop := func(o state.Occurrence) {
		if !o.Nodes.Equal(last) {
			last = o.Nodes
			k.stale(o.Nodes)
		}
	}
	if len(old) > 0 {
		drop(old[0])
		old = old[1:]
	}
	if len(now) > 0 {
		drop(now[0])
		now = now[1:]
	}
	for len(old) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].Start < now[0].Start:
			drop(old[0])
			old = old[1:]
		case len(old) == 0 || now[0].Start < old[0].Start:
			drop(now[0])
			now = now[1:]
		default:
			if !same || !old[0].Nodes.Equal(now[0].Nodes) {
				drop(old[0])
				drop(now[0])
			}
			old, now = old[1:], now[1:]
		}
	}
}

// holds reports whether what was read of a vnode is what is read of it now.
func (s *foreseen) holds(vn *state.Vnode, now pbs.Time) bool {
	return !s.stale && s.vnode == vn && s.read <= now && now < s.till
}

// anew returns an empty calendar for a vnode.
func (k *kept) anew(s *foreseen, vn *state.Vnode, now pbs.Time) *foreseen {
	if s == nil {
		s = &foreseen{}
		k.vnodes[vn.Name] = s
	}
	for _, id := range s.jobs {
		if run := k.runs[id]; run != nil {
			if run.on--; run.on == 0 {
				delete(k.runs, id)
			}
		}
	}
	s.Clear()
	k.reads++
	k.timeline.note(s.node)
	*s = foreseen{Vnode: s.Vnode, vnode: vn, read: now, till: calendar.Forever, jobs: s.jobs[:0], version: k.reads, node: s.node}
	return s
}

// notes notes that a calendar was read of a job.
func (k *kept) notes(s *foreseen, v *state.View, id pbs.JobID) {
	run := k.runs[id]
	if run == nil {
		j, ok := v.Job(id)
		if !ok {
			return
		}
		run = &keptRun{job: j}
		k.runs[id] = run
	}
	run.on++
	s.jobs = append(s.jobs, id)
}

// changing returns the calendar of a vnode to be changed, until the next cycle.
func (f *future) changing(vn *state.Vnode) *foreseen {
	s := f.of(vn, true)
	f.own = nil
	if s.before == nil {
		s.before = &foreseen{Vnode: s.Clone(), busy: s.busy}
		f.kept.changed = append(f.kept.changed, s)
	}
	return s
}
