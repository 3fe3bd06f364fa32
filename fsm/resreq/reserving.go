package resreq

import "slices"

// Reserving returns r with the rusage sections of other, which is all that can change of a running job's
// requirement. It returns false if other differs from r in anything else that it states.
func (r Requirement) Reserving(other Requirement) (Requirement, bool) {
	own, others := r.terms(), other.terms()
	if len(own) != len(others) {
		return r, false
	}
	next := Requirement{Terms: slices.Clone(own)}
	for i, t := range others {
		if t.Slots != own[i].Slots || !t.within(own[i].Simple) {
			return r, false
		}
		next.Terms[i].Rusage = t.Rusage
	}
	return next, true
}

// terms returns the terms, of an empty requirement the one that says nothing.
func (r Requirement) terms() []Term {
	if len(r.Terms) == 0 {
		return []Term{{}}
	}
	return r.Terms
}

// within reports whether each section but rusage says nothing, or the same as another requirement's.
func (s Simple) within(o Simple) bool {
	sel := s.Select.withoutDefault()
	return (!sel.Given() || sel.String() == o.Select.withoutDefault().String()) &&
		(len(s.Order) == 0 || slices.Equal(s.Keys(), o.Keys())) &&
		(!s.Span.given() || s.Span.String() == o.Span.String()) &&
		(len(s.Same) == 0 || slices.Equal(s.Same, o.Same)) &&
		(s.CU == (CU{}) || s.CU == o.CU)
}
