// Package load describes what clients ask for in a run, and how they ask: plans as data,
// drawn from a seed, and the Client that follows one and writes down what it saw.
// Every job has a name of its own, so that it can be followed when the answer was
// lost. A Client works in the goroutine of its caller and ends with its plan.
package load

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"rampart/chaos/check"
)

// A Plan says how much is asked for.
type Plan struct {
	Clients int
	Ops     int           // of each client
	Pause   time.Duration // greatest, between two requests of a client
	Longest time.Duration // of a job
	Mix     []Share
	Long    Tail
	Once    int      // of 100 jobs so many must not run again
	Spread  bool     // some jobs are over two hosts
	Wide    bool     // most are
	Opening bool     // the first one of each client is
	Padded  bool     // those ask for a host more than they need; clients must be operators
	Selects []string // of which jobs over several hosts have one; none: one cpu on each of two
	Single  string   // the select of jobs on one host; empty: one cpu
	Alone   bool     // every third job wants its vnodes for itself
	Parts   bool     // of jobs that run so, vnodes are released in every way; else the sisters of any
	Lasting int      // seconds, the walltime of jobs outside of reservations; 0: they have none
	Queue   string   // a second queue, whose attributes are set; it gets a third of the jobs
}

// A Tail is the jobs that take longer than the rest.
type Tail struct {
	Percent int
	From    time.Duration
	To      time.Duration
}

// A Share is how many of 100 requests are of a kind; the rest submits jobs.
type Share struct {
	Kind    check.Kind
	Percent int
}

// A Step is one request of a client.
type Step struct {
	After   time.Duration // the one before it
	Kind    check.Kind
	Name    string        // of the job that is submitted
	Runs    time.Duration // how long that takes
	Victim  int           // which of the newest known jobs it is about, modulo their number
	Held    bool          // submitted with a user hold
	Once    bool          // submitted as one that must not run again
	Array   bool          // submitted as an array of two
	Spread  bool          // over two hosts
	Padded  bool          // with one to spare
	Alone   bool          // it wants its vnodes for itself
	Select  string
	Lasting int  // seconds, its walltime; 0: it has none
	Parts   bool // vnodes of a job that runs on several hosts are released
	Book    Booking
	Value   string // the priority, the attribute's new value, or what is released
	Queue   string
	Attr    string // of the queue
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
		Runs:  time.Duration(r.Int64N(int64(p.Longest))).Round(time.Millisecond),
		Value: strconv.Itoa(r.IntN(1000)),
	}
	dice, elsewhere, held, on := r.IntN(100), r.IntN(3) == 0, r.IntN(8) == 0, r.IntN(2) == 0
	switch {
	case n == 0: // first there must be something to ask about
	case n%lookEvery == 0 && len(p.Mix) > 0:
		s.Kind = check.Look
	case n%listEvery == listEvery/2 && p.asks(check.List):
		s.Kind = check.List
	default:
		s.Kind = p.kind(dice)
	}
	switch {
	case s.Kind == check.SetQueue:
		s.Queue, s.Attr, s.Value = p.Queue, queueAttrs[r.IntN(len(queueAttrs))], "False"
		if on {
			s.Value = "True"
		}
	case s.Kind == check.Submit && n > 0:
		s.Held = held
		if elsewhere {
			s.Queue = p.Queue
		}
	}
	if p.Long.Percent > 0 && r.IntN(100) < p.Long.Percent {
		s.Runs = p.Long.From + time.Duration(r.Int64N(int64(p.Long.To-p.Long.From))).Round(time.Millisecond)
	}
	s.Once = p.Once > 0 && r.IntN(100) < p.Once && s.Kind == check.Submit
	s.Array = s.Kind == check.Submit && n > 0 && !s.Once && s.Victim%arrayEvery == 0
	s.Spread = p.Spread && s.Kind == check.Submit && (s.Victim%spreadEvery == 1 || p.Wide && s.Victim%spreadEvery != 0 || p.Opening && n == 0)
	s.Padded = p.Padded && s.Spread
	if !s.Spread {
		s.Select = cmp.Or(p.Single, "1:ncpus=1")
	}
	s.Alone = p.Alone && s.Kind == check.Submit && !s.Spread && s.Victim/arrayEvery%aloneEvery == 0
	if s.Spread {
		if s.Select = "2:ncpus=1"; len(p.Selects) > 0 {
			s.Select = p.Selects[s.Victim/spreadEvery%len(p.Selects)]
		}
	}
	if s.Kind == check.ReleaseNodes {
		if s.Value, s.Parts = "-a", p.Parts; s.Parts {
			s.Value = ways[s.Victim%len(ways)]
		}
	}
	if s.Lasting = p.Lasting; s.Kind == check.Reserve || s.Kind == check.AlterReservation || s.Kind == check.MoveInside {
		s.Book = drawBooking(r)
	}
	if s.Book.Endless {
		s.Lasting = 0
	}
	return s
}

// ways are the ways of naming what is released: the vnodes of a host, one vnode, all sisters, and all
// but what is to be kept.
var ways = []string{"host", "vnode", "-a", "-k 1", "-k select=ncpus=1"}

// spreadEvery is of how many jobs one is over two hosts.
const spreadEvery = 4

// aloneEvery is of how many jobs one wants its vnodes for itself.
const aloneEvery = 3

// arrayEvery is of how many jobs one is an array.
const arrayEvery = 6

// How often at least a client looks at a job, and lists all: chance may draw neither at all.
const (
	lookEvery = 8
	listEvery = 12
)

// queueAttrs are the attributes of the second queue that are set.
var queueAttrs = []string{"enabled", "enabled", "started"}

// asks reports whether a kind of request belongs to the plan.
func (p Plan) asks(k check.Kind) bool {
	return slices.ContainsFunc(p.Mix, func(s Share) bool { return s.Kind == k })
}

func (p Plan) kind(dice int) check.Kind {
	for _, share := range p.Mix {
		if dice -= share.Percent; dice < 0 {
			return share.Kind
		}
	}
	return check.Submit
}
