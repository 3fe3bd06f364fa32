package check

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// Linearizable is L11 with L6: to the clients each job behaves as if there was one
// server. A list that begins after an acknowledgement sees it; a job that was seen
// to be over does not come back. The history is split by job.
var Linearizable = Law{Name: "L11 linearizable", Judge: linearizable}

// patience bounds the search. Histories of one job are short; a search that takes
// long is a history that should not have been that way.
const patience = 20 * time.Second

func linearizable(e *Evidence) []string {
	var f faults
	for _, name := range e.History.names() {
		ops := e.History.about(name)
		switch porcupine.CheckOperationsTimeout(jobModel(name), operations(ops), patience) {
		case porcupine.Ok:
		case porcupine.Unknown:
			f.add("the search for an order of %s took too long", name)
		default:
			f.add("there is no order in which one server would have said this of %s:%s", name, excerpt(name, ops))
		}
	}
	return f
}

// operations gives calls without an answer the end of time.
func operations(h History) []porcupine.Operation {
	var all []porcupine.Operation
	for _, o := range h {
		if o.Result == Failed || o.Kind == List && o.Result != Done {
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

// phase is what one server would know of a job.
type phase uint8

const (
	absent phase = iota
	live
	dying // deleted while it ran
	over
)

// jobModel is one job at one server, as a pure value. It may end by itself at any
// time after its submission; an observation that says so moves it on.
func jobModel(name string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return absent },
		Step: func(state, _, output any) (bool, any) {
			ok, next := step(state.(phase), output.(Op), name)
			return ok, next
		},
		DescribeOperation: func(_, output any) string { return output.(Op).String() },
	}
}

func step(p phase, o Op, name string) (bool, phase) {
	switch o.Kind {
	case Submit:
		if o.Result == Refused {
			return p == absent, p
		}
		return p == absent, live
	case Delete:
		return stepDelete(p, o.Result)
	default:
		return stepSeen(p, o.Seen[name])
	}
}

func stepDelete(p phase, result Outcome) (bool, phase) {
	switch {
	case result == Unknown && p == live:
		return true, dying
	case result == Unknown:
		return true, p // it changes nothing any more
	case result == Done && (p == live || p == dying):
		return true, dying
	case result == Done:
		return false, p
	case p == live || p == dying:
		return true, over // refused, because it has ended by itself
	default:
		return true, p
	}
}

// stepSeen judges the state letter that a list shows; "" is a job that it lacks.
func stepSeen(p phase, letter string) (bool, phase) {
	switch letter {
	case "":
		return p == absent, p
	case "F":
		return p != absent, over
	case "E":
		return p == live || p == dying, p
	default: // queued, held, running
		return p == live, p
	}
}

func excerpt(name string, ops History) string {
	var text string
	for _, o := range ops {
		line := o.String()
		if o.Kind == List {
			line += fmt.Sprintf(", among them %s: %q", name, o.Seen[name])
		}
		text += "\n\t" + line
	}
	return text
}
