package check

import (
	"fmt"
	"strings"
	"time"

	"rampart/fsm/pbs"
)

// A Kind is what a client asked for.
type Kind uint8

// The kinds.
const (
	Submit Kind = iota + 1
	Delete
	List // every job, linearizable
	Look // at one job, linearizable
	Hold
	Release
	Alter // of the priority
	Rerun
	SetQueue     // an attribute of a queue that is True or False
	LookQueues   // at those attributes of all queues
	ReleaseNodes // of the sisters of a running job
	Suspend
	Resume
	Reserve
	AlterReservation // its length or its start
	DeleteReservation
	SubmitInside // a job to the queue of a reservation, or one that is to come into one
	MoveInside   // such a job, into the queue of a reservation
)

var kindNames = [...]string{
	Submit: "submit", Delete: "delete", List: "list", Look: "look at", Hold: "hold", Release: "release", Alter: "alter",
	Rerun: "rerun", SetQueue: "set queue", LookQueues: "look at queues", ReleaseNodes: "release nodes of",
	Suspend: "suspend", Resume: "resume", Reserve: "reserve", AlterReservation: "alter reservation", DeleteReservation: "delete reservation",
	SubmitInside: "submit to a reservation", MoveInside: "move into a reservation",
}

// String returns the kind as a word.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "?"
	}
	return kindNames[k]
}

// reads reports whether the operation only looks.
func (k Kind) reads() bool { return k == List || k == Look || k == LookQueues }

// modelled reports whether the model of a job knows the kind.
func (k Kind) modelled() bool { return k < ReleaseNodes }

// An Outcome is what a client learned of its request (L6).
type Outcome uint8

// The outcomes.
const (
	Done    Outcome = iota + 1
	Refused         // by the system: it changed nothing, and says why
	Failed          // nobody could do it, and nobody will
	Unknown         // it may take effect at any time, or never
)

var outcomeNames = [...]string{Done: "done", Refused: "refused", Failed: "failed", Unknown: "unknown"}

// String returns the outcome as a word.
func (o Outcome) String() string {
	if o == 0 || int(o) >= len(outcomeNames) {
		return "?"
	}
	return outcomeNames[o]
}

// An Op is one request of a client with its answer. Times count from the start
// of the run, by one clock.
type Op struct {
	Client int
	Kind   Kind
	Name   string // of the job, given by the client and unique: known even if no answer came
	Job    string // its id; empty if the client does not know it
	Start  time.Duration
	End    time.Duration // of an unknown outcome: when the client gave up
	Result Outcome
	Code   pbs.Code // of the refusal
	Text   string   // of the refusal

	Value  string          // the priority, or the attribute's new value
	Held   bool            // submitted with a user hold
	Once   bool            // submitted as a job that must not run again
	Array  bool            // submitted as an array
	Spread bool            // submitted as a job over several hosts
	Queue  string          // of a submission, or that is set; empty: the default one
	Attr   string          // that is set of the queue, that is changed of a reservation, or what that is made of
	Force  bool            // of the change of a reservation
	Period Period          // of a reservation that is asked for
	Answer string          // CONFIRMED, DENIED, UNCONFIRMED, EXPIRED or FAILED, of a reservation or of its alteration
	Seen   map[string]Seen // of a list or look: by name
	Queues map[string]bool // of a look at queues: by queue and attribute
}

// Names of the values with which a reservation is made, as Attr has them.
const (
	OfHosts   = "hosts"
	OfQueued  = "qmove"       // a job
	OfRunning = "reserve_job" // a job
)

// A Period is from when to when a reservation is to have its vnodes, in seconds since the epoch.
type Period struct{ Start, End int64 }

// Seen is what an answer shows of a job.
type Seen struct {
	State    string // letter
	Run      uint32 // run_count
	Holds    string // letters, n for none
	Priority string
}

// Attribute names a register: what SetQueue sets, and LookQueues sees.
func Attribute(queue, attr string) string { return queue + " " + attr }

// String returns the operation as one line.
func (o Op) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%9.3fs %9.3fs client %d: %s", o.Start.Seconds(), o.End.Seconds(), o.Client, o.Kind)
	if o.Name != "" {
		fmt.Fprintf(&b, " %s", o.Name)
	}
	if o.Job != "" {
		fmt.Fprintf(&b, " (%s)", o.Job)
	}
	if o.Queue != "" {
		fmt.Fprintf(&b, " %s", strings.TrimSpace(o.Queue+" "+o.Attr))
	}
	if o.Value != "" {
		fmt.Fprintf(&b, " %s", o.Value)
	}
	if o.Held {
		b.WriteString(" held")
	}
	if o.Once {
		b.WriteString(" once")
	}
	fmt.Fprintf(&b, " = %s", o.Result)
	if o.Answer != "" {
		fmt.Fprintf(&b, ", %s", o.Answer)
	}
	if o.Text != "" {
		fmt.Fprintf(&b, ": %s", o.Text)
	}
	if o.Kind == List {
		fmt.Fprintf(&b, " %d jobs", len(o.Seen))
	}
	return b.String()
}

// A History is what all clients did.
type History []Op

// about returns the operations that the model of a job knows and that concern the job of that
// name, lists included.
func (h History) about(name string) History {
	var ops History
	for _, o := range h {
		if o.Name == name && o.Kind.modelled() || o.Kind == List {
			ops = append(ops, o)
		}
	}
	return ops
}

// aboutQueue returns the operations that set, see or depend on an attribute of a queue.
func (h History) aboutQueue(queue, attr string) History {
	var ops History
	for _, o := range h {
		switch {
		case o.Kind == SetQueue && o.Queue == queue && o.Attr == attr, o.Kind == LookQueues,
			o.Kind == Submit && o.Queue == queue && attr == "enabled":
			ops = append(ops, o)
		}
	}
	return ops
}

// registers returns the attributes of queues that were set.
func (h History) registers() []Op {
	seen := make(map[string]bool)
	var all []Op
	for _, o := range h {
		if key := Attribute(o.Queue, o.Attr); o.Kind == SetQueue && !seen[key] {
			seen[key] = true
			all = append(all, o)
		}
	}
	return all
}

// names returns the names of the jobs that were to be submitted, in their order.
func (h History) names() []string {
	var names []string
	for _, o := range h {
		if o.Kind == Submit {
			names = append(names, o.Name)
		}
	}
	return names
}

// once returns the names of the jobs that must not run again.
func (h History) once() []string {
	var names []string
	for _, o := range h {
		if o.Kind == Submit && o.Once {
			names = append(names, o.Name)
		}
	}
	return names
}

// tried tells how many operations of a kind may have changed a job.
func (h History) tried(k Kind, job string) int {
	n := 0
	for _, o := range h {
		if o.Kind == k && o.Job == job && (o.Result == Done || o.Result == Unknown) {
			n++
		}
	}
	return n
}

// answered tells how many operations of these kinds a server did or refused.
func (h History) answered(kinds ...Kind) int {
	n := 0
	for _, k := range kinds {
		n += h.count(k, Done) + h.count(k, Refused)
	}
	return n
}

// count tells how many operations of a kind ended so.
func (h History) count(k Kind, result Outcome) int {
	n := 0
	for _, o := range h {
		if o.Kind == k && o.Result == result {
			n++
		}
	}
	return n
}
