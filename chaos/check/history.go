package check

import (
	"fmt"
	"strings"
	"time"
)

// A Kind is what a client asked for.
type Kind uint8

// The kinds.
const (
	Submit Kind = iota + 1
	Delete
	List // every job, linearizable
)

var kindNames = [...]string{Submit: "submit", Delete: "delete", List: "list"}

// String returns the kind as a word.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "?"
	}
	return kindNames[k]
}

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
	Text   string            // of the refusal
	Seen   map[string]string // of a list: state letter by name
}

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
	fmt.Fprintf(&b, " = %s", o.Result)
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

// about returns the operations that concern the job of that name, lists included.
func (h History) about(name string) History {
	var ops History
	for _, o := range h {
		if o.Name == name || o.Kind == List {
			ops = append(ops, o)
		}
	}
	return ops
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
