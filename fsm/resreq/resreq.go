// Package resreq owns resource requirement strings as LSF has them: what -R of bsub and RES_REQ of
// queues and applications say (specification: reservation section 2). It parses and prints them,
// with parse(print(x)) = x, joins several of a job, merges the levels of job, application and queue,
// holds jobs to the hard limits of their queue, and says which hosts a requirement selects and in
// which order. What is held of a resource, and for how long, is rusage's affair; where the strings
// come from is configuration's. All values are immutable once built; nothing is started, so nothing stops.
package resreq

// maxText bounds a string, and what is merged of several.
const maxText = 4096

// A Requirement is what a string says: one term that counts nothing, or, where it is compound, two
// terms or more that each say for how many slots they hold.
type Requirement struct {
	Terms []Term
}

// A Term is a simple requirement and the number of slots that it is for, 0 where it is for all.
type Term struct {
	Slots int
	Simple
}

// A Simple requirement has its sections. What a string does not say is the zero value, which means
// the default.
type Simple struct {
	Select Select
	Order  []Key
	Rusage []Usage // the alternatives; the first one is preferred
	Span   Span
	Same   []string
	CU     CU
}

// A Key is an index by which hosts are ordered.
type Key struct {
	Name    string
	Reverse bool // worst first
}

// A Usage is what is to be reserved, each resource once.
type Usage []Reservation

// A Reservation is an amount of a resource, for as long as the job runs or for a time.
type Reservation struct {
	Resource string
	Amount   Amount
	Duration int64 // seconds; 0 is the whole life of the job
	Decay    bool  // whether the amount shrinks evenly during Duration
}

// A Span says how the slots of a job are spread over hosts.
type Span struct {
	OneHost bool // hosts=1
	AnyHost bool // hosts=-1: no rule, and none of a lower level
	Ptile   int  // slots on each host, 0 for no such rule
	Full    bool // ptile='!': as many as the host has
	Of      []PtileOf
}

// A PtileOf is the number of slots on hosts of a type or model.
type PtileOf struct {
	Name  string
	Slots int
}

// A CU says how a job lies in compute units.
type CU struct {
	Type          string
	Pref          string // accepted; the order of the configuration is used
	MaxCUs        int
	UsableCUSlots int
	Balance       bool
	Excl          bool
}

// Compound reports whether the requirement has terms of their own for parts of the slots.
func (r Requirement) Compound() bool { return len(r.Terms) > 1 }

// Effective returns the requirement with one of its alternatives, which is the chosen one for a job
// that has started. A number that there is no alternative of chooses the first.
func (r Requirement) Effective(alternative int) Requirement {
	terms := make([]Term, len(r.Terms))
	for i, t := range r.Terms {
		if n := len(t.Rusage); n > 1 {
			chosen := alternative
			if chosen < 0 || chosen >= n {
				chosen = 0
			}
			t.Rusage = []Usage{t.Rusage[chosen]}
		}
		terms[i] = t
	}
	return Requirement{terms}
}

// Get returns what is reserved of a resource.
func (u Usage) Get(resource string) (Reservation, bool) {
	for _, r := range u {
		if r.Resource == resource {
			return r, true
		}
	}
	return Reservation{}, false
}

// Cap returns how many slots of a job go on a host with that many slots and of these types and
// models; 0 means that there is no rule. With a ptile each host but the last takes exactly as many.
func (s Span) Cap(slots int, names ...string) int {
	for _, of := range s.Of {
		for _, name := range names {
			if of.Name == name {
				return of.Slots
			}
		}
	}
	if s.Full {
		return slots
	}
	return s.Ptile
}

func (s Span) given() bool {
	return s.OneHost || s.AnyHost || s.Ptile > 0 || s.Full
}
