package check

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// Linearizable is L11 with L6: to the clients each job, and each attribute of a queue,
// behaves as if there was one server. A look that begins after an acknowledgement sees
// it; a job that was seen to be over does not come back. The history is split by job
// and by attribute.
var Linearizable = Law{Name: "L11 linearizable", Judge: linearizable}

// patience bounds the search. Histories of one job are short; a search that takes
// long is a history that should not have been that way.
const patience = 20 * time.Second

func linearizable(e *Evidence) []string {
	var f faults
	for _, name := range e.History.names() {
		search(&f, name, e.History.about(name), jobModel(name))
	}
	for _, o := range e.History.registers() {
		search(&f, Attribute(o.Queue, o.Attr), e.History.aboutQueue(o.Queue, o.Attr), queueModel(o.Queue, o.Attr))
	}
	return f
}

func search(f *faults, name string, ops History, m porcupine.Model) {
	switch porcupine.CheckOperationsTimeout(m, operations(ops), patience) {
	case porcupine.Ok:
	case porcupine.Unknown:
		f.add("the search for an order of %s took too long", name)
	default:
		f.add("there is no order in which one server would have said this of %s:%s", name, excerpt(name, ops))
	}
}

// operations gives calls without an answer the end of time.
func operations(h History) []porcupine.Operation {
	var all []porcupine.Operation
	for _, o := range h {
		if o.Result == Failed || o.Kind.reads() && o.Result == Unknown {
			continue // it has neither done nor seen anything
		}
		end := o.End
		if o.Result == Unknown {
			end = Never
		}
		all = append(all, porcupine.Operation{ClientId: o.Client, Input: o, Call: int64(o.Start), Output: o, Return: int64(end)})
	}
	return all
}

func excerpt(name string, ops History) string {
	var text string
	for _, o := range ops {
		line := o.String()
		switch {
		case o.Kind == LookQueues:
			line += fmt.Sprintf(", among them %s: %t", name, o.Queues[name])
		case o.Kind.reads():
			line += fmt.Sprintf(", among them %s: %+v", name, o.Seen[name])
		}
		text += "\n\t" + line
	}
	return text
}
