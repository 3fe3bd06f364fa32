package command

import (
	"slices"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

const (
	// maxRouted is how many jobs one tick of the clock tries to route. While they find their way
	// the next tick comes soon.
	maxRouted = 500
	// routeRetry is PBS's route_retry_time in seconds.
	routeRetry = 30
)

// enter brings a new job, or one that moves, into a queue and, when that one routes and
// is started, on to one of its destinations. It returns where the job is then.
func enter(tx *state.Tx, q *state.Queue, j *state.Job, by arrival) (*state.Queue, error) {
	if err := arrive(tx, q, j, by); err != nil {
		return nil, err
	}
	return onward(tx, q, j, tried{})
}

// tried are the routing queues that a job was in on its way. Each is tried once: one that
// found no destination finds none when it is reached by another way, and the ways through
// queues that lead to each other are too many.
type tried map[pbs.QueueName]bool

// onward routes a job that has come into a queue, if it is to go on now.
func onward(tx *state.Tx, q *state.Queue, j *state.Job, before tried) (*state.Queue, error) {
	if !q.Routes() || !q.Started || !mayLeave(q, j, tx.Now()) {
		return q, nil
	}
	to, err := route(tx, q, j, before)
	if err != nil || to != nil {
		return to, err
	}
	return q, nil
}

// arrive makes a job what it is in a queue, with the defaults of that one, if it may come
// in.
func arrive(tx *state.Tx, q *state.Queue, j *state.Job, by arrival) error {
	for _, name := range j.Defaults {
		j.Resources = j.Resources.Unset(name)
	}
	asked := j.Resources
	if by == submitted {
		if err := placeAlone(tx, q, j); err != nil {
			return err
		}
	}
	if err := completeResources(tx, q, j); err != nil {
		return err
	}
	j.Queue, j.Defaults = q.Name, nil
	if err := reserved(tx, q, j); err != nil {
		return err
	}
	boundsAsDefaults(tx, q, j)
	spaced(q, j)
	j.Defaults = namesNotIn(j.Resources, asked)
	return admit(tx, q, j, by)
}

// placeAlone refuses a job that says how chunks lie of which it asks for none, as PBS does
// (specification: breadth section 4).
func placeAlone(tx *state.Tx, q *state.Queue, j *state.Job) error {
	place, ok := j.Resources.Get("place")
	if !ok {
		return nil
	}
	if _, err := spec.ParsePlace(place); err != nil {
		return err
	}
	if _, ok := j.Resources.Get("select"); ok {
		return nil
	}
	if _, ok := jobDefaults(tx, q).Get("select"); ok {
		return nil
	}
	return pbs.Refuse(pbs.PlaceAlone)
}

// boundsAsDefaults gives the job what it may have at most of a resource of which nobody
// said how much it wants, as PBS does. Those of chunks have the defaults of chunks.
func boundsAsDefaults(tx *state.Tx, q *state.Queue, j *state.Job) {
	for _, it := range merged(q.Resources("resources_max"), tx.Server().Resources("resources_max")) {
		name := it.Name
		if name == "walltime" && shrinksToFit(j) {
			name = "max_walltime"
		}
		_, has := j.Resources.Get(name)
		if def, known := tx.Resource(name); known && !has && !def.AtHost() && def.Flags&resource.ReadOnly == 0 {
			j.Resources = j.Resources.Set(name, it.Value)
		}
	}
}

// namesNotIn returns the names of a list that are not in another one.
func namesNotIn(list, other resource.List) []string {
	var names []string
	for _, it := range list {
		if _, ok := other.Get(it.Name); !ok && it.Name != requestedSelect {
			names = append(names, it.Name)
		}
	}
	return names
}

// mayLeave reports whether a job may go on from a routing queue as it is.
func mayLeave(q *state.Queue, j *state.Job, now pbs.Time) bool {
	return (j.Holds == 0 || q.Bool("route_held_jobs")) && (j.ExecAt <= now || q.Bool("route_waiting_jobs"))
}

// route finds the first destination that takes the job: nil if there is none now, and one
// may be later; a refusal if none ever will.
func route(tx *state.Tx, from *state.Queue, j *state.Job, before tried) (*state.Queue, error) {
	before[from.Name] = true
	later := false
	for _, destination := range from.List("route_destinations") {
		q, ok := destinationOf(tx, destination)
		if !ok || before[q.Name] {
			continue
		}
		next := *j
		if err := arrive(tx, q, &next, routed); err != nil {
			later = later || passes(err)
			continue
		}
		to, err := onward(tx, q, &next, before)
		if err != nil {
			continue
		}
		*j = next
		return to, nil
	}
	if later {
		return nil, nil
	}
	return nil, pbs.Refuse(pbs.RouteRejected)
}

// destinationOf finds QUEUE, or QUEUE@SERVER if the server is this one.
func destinationOf(tx *state.Tx, destination string) (*state.Queue, bool) {
	name, server, _ := strings.Cut(destination, "@")
	if server != "" && server != tx.Cluster().Name {
		return nil, false
	}
	return tx.Queue(pbs.QueueName(name))
}

// passes reports whether a queue that refuses a job now may take it later.
func passes(err error) bool {
	switch pbs.CodeOf(err) {
	case pbs.QueueDisabled, pbs.TooManyJobs, pbs.TooMuchResource:
		return true
	}
	return false
}

// MoveJob brings a job into another queue: qmove.
type MoveJob struct {
	Job        pbs.JobID     `cbor:"1,keyasint"`
	Queue      pbs.QueueName `cbor:"2,keyasint"`
	Privileged bool          `cbor:"3,keyasint,omitempty"` // an operator's wish is above limits and access lists
}

// Apply moves a job that does not run. What it did not ask for itself it has from its new
// queue and the server.
func (c *MoveJob) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if c.Job.Sub() > 0 {
		return pbs.Refuse(pbs.InvalidRequest)
	}
	j, err := liveJob(tx, c.Job)
	if err != nil {
		return err
	}
	if j.Live() || j.State == pbs.Begun {
		return pbs.Refuse(pbs.BadState)
	}
	q, ok := tx.Queue(c.Queue)
	if !ok {
		return pbs.Refuse(pbs.UnknownQueue)
	}
	by := moved
	if c.Privileged {
		by = placed
	}
	next := *j
	if _, err := enter(tx, q, &next, by); err != nil {
		return err
	}
	tx.PassedThrough(q.Name, &next, m.Asker)
	putMoved(tx, m, j, &next)
	return nil
}

// putMoved stores a job that has come into another queue.
func putMoved(tx *state.Tx, m Meta, old, j *state.Job) {
	j.Queued, j.Comment, j.Wait = m.At, "", nil
	j.DropPending()
	rebind(tx, old, j)
	tx.PutJob(j)
	tx.Emit(state.Event{
		Kind: state.JobMoved, Job: j, By: m.Asker, Object: string(old.Queue),
		Text: string(j.Queue) + "@" + tx.Cluster().Name,
	})
}

// routeWaiting tries again to route the jobs of routing queues, each queue when its
// route_retry_time has passed, so many jobs at a time.
func routeWaiting(tx *state.Tx, m Meta) {
	left := maxRouted
	for _, q := range slices.Collect(tx.Queues()) {
		if left > 0 && q.Routes() && q.Started {
			left -= routeFrom(tx, m, q, left)
		}
	}
}

// routeFrom routes jobs of one queue, and goes on behind the last one the next time.
func routeFrom(tx *state.Tx, m Meta, q *state.Queue, most int) int {
	retry := q.Int("route_retry_time")
	if retry == 0 {
		retry = routeRetry
	}
	if q.RouteNext == 0 && m.At < q.Routed+pbs.Time(retry)*pbs.Time(time.Second) {
		return 0
	}
	jobs, next := tx.RoutingJobs(q.Name, q.RouteNext, most)
	if len(jobs) == 0 && q.RouteNext == 0 {
		return 0
	}
	tried := *q
	tried.Routed, tried.RouteNext, tried.RouteOn = m.At, next, false
	tx.PutQueue(&tried)
	left := false
	for _, j := range jobs {
		if j, ok := tx.Job(j.ID); ok && j.State != pbs.Finished { // one before it may have taken it along
			left = routeOne(tx, m, q, j) || left
		}
	}
	if now, ok := tx.Queue(q.Name); ok && left && next != 0 {
		goesOn := *now
		goesOn.RouteOn = true
		tx.PutQueue(&goesOn)
	}
	return len(jobs)
}

// routeOne moves a job on, leaves it for another time, or ends it: when no destination
// will ever take it, or it has waited for longer than route_lifetime. It reports whether the job
// has left the queue.
func routeOne(tx *state.Tx, m Meta, q *state.Queue, j *state.Job) bool {
	if life := q.Int("route_lifetime"); life > 0 && m.At > j.Queued+pbs.Time(life)*pbs.Time(time.Second) {
		endRouting(tx, m, j, pbs.RouteExpired.Text())
		return true
	}
	if !mayLeave(q, j, tx.Now()) {
		return false
	}
	next := *j
	switch to, err := route(tx, q, &next, tried{}); {
	case err != nil:
		endRouting(tx, m, j, pbs.RouteRejected.Text())
	case to != nil:
		putMoved(tx, m, j, &next)
	default:
		return false
	}
	return true
}

// endRouting ends a job that does not run, for a reason of the server's own.
func endRouting(tx *state.Tx, m Meta, j *state.Job, why string) {
	next := *j
	if err := move(&next, pbs.EventDelete); err != nil {
		return
	}
	if next.Array != nil {
		next.EditArray().Queued = nil
	}
	next.Substate, next.Ended, next.Comment = pbs.SubTerminated, m.At, why
	discard(tx, &next)
	tx.PutJob(&next)
	tx.DeleteScript(j.ID)
	tx.Emit(state.Event{Kind: state.JobAborted, Job: &next, Text: why})
	concluded(tx, &next)
	retire(tx, j.ID, false)
}

// withoutName returns the names without one of them.
func withoutName(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}
