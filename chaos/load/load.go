// Package load is what clients ask for in a run, and how they ask: plans as data,
// drawn from a seed, and the Client that follows one and writes down what it saw.
// Every job has a name of its own, so that it can be followed when the answer was
// lost. A Client works in the goroutine of its caller and ends with its plan.
package load

import (
	"fmt"
	"math/rand/v2"
	"time"

	"rampart/chaos/check"
)

// A Plan says how much is asked for.
type Plan struct {
	Clients int
	Ops     int           // of each client
	Pause   time.Duration // greatest, between two requests of a client
	Longest time.Duration // of a job
	Deletes int           // of 100 requests
	Lists   int           // of 100 requests
}

// A Step is one request of a client.
type Step struct {
	After  time.Duration // the one before it
	Kind   check.Kind
	Name   string        // of the job that is submitted
	Runs   time.Duration // how long that takes
	Victim int           // which of the known jobs is deleted, modulo their number
}

// Draw chooses the requests of each client from r.
func (p Plan) Draw(r *rand.Rand) [][]Step {
	all := make([][]Step, p.Clients)
	for c := range all {
		for n := range p.Ops {
			all[c] = append(all[c], p.step(r, fmt.Sprintf("c%dn%d", c, n), n))
		}
	}
	return all
}

func (p Plan) step(r *rand.Rand, name string, n int) Step {
	s := Step{
		After: time.Duration(r.Int64N(int64(p.Pause))).Round(time.Millisecond),
		Kind:  check.Submit, Name: name, Victim: r.IntN(1 << 16),
		Runs: time.Duration(r.Int64N(int64(p.Longest))).Round(time.Millisecond),
	}
	switch dice := r.IntN(100); {
	case n == 0: // there must be something to list and delete
	case dice < p.Deletes:
		s.Kind = check.Delete
	case dice < p.Deletes+p.Lists:
		s.Kind = check.List
	}
	return s
}
