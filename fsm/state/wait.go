package state

import (
	"cmp"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// A WaitCode says why a queued job does not start.
type WaitCode uint8

// The codes. The numbers are in every log and snapshot: append only.
const (
	WaitQueueStopped   WaitCode = iota + 1
	WaitBusy                    // what it asks for is there, and others have it
	WaitSpread                  // no host has all that has to be together
	WaitShort                   // Resource does not suffice
	WaitServerShort             // Resource of the server does not suffice
	WaitQueueShort              // Resource of the queue does not suffice
	WaitLimit                   // a limit of Queue or of the server on Subject is reached
	WaitDedicated               // its queue is, or is not, for dedicated time
	WaitCrossDedicated          // it would run into, or beyond, dedicated time
	WaitPrime                   // its queue is for prime time
	WaitNonprime                // its queue is for other than prime time
	WaitCrossPrime              // it would run into prime time
	WaitCrossNonprime           // it would run beyond prime time
	WaitOrder                   // nothing may pass a job before it
	WaitTop                     // it would delay a job that comes before it
	WaitNoShares                // its owner has no shares
	WaitThreshold               // its score is too low
	WaitRefused                 // a hook refused the start, with Words
	WaitMalformed               // its request cannot be understood, for Words
	WaitNoSpan                  // no placement set is enough, and it may not span sets
	WaitSet                     // others have what is in the placement set of the name Words
	WaitHost                    // a reservation is to have what there is on the host that it names
	WaitNodes                   // the vnodes of its reservation cannot be used
	WaitSlots                   // a limit of LSF on slots is reached, for Words
	WaitLoad                    // hosts have too much load, or have just been given a job, for Words
)

// A Wait is why a queued job does not start, as the scheduler has found it. Comments and lines of logs are
// made from it, and nothing is decided by their words.
type Wait struct {
	Code     WaitCode      `cbor:"1,keyasint"`
	Never    bool          `cbor:"2,keyasint,omitempty"` // whatever ends, it will not start
	Resource string        `cbor:"3,keyasint,omitempty"` // what does not suffice, or what the limit is on; empty: jobs
	Queue    pbs.QueueName `cbor:"4,keyasint,omitempty"` // whose limit it is; empty: the server's
	Subject  Subject       `cbor:"5,keyasint,omitzero"`  // whom the limit counts; without a name: anybody of the kind
	Words    string        `cbor:"6,keyasint,omitempty"`
	Request  string        `cbor:"7,keyasint,omitempty"` // how much of Resource
	Free     string        `cbor:"8,keyasint,omitempty"`
	Total    string        `cbor:"9,keyasint,omitempty"`
	Queued   bool          `cbor:"10,keyasint,omitempty"` // the limit counts jobs in state Q alone
}

// Short returns the wait for a resource that does not suffice.
func Short(code WaitCode, s *resource.Shortage) Wait {
	return Wait{Code: code, Resource: s.Resource, Request: s.Request, Free: s.Free, Total: s.Offered}
}

// Kind returns the wait without its amounts, which change with every start and end.
func (w Wait) Kind() Wait {
	w.Request, w.Free, w.Total = "", "", ""
	return w
}

// Accrues returns the accrue_type of a job that waits so: time in which limits on its owner keep it from
// running is not eligible.
func (w Wait) Accrues() uint8 {
	if w.Code == WaitLimit || w.Code == WaitSlots {
		return AccrueIneligible
	}
	return AccrueEligible
}

// NotRunning begins what is said of jobs that may start later.
const NotRunning = "Not Running: "

// Comment returns what the job's owner reads.
func (w Wait) Comment() string {
	if w.Never {
		return "Can Never Run: " + w.Text()
	}
	return NotRunning + w.Text()
}

// waitTexts are PBS's words for codes without arguments.
var waitTexts = map[WaitCode]string{
	WaitQueueStopped:   "Queue not started.",
	WaitBusy:           "Not enough free nodes available",
	WaitSpread:         "Not enough total nodes available",
	WaitDedicated:      "Dedicated time conflict",
	WaitCrossDedicated: "Job would cross dedicated time boundary",
	WaitPrime:          "Job will run in primetime only",
	WaitNonprime:       "Job will run in nonprimetime only",
	WaitCrossPrime:     "Job would cross into primetime",
	WaitCrossNonprime:  "Job would cross into nonprimetime",
	WaitOrder:          "Job would break strict sorted order",
	WaitTop:            "Job would conflict with reservation or top job",
	WaitNoShares:       "Job has zero shares for fairshare",
	WaitThreshold:      "Job is under job_sort_formula threshold value",
	WaitNoSpan:         "can't fit in the largest placement set, and can't span psets",
	WaitHost:           "Insufficient amount of resource: host ", // with its blank, as in PBS
	WaitNodes:          "No available resources on nodes",
}

// Text returns PBS's words for it, which the scheduler's log has, too.
func (w Wait) Text() string {
	short := &resource.Shortage{Resource: w.Resource, Request: w.Request, Free: w.Free, Offered: w.Total}
	switch w.Code {
	case WaitShort:
		return short.Error()
	case WaitServerShort:
		return short.At("server")
	case WaitQueueShort:
		return short.At("queue")
	case WaitLimit:
		return w.limitText()
	case WaitRefused:
		return "PBS Error: " + w.Words
	case WaitMalformed, WaitSlots, WaitLoad:
		return w.Words
	case WaitSet:
		return "Placement set " + w.Words + " has too few free resources"
	}
	return waitTexts[w.Code]
}

// kindWords are PBS's words for the kinds of subject.
var kindWords = map[byte]string{'u': "user", 'g': "group", 'p': "project"}

// limitText returns PBS's words for a limit that is reached, with the amounts where they are known.
func (w Wait) limitText() string {
	if w.Request != "" {
		amounts := resource.Shortage{Request: w.Request, Free: w.Free, Offered: w.Total}
		return w.limitWords() + " " + amounts.Amounts()
	}
	return w.limitWords()
}

func (w Wait) limitWords() string {
	where := "complex"
	if w.Queue != "" {
		where = "queue " + string(w.Queue)
	}
	in, of, on := "", "", "" // what a limit of jobs in state Q alone adds
	if w.Queued {
		in, of, on = " in 'Q' state", " of jobs in 'Q' state", " for jobs in 'Q' state"
	}
	word, generic := kindWords[w.Subject.Kind], w.Subject.Name == ""
	switch {
	case w.Resource == "" && w.Subject == everybody:
		return "Maximum number of jobs" + in + " already in " + where
	case w.Resource == "" && generic && w.Queue != "": // PBS_GENERIC is called so at whatever queue
		return "would exceed queue generic's per-" + word + " limit" + of
	case w.Resource == "" && generic:
		return "would exceed " + where + "'s per-" + word + " limit" + of
	case w.Resource == "":
		return "Maximum number of jobs" + in + " for " + word + " " + w.Subject.Name + " already in " + where
	case w.Subject == everybody:
		return "would exceed limit on resource " + w.Resource + " in " + where + on
	case generic:
		return "would exceed per-" + word + " limit on resource " + w.Resource + " in " + where + on
	}
	return "would exceed " + word + " " + w.Subject.Name + "'s limit on resource " + w.Resource + " in " + where + on
}

func (w *Wait) compare(o *Wait) int {
	if *w == *o {
		return 0
	}
	return cmp.Or(
		cmp.Compare(w.Code, o.Code), strings.Compare(w.Resource, o.Resource), strings.Compare(string(w.Queue), string(o.Queue)),
		cmp.Compare(w.Subject.Kind, o.Subject.Kind), strings.Compare(w.Subject.Name, o.Subject.Name), strings.Compare(w.Words, o.Words),
		cmp.Compare(truth(w.Never), truth(o.Never)), cmp.Compare(truth(w.Queued), truth(o.Queued)),
		strings.Compare(w.Request, o.Request), strings.Compare(w.Free, o.Free), strings.Compare(w.Total, o.Total))
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Says reports whether the job's comment already says why it waits; with kind, amounts are not compared.
func (j *Job) Says(w Wait, kind bool) bool {
	if j.WaitsToGoOn() { // a run has no wait beside its comment
		return j.Comment == w.Comment()
	}
	if j.Comment != "" || j.Wait == nil {
		return false
	}
	if kind {
		return j.Wait.Kind() == w.Kind()
	}
	return *j.Wait == w
}

// SetWait makes the reason why it waits the job's comment, in place of whatever anybody has said before.
func (tx *Tx) SetWait(j *Job, w Wait) { j.Comment, j.Wait = "", tx.interner.wait(w) }

// CommentText returns the comment: what a user, a hook or the server has said, or why the job waits; while it is suspended by load, by
// which.
func (j *Job) CommentText() string {
	if s := j.LastRun().StoppedByLoad(); s != nil && j.Suspended() {
		return s.comment()
	}
	if j.Comment == "" && j.Wait != nil {
		return j.Wait.Comment()
	}
	return j.Comment
}

// WaitKind returns for what kind of reason a job waits, nothing if its comment says something else.
func (j *Job) WaitKind() Wait {
	if j.Comment != "" || j.Wait == nil {
		return Wait{}
	}
	return j.Wait.Kind()
}
