package state

import (
	"errors"
	"fmt"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Check verifies the laws that a state can break by itself: indexes and counts
// agree with their tables, the digest with the records, no vnode was promised
// more than it had (L3), and what jobs and vnodes say of each other matches.
func (v *View) Check() error { return errors.Join(v.checkDigest(), v.CheckLaws()) }

// CheckLaws is Check but for the digest, whose proof reads every record: it is what a
// test can afford after each of many entries.
func (t *tables) CheckLaws() error {
	return errors.Join(t.checkIndexes(), t.CheckContent(), t.checkAllPromises())
}

// CheckContent verifies what records say of each other. It is all that can be wrong with a
// state whose records were just loaded: indexes, counts and digest are the Loader's own work.
func (t *tables) CheckContent() error {
	return errors.Join(t.checkVnodes(), t.checkLent(), t.checkJobs(), t.checkReservations())
}

func (t *tables) checkDigest() error {
	sum := recordSum(tagCluster, t.cluster) + recordSum(tagServer, t.server)
	sum += sumOf(&t.queues) + sumOf(&t.vnodes) + sumOf(&t.hosts) + sumOf(&t.jobs) + sumOf(&t.scripts) +
		sumOf(&t.orders) + sumOf(&t.requests) + sumOf(&t.tombstones) + sumOf(&t.tokens) + sumOf(&t.identities) +
		sumOf(&t.replicas) + sumOf(&t.resources) + sumOf(&t.parts) +
		sumOf(&t.hooks) + sumOf(&t.hookFiles) + sumOf(&t.hookTasks) + sumOf(&t.mails) + sumOf(&t.shares) + sumOf(&t.accounts) + sumOf(&t.reservations) + sumOf(&t.lsf)
	if sum != t.digest {
		return fmt.Errorf("digest is %x, the records sum to %x", t.digest, sum)
	}
	return nil
}

func sumOf[R any](t *table[R]) uint64 {
	var sum uint64
	for r := range t.all() {
		sum += recordSum(t.tag, r)
	}
	return sum
}

func (t *tables) checkIndexes() error {
	fresh := newTables()
	fresh.queues, fresh.resources, fresh.limited, fresh.whose, fresh.partitionOf = t.queues, t.resources, t.limitedResources(), t.limitsSomebody(), t.partitions()
	for j := range t.Jobs() {
		tx := Tx{tables: fresh}
		tx.reindexJob(nil, j)
		fresh = tx.tables
	}
	var errs []error
	for _, x := range []struct {
		name      string
		want, got int
	}{
		{"queued", fresh.queued.items.Len(), t.queued.items.Len()},
		{"classes of queued", fresh.firsts.items.Len(), t.firsts.items.Len()},
		{"running", fresh.running.items.Len(), t.running.items.Len()},
		{"suspended", fresh.suspended.items.Len(), t.suspended.items.Len()},
		{"releasing", fresh.releasing.items.Len(), t.releasing.items.Len()},
		{"returned subjobs", fresh.returned.items.Len(), t.returned.items.Len()},
		{"jobs with earlier runs", fresh.awaiting.items.Len(), t.awaiting.items.Len()},
		{"routing", fresh.routing.items.Len(), t.routing.items.Len()},
		{"jobs by their names", fresh.namesakes.items.Len(), t.namesakes.items.Len()},
		{"jobs by their time", fresh.due.items.Len(), t.due.items.Len()},
		{"jobs by their age", fresh.aged.items.Len(), t.aged.items.Len()},
		{"jobs of whose start something was said", fresh.foreseen.items.Len(), t.foreseen.items.Len()},
		{"jobs that have something kept for them", fresh.pendings.items.Len(), t.pendings.items.Len()},
		{"what is kept of vnodes", fresh.kept.items.Len(), t.kept.items.Len()},
		{"preempted jobs", fresh.ousted.items.Len(), t.ousted.items.Len()},
		{"history", fresh.history.items.Len(), t.history.items.Len()},
		{"jobs in reservations", fresh.insiders.items.Len(), t.insiders.items.Len()},
		{"reservations by their next moment", t.reservations.count(), t.moments.items.Len()},
		{"jobs by change", t.jobs.count(), t.changed.items.Len()},
		{"tombstones by job", t.tombstones.count(), t.buried.items.Len()},
		{"vnodes by creation", t.vnodes.count(), t.bySeq.items.Len()},
		{"vnodes by host", t.vnodes.count(), t.byHost.items.Len()},
		{"vnodes by change", t.vnodes.count(), t.altered.items.Len()},
		{"reservations by change", t.reservations.count(), t.amended.items.Len()},
		{"requests by age", t.requests.count(), t.requestAge.items.Len()},
	} {
		if x.want != x.got {
			errs = append(errs, fmt.Errorf("index %s has %d entries, want %d", x.name, x.got, x.want))
		}
	}
	blobs := 0
	for s := range t.scripts.all() {
		if isBlob(s) {
			blobs++
		}
	}
	if n := t.blobs.items.Len(); n != blobs {
		errs = append(errs, fmt.Errorf("index scripts that are blobs has %d entries, want %d", n, blobs))
	}
	tasks := 0
	for task := range t.hookTasks.all() {
		if task.ofNewJob() {
			tasks++
		}
	}
	if n := t.unseen.items.Len(); n != tasks {
		errs = append(errs, fmt.Errorf("index jobs that are new to hooks has %d entries, want %d", n, tasks))
	}
	sharers, fading, partitioned, ofQueue, takers := 0, 0, 0, 0, 0
	for v := range t.Vnodes() {
		if v.anyIndirect() {
			sharers++
		}
		if v.fades() {
			fading++
		}
		if v.hasPartition() {
			partitioned++
		}
		if v.isOfQueue() {
			ofQueue++
		}
		if v.Exclusive() {
			takers++
		}
	}
	if n := t.fading.items.Len(); n != fading {
		errs = append(errs, fmt.Errorf("index vnodes of which less is held as time passes has %d entries, want %d", n, fading))
	}
	if n := t.inPartition.items.Len(); n != partitioned {
		errs = append(errs, fmt.Errorf("index vnodes in partitions has %d entries, want %d", n, partitioned))
	}
	if n := t.ofQueue.items.Len(); n != ofQueue {
		errs = append(errs, fmt.Errorf("index vnodes of queues has %d entries, want %d", n, ofQueue))
	}
	if n := t.takers.items.Len(); n != takers {
		errs = append(errs, fmt.Errorf("index vnodes that a run has to itself has %d entries, want %d", n, takers))
	}
	if n := t.sharers.items.Len(); n != sharers {
		errs = append(errs, fmt.Errorf("index vnodes that share has %d entries, want %d", n, sharers))
	}
	errs = append(errs, t.checkTallies(&fresh), t.checkClasses(&fresh))
	for q := range fresh.counts.all() {
		if got := t.CountsOf(q.queue); got != q.counts {
			errs = append(errs, fmt.Errorf("queue %s counts %v, want %v", q.queue, got, q.counts))
		}
		if got, ok := t.counts.get(&counted{queue: q.queue}); ok && !resource.Equal(nonZero(got.assigned, t), nonZero(q.assigned, t), t) {
			errs = append(errs, fmt.Errorf("queue %s has %v assigned, want %v", q.queue, got.assigned, q.assigned))
		}
	}
	return errors.Join(errs...)
}

// checkVnodes verifies L3 and that what a vnode counts as assigned is what its jobs hold.
func (t *tables) checkVnodes() error {
	var errs []error
	for v := range t.Vnodes() {
		sum, exclusive := resource.List(nil), 0
		used := map[pbs.ReservationID]resource.List{}
		for _, r := range v.Reserved {
			if more, err := resource.Add(sum, r.Items, t); err == nil {
				sum = more
			}
			errs = append(errs, t.checkReserved(v, r))
		}
		for _, j := range v.Jobs {
			charged := sum
			if j.Reservation != "" {
				charged = used[j.Reservation]
			}
			more, err := resource.Add(charged, j.Items, t)
			switch {
			case err != nil:
			case j.Reservation != "":
				used[j.Reservation] = more
			default:
				sum = more
			}
			if j.Exclusive && !j.Suspended {
				exclusive++
			}
			errs = append(errs, t.checkHolder(v, j))
		}
		if fmt.Sprint(nonZero(sum, t)) != fmt.Sprint(nonZero(v.Assigned, t)) {
			errs = append(errs, fmt.Errorf("vnode %s has %v assigned, its jobs hold %v", v.Name, v.Assigned, sum))
		}
		errs = append(errs, checkUsed(v, used, t))
		if active := v.Active(); exclusive > 0 && active > 1 {
			errs = append(errs, fmt.Errorf("vnode %s is exclusive and has %d jobs (L3)", v.Name, active))
		}
		if short := t.Exceeded(v); short != nil && !v.OverCommitted {
			errs = append(errs, fmt.Errorf("vnode %s is promised more than it has (L3): %w", v.Name, short))
		}
	}
	return errors.Join(errs...)
}

// checkHolder verifies that the run that holds a share of a vnode is a live one.
func (t *tables) checkHolder(v *Vnode, held VnodeJob) error {
	j, ok := t.Job(held.Job)
	switch {
	case !ok:
		return fmt.Errorf("vnode %s is held by %s, which is no job", v.Name, held.Job)
	case !j.Live():
		return fmt.Errorf("vnode %s is held by %s in state %s", v.Name, held.Job, j.State)
	case j.RunCount != held.RunCount:
		return fmt.Errorf("vnode %s is held by run %d of %s, which is at run %d (L2)", v.Name, held.RunCount, held.Job, j.RunCount)
	case j.Suspended() && !held.Suspended || j.State == pbs.Running && !j.Suspended() && held.Suspended:
		return fmt.Errorf("vnode %s and job %s differ about its being suspended", v.Name, held.Job)
	}
	return nil
}

func (t *tables) checkJobs() error {
	var errs []error
	for j := range t.Jobs() {
		if _, ok := t.Queue(j.Queue); !ok && j.State != pbs.Finished {
			errs = append(errs, fmt.Errorf("job %s is in queue %q, which is none", j.ID, j.Queue))
		}
		if j.Seq >= t.cluster.NextJob && !t.cluster.NumbersAgain {
			errs = append(errs, fmt.Errorf("job %s is beyond the next job id %d", j.ID, t.cluster.NextJob))
		}
		if err := errors.Join(checkRun(j), t.checkArray(j), t.checkDepends(j), t.checkSisters(j), t.checkRelease(j)); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// checkArray verifies that each subjob is queued, or has a record, or is over, and that
// the parent counts the live ones.
func (t *tables) checkArray(j *Job) error {
	if j.IsSubjob() {
		if parent, ok := t.Parent(j); j.State != pbs.Finished && (!ok || parent.State == pbs.Finished) {
			return fmt.Errorf("subjob %s in state %s has lost its array", j.ID, j.State)
		}
		return nil
	}
	if j.Array == nil {
		return nil
	}
	live, suspended := 0, 0
	for sub := range t.RecordedSubjobs(j) {
		if j.Array.Queued.Has(sub.Index()) {
			return fmt.Errorf("subjob %s is queued in its array and has a record (L2)", sub.ID)
		}
		if sub.State == pbs.Running || sub.State == pbs.Exiting {
			live++
		}
		if sub.Suspended() {
			suspended++
		}
	}
	if live != int(j.Array.Live) {
		return fmt.Errorf("array %s counts %d live subjobs, and has %d", j.ID, j.Array.Live, live)
	}
	if suspended != int(j.Array.Suspended) {
		return fmt.Errorf("array %s counts %d suspended subjobs, and has %d", j.ID, j.Array.Suspended, suspended)
	}
	if left := j.Array.Queued.Minus(j.Array.Indices); len(left) > 0 {
		return fmt.Errorf("array %s has %s queued beyond %s", j.ID, left, j.Array.Indices)
	}
	return nil
}

// checkDepends verifies that both ends of a dependency know of each other, and that who
// waits is held.
func (t *tables) checkDepends(j *Job) error {
	if j.State == pbs.Finished {
		return nil
	}
	if j.Depends.Wait() && (j.State == pbs.Queued || j.State == pbs.Waiting) {
		return fmt.Errorf("job %s in state %s waits for other jobs: %s", j.ID, j.State, j.Depends.Text(j.ID))
	}
	if first, ok := t.FirstNamed(j.Owner.Name, j.Name); j.Depends.Single() && (!ok || first.ID == j.ID) {
		return fmt.Errorf("job %s waits for jobs of its name, and is the first of them", j.ID)
	}
	if err := t.checkRunOne(j); err != nil {
		return err
	}
	for _, d := range j.Depends {
		for _, id := range d.Jobs {
			other, ok := t.Job(id)
			if !ok || !slices.ContainsFunc(other.Depends, func(o Dependency) bool {
				return o.Kind == d.Kind.Mirror() && slices.Contains(o.Jobs, j.ID)
			}) {
				return fmt.Errorf("job %s depends on %s, which does not know: %s", j.ID, id, j.Depends.Text(j.ID))
			}
		}
	}
	return nil
}

// checkRunOne verifies that a job is held by its set if another one of it is under way, and only then.
func (t *tables) checkRunOne(j *Job) error {
	under := slices.ContainsFunc(j.Depends.RunOne(), func(id pbs.JobID) bool {
		other, ok := t.Job(id)
		return ok && other.UnderWay()
	})
	if want := under && !j.UnderWay(); j.Depends.HeldByOne() != want {
		return fmt.Errorf("job %s in state %s is held by its set: %t, want %t: %s", j.ID, j.State, j.Depends.HeldByOne(), want, j.Depends.Text(j.ID))
	}
	return nil
}
