package resreq

import "slices"

// maxPairs bounds the alternatives that several strings make together, before those that are alike
// are told apart.
const maxPairs = 4096

// Join makes one requirement of several -R of one job.
func Join(all ...Requirement) (Requirement, error) {
	if len(all) == 0 {
		return Requirement{[]Term{{}}}, nil
	}
	joined := all[0]
	for _, r := range all[1:] {
		if joined.Compound() || r.Compound() {
			return Requirement{}, syntax(-1, "a compound requirement beside another one, expected it alone")
		}
		s, err := join(joined.simple(), r.simple())
		if err != nil {
			return Requirement{}, err
		}
		if joined, err = bounded(Requirement{[]Term{{0, s}}}); err != nil {
			return Requirement{}, err
		}
	}
	return joined, nil
}

// simple returns the only term.
func (r Requirement) simple() Simple {
	if len(r.Terms) == 0 {
		return Simple{}
	}
	return r.Terms[0].Simple
}

func join(a, b Simple) (Simple, error) {
	s := Simple{Select: and(a.Select, b.Select), Order: slices.Concat(a.Order, b.Order), Span: a.Span, Same: union(a.Same, b.Same), CU: a.CU}
	if b.Span.given() {
		if s.Span = b.Span; a.Span.given() {
			return s, syntax(-1, "a second section span, expected one")
		}
	}
	if b.CU != (CU{}) {
		if s.CU = b.CU; a.CU != (CU{}) {
			return s, syntax(-1, "a second section cu, expected one")
		}
	}
	var twice error
	rusage, err := pairs(a.Rusage, b.Rusage, func(x, y Usage) (Usage, error) {
		for _, r := range y {
			if _, again := x.Get(r.Resource); again {
				twice = syntax(-1, "a second amount of %s, expected each resource once", r.Resource)
			}
		}
		return slices.Concat(x, y), nil
	})
	if twice != nil {
		err = twice
	}
	s.Rusage = rusage
	return s, err
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, n := range b {
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// pairs makes one usage of each pair of alternatives, those of the first varying slowest, each once.
// A pair that both refuses is left out, and the first refusal is returned if none is left.
func pairs(a, b []Usage, both func(x, y Usage) (Usage, error)) ([]Usage, error) {
	if len(a) == 0 {
		a = []Usage{nil}
	}
	if len(b) == 0 {
		b = []Usage{nil}
	}
	if len(a)*len(b) > maxPairs {
		return nil, syntax(-1, "rusage has %d alternatives, expected at most %d", len(a)*len(b), maxPairs)
	}
	var all []Usage
	var first error
	seen := map[string]bool{}
	for _, x := range a {
		for _, y := range b {
			u, err := both(x, y)
			if err != nil {
				if first == nil {
					first = err
				}
				continue
			}
			if text := u.String(); text != "" && !seen[text] {
				seen[text] = true
				all = append(all, u)
			}
		}
	}
	if len(all) == 0 {
		return nil, first
	}
	return all, nil
}

// A Queue is what a queue says of the requirements of its jobs.
type Queue struct {
	Requirement *Requirement // RES_REQ, nil without one
	Limits      Limits       // RESRSV_LIMIT
}

// Merge makes the requirement of a job of what job and application say, nil where they say nothing,
// and of its queue; what exceeds the limits of the queue is refused with a *Refusal (specification:
// reservation sections 2.5 and 2.6). A job that runs may ask for less than the queue's minimum.
//
// Where a level is compound, those below it are merged into each of its terms: a lower level that
// is compound too says nothing then, its section cu never holds for a term, and of its alternatives
// the first that is allowed counts. A compound level below one that says something says nothing.
func Merge(job, application *Requirement, queue Queue, running bool) (Requirement, error) {
	if application != nil && job != nil && application.Compound() {
		application = nil
	}
	q := queue.Requirement
	if q != nil && (job != nil || application != nil) && q.Compound() {
		q = nil
	}
	terms := []Term{{}}
	for _, level := range []*Requirement{job, application, q} {
		if level != nil && level.Compound() {
			terms = level.Terms
		}
	}
	var merged Requirement
	for _, t := range terms {
		at := func(level *Requirement) *Simple {
			switch {
			case level == nil:
				return nil
			case level.Compound():
				return &t.Simple
			}
			s := level.simple()
			return &s
		}
		s, err := merge(at(job), at(application), at(q), queue.Limits, running)
		if err != nil {
			return Requirement{}, err
		}
		if t.Slots > 0 {
			s.CU = CU{}
			s.Rusage = s.Rusage[:min(1, len(s.Rusage))]
		}
		merged.Terms = append(merged.Terms, Term{t.Slots, s})
	}
	return bounded(merged)
}

func merge(job, application, queue *Simple, limits Limits, running bool) (s Simple, err error) {
	var usages [3][]Usage
	ordered := false
	for i, level := range []*Simple{job, application, queue} {
		if level == nil {
			continue
		}
		s.Select = and(s.Select.withoutDefault(), level.Select.withoutDefault())
		if !ordered && (len(level.Order) > 0 || i == 0) {
			s.Order, ordered = level.Order, true
		}
		if !s.Span.given() {
			s.Span = level.Span
		}
		s.Same = union(s.Same, level.Same)
		if s.CU == (CU{}) {
			s.CU = level.CU
		}
		usages[i] = level.Rusage
	}
	if s.Span.AnyHost {
		s.Span = Span{}
	}
	asked, err := pairs(usages[0], usages[1], func(hi, lo Usage) (Usage, error) { return over(hi, lo), nil })
	if err != nil {
		return s, err
	}
	s.Rusage, err = pairs(asked, usages[2], func(ja, q Usage) (Usage, error) {
		if err := check(ja, q, limits, running); err != nil {
			return nil, err
		}
		return over(ja, q), nil
	})
	return s, err
}

// over merges what two levels reserve: the higher one decides on each resource that it names, and
// on its duration if it gives one.
func over(hi, lo Usage) Usage {
	var u Usage
	for _, r := range hi {
		if below, ok := lo.Get(r.Resource); ok && r.Duration == 0 {
			r.Duration, r.Decay = below.Duration, below.Decay
		}
		u = append(u, r)
	}
	for _, r := range lo {
		if _, ok := hi.Get(r.Resource); !ok {
			u = append(u, r)
		}
	}
	return u
}

// check holds what job and application ask for to the limits of the queue and, where it has none, to
// what it reserves itself. The first resource that fails decides.
func check(ja, queue Usage, limits Limits, running bool) error {
	for _, r := range ja {
		if l, ok := limits.get(r.Resource); ok {
			if r.Amount > l.Max || r.Amount < l.Min && !running {
				return &Refusal{QueueLimit, -1, r.Resource + " is " + r.Amount.Print(r.Resource) + ", expected " + l.between()}
			}
			continue
		}
		q, ok := queue.Get(r.Resource)
		switch {
		case !ok:
		case r.Amount > q.Amount:
			return &Refusal{QueueReservation, -1, r.Resource + " is " + r.Amount.Print(r.Resource) + ", expected at most " + q.Amount.Print(r.Resource)}
		case q.Duration > 0 && r.Duration > q.Duration:
			return &Refusal{QueueReservation, -1, "the duration of " + r.Resource + " is " + printDuration(r.Duration) + ", expected at most " + printDuration(q.Duration)}
		}
	}
	return nil
}
