package state

import (
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// EventKind says what an Event tells.
type EventKind uint8

// The kinds of event. Those that fsm/acct writes as an accounting record say so.
const (
	JobQueued        EventKind = iota + 1 // Q
	JobRun                                // vnodes were assigned
	JobStarted                            // S
	JobEnded                              // E
	JobRequeued                           // R
	JobRequeuedUnrun                      // the start came to nothing; log only
	JobDeleteAsked                        // D
	JobAborted                            // A: Text
	JobAltered                            // a: Changes
	JobHeld                               // log only
	JobReleased                           // log only
	JobSignaled                           // log only: Text is the signal
	JobRerunAsked                         // log only
	JobDequeued                           // log only
	HostWentUp                            // log only
	HostWentDown                          // log only: Text
	ObjectChanged                         // log only: qmgr; Text, Attributes
	LeaderChanged                         // log only
	HostGivenUp                           // log only: Text; By is who forgot it, zero when its fence has fallen
	HostTroubled                          // log only: Text is why it takes no jobs; empty: it does again
	TrustChanged                          // log only: Text is what became of tokens, keys and certificates
	EpochBegan                            // log only: Text is why
	JobMoved                              // M: Text is QUEUE@SERVER, Object the queue that it left
	JobSuspended                          // z: Text is resources_released
	JobResumed                            // r
	LicensesCounted                       // L: Text; Object is its id
	HookFileSent                          // log only: Object is the file, Text the mom's HOST:PORT
	HookFileDeleted                       // log only: the same
	HookAsked                             // log only: Object is the host, Text what a hook on it asked for
	HookVnodeChanged                      // log only: Object is the vnode, Text the change
	HookVnodeRefused                      // log only: Object is the host, Text why
	HookNewsPending                       // log only: Object is the vnode, Text says which mom has hooks to come
	JobCheckpointed                       // C
	JobRestarted                          // T
	CheckpointFailed                      // log only: Text is why
	JobPhaseEnded                         // u: Used is the usage of the phase
	JobPhaseBegan                         // c
	JobPhasesOver                         // e: Used is the usage of the last phase
	JobCounted                            // S, before the program was accepted: JobStarted writes none then
	JobAdjusted                           // s
	VnodeLeft                             // log only: Object is the host, Text says which vnode lost a job, or how many cpus
	JobRefused                            // log only: Text is why the server could not do what the job wanted
	CheckpointMade                        // log only
	JobNoted                              // log only: Text is what the server found out about the job

	ReservationAsked      // U: By is who asks
	ReservationConfirmed  // Y: By is who confirms; Text: alter, if it is an alteration that is confirmed
	ReservationBegan      // B
	ReservationRemoved    // k, of its owner, or K: By
	ReservationDenied     // log only
	ReservationAlterAsked // log only: Text says which of start, end, select change, to the values of its Ask
	ReservationAlterDenied
	ReservationRetried // log only: Text and its Retry say when other vnodes are looked for
	ReservationIdled   // log only: Text is for how many seconds
	ReservationOver    // log only: an occurrence is over, or it was deleted; By

	JobAccrued // log only: Text is what its accrue_type is by now, and was

	VnodeChanged // log only: Object is the vnode, Text what its state is by now, and was
)

// An Event tells what a proposal did, for accounting and logs. It is the same on
// every replica; events of a refused proposal are dropped with it.
type Event struct {
	Kind       EventKind
	Record     uint64 // number of the accounting record, 0 if it has none
	At         pbs.Time
	Job        *Job     // as it was when the event happened; nil for events of other objects
	By         pbs.User // who asked
	Object     string   // name of another object
	Text       string
	Changes    []Change      // JobAltered
	Attributes []string      // ObjectChanged: "scheduling = True", "state + offline"
	Used       resource.List // JobPhaseEnded, JobPhasesOver
	Quiet      bool          // JobDeleteAsked: nobody is to get mail; JobAltered: hooks did it, whose log says so
	Unrecorded bool          // JobStarted: JobCounted was written instead

	Reservation *Reservation // as it was when the event happened; nil for events of other objects
}

// PBS's words before what has changed of an object.
const (
	AttributesSet   = "attributes set: "
	AttributesUnset = "attributes unset: "
)

// A Change is one altered attribute as accounting writes it.
type Change struct {
	Name  string // "Priority", "Resource_List.walltime"
	Value string // "UNSET" when it was removed
}

// accounted are the kinds that become accounting records.
var accounted = map[EventKind]bool{
	JobQueued: true, JobStarted: true, JobEnded: true, JobRequeued: true,
	JobDeleteAsked: true, JobAborted: true, JobAltered: true, JobMoved: true,
	JobSuspended: true, JobResumed: true, LicensesCounted: true,
	JobPhaseEnded: true, JobPhaseBegan: true, JobPhasesOver: true,
	JobCounted: true, JobAdjusted: true,
	JobCheckpointed: true, JobRestarted: true,
	ReservationAsked: true, ReservationConfirmed: true, ReservationBegan: true, ReservationRemoved: true,
}

// Emit adds an event and numbers it if it becomes an accounting record.
func (tx *Tx) Emit(e Event) {
	e.At = tx.Now()
	if accounted[e.Kind] && !e.Unrecorded {
		c := tx.EditCluster()
		c.LastRecord++
		e.Record = c.LastRecord
		if e.Job != nil {
			e.Job = tx.recorded(e.Job)
		}
	}
	tx.events = append(tx.events, e)
	tx.mail(e)
	switch e.Kind {
	case JobQueued, JobMoved:
		tx.hookJob("postqueuejob", e)
	case JobEnded, JobAborted, JobRequeued, JobCheckpointed:
		tx.hookJob("jobobit", e)
	case ReservationConfirmed:
		tx.hookReservation("resv_confirm", e)
	case ReservationBegan:
		tx.hookReservation("resv_begin", e)
	case ReservationOver:
		tx.hookReservation("resv_end", e)
	}
}

// hookJob notes that hooks have still to hear of the event; most clusters have none.
func (tx *Tx) hookJob(event string, e Event) {
	if tx.HasHooksAt(event) && e.Job != nil {
		tx.PutHookTask(&HookTask{Event: event, By: e.By, Job: e.Job.ID, Attrs: tx.JobAttributes(e.Job)})
	}
}

// hookReservation is hookJob for a reservation.
func (tx *Tx) hookReservation(event string, e Event) {
	if tx.HasHooksAt(event) {
		tx.PutHookTask(&HookTask{Event: event, By: e.By, Reservation: e.Reservation.ID, Attrs: tx.ReservationForHooks(e.Reservation)})
	}
}

// PassedThrough notes that a job was in a queue on its way to the one that it is in now: the hooks of
// postqueuejob see it in each.
func (tx *Tx) PassedThrough(queue pbs.QueueName, j *Job, by pbs.User) {
	if queue == j.Queue {
		return
	}
	there := *j
	there.Queue = queue
	tx.hookJob("postqueuejob", Event{Job: &there, By: by})
}
