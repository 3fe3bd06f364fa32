// Package rusage says how much of a resource a job holds: by the method by which the resource is
// reserved, and by how long the job has run (specification: reservation sections 3 and 4), and what
// that leaves (sections 1.3 and 1.4). All are exact functions of whole numbers: nothing of them is
// stored, and whoever asks computes them from his own time. It does not know jobs, queues or hosts
// beyond their names, nor how requirements are written, which is resreq's affair. Everything is a
// value; nothing is started, so nothing stops.
package rusage

import (
	"math"
	"math/bits"

	"rampart/fsm/resreq"
)

// Held returns what is left of an amount after a job has run for some seconds, of which those that
// it was suspended for are none. Without a duration the amount is held for the whole life of the job.
func Held(amount resreq.Amount, duration int64, decay bool, ran int64) resreq.Amount {
	ran = max(ran, 0)
	switch {
	case duration <= 0 || amount <= 0:
		return max(amount, 0)
	case ran >= duration:
		return 0
	case !decay:
		return amount
	}
	high, low := bits.Mul64(uint64(amount), uint64(duration-ran))
	left, _ := bits.Div64(high, low, uint64(duration)) // it is no more than the amount
	return resreq.Amount(left)
}

// A Share is what a job has of a host.
type Share struct {
	Host  string
	Slots int
}

// A Pool is an instance of a resource: of one host, or of a group of hosts for a shared one.
type Pool struct {
	Resource resreq.Resource
	Hosts    map[string]bool // those that it is for
	Current  resreq.Amount   // as the host reports it, else the total
	Reserved resreq.Amount   // by all jobs
}

// Available returns what select, order, thresholds and reservations see of the pool: an index that
// rises with the load is raised by what is reserved. It may be negative.
func (p Pool) Available() resreq.Amount {
	if raised(p.Resource) {
		return add(p.Current, p.Reserved)
	}
	return add(p.Current, -p.Reserved)
}

// raised reports whether reservations raise the index. A static resource has a total, whatever its
// direction, of which reservations take.
func raised(r resreq.Resource) bool { return r.Increasing && r.Dynamic }

// A Job is what is asked for it and what it has. Each term of a compound requirement is one.
type Job struct {
	Usage    resreq.Usage // the chosen alternative
	Shares   []Share      // each host once
	Ran      int64        // seconds in the state RUN since it was dispatched
	Released []string     // the resources that it gave back when it was suspended
}

// Rules are what a site says of reservations.
type Rules struct {
	Methods Methods
	Limited map[string]bool // resources whose quantity a section Limit bounds: they are held for life
}

// Needed returns what a job would hold of a pool at its start, and what a pending one asks for:
// duration and decay say nothing then.
func (r Rules) Needed(u resreq.Usage, shares []Share, p Pool) resreq.Amount {
	asked, ok := u.Get(p.Resource.Name)
	if !ok {
		return 0
	}
	return r.Methods.Of(p.Resource).Amount(asked.Amount, shares, p.Hosts)
}

// Held returns what a job holds of a pool that runs, or is suspended.
func (r Rules) Held(j Job, p Pool) resreq.Amount {
	for _, name := range j.Released {
		if name == p.Resource.Name {
			return 0
		}
	}
	amount := r.Needed(j.Usage, j.Shares, p)
	if p.Resource.Shared && !p.Resource.Dynamic || r.Limited[p.Resource.Name] {
		return amount
	}
	asked, _ := j.Usage.Get(p.Resource.Name)
	return Held(amount, asked.Duration, asked.Decay, j.Ran)
}

// Reserve returns the pool with what the jobs hold of it added to what is reserved.
func (r Rules) Reserve(p Pool, jobs ...Job) Pool {
	for _, j := range jobs {
		p.Reserved = add(p.Reserved, r.Held(j, p))
	}
	return p
}

// Short returns the first resource, in the order of the usage, of which the pools have not enough
// for a job with these shares, and whether there is one. Each host must have an instance of what is
// reserved; of an index that rises with the load any amount fits.
func (r Rules) Short(u resreq.Usage, shares []Share, pools []Pool) (string, bool) {
	for _, asked := range u {
		if asked.Amount > 0 && r.short(asked.Resource, u, shares, pools) {
			return asked.Resource, true
		}
	}
	return "", false
}

func (r Rules) short(resource string, u resreq.Usage, shares []Share, pools []Pool) bool {
	covered := map[string]bool{}
	for _, p := range pools {
		if p.Resource.Name != resource {
			continue
		}
		for _, s := range shares {
			covered[s.Host] = covered[s.Host] || p.Hosts[s.Host]
		}
		// An instance that the job does not touch may be exhausted.
		needed := r.Needed(u, shares, p)
		if needed > 0 && !raised(p.Resource) && p.Available() < needed {
			return true
		}
	}
	for _, s := range shares {
		if !covered[s.Host] {
			return true
		}
	}
	return false
}

// add and times stop at what can be held, so that no sum turns round.
func add(a, b resreq.Amount) resreq.Amount {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}

func times(a resreq.Amount, n int) resreq.Amount {
	if a <= 0 || n <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(a), uint64(n))
	if high > 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return resreq.Amount(low)
}
