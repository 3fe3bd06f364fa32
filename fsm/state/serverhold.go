package state

import (
	"cmp"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// ServerHolds counts what runs and reservations hold of server-wide resources (those with flag q in its
// resources_available), now and at times to come. Jobs of a reservation have of its share (L15).
type ServerHolds struct {
	of []*serverHold
}

// A serverHold is what is held of one resource.
type serverHold struct {
	def   resource.Def
	most  int64
	ends  []change // in no order, until it is asked
	steps []change // by time, each with all that is held from then on
}

// A change is an amount from a time on.
type change struct {
	at     pbs.Time
	amount int64
}

// ServerHolds returns what is held of those resources for which somebody asks, without what one reservation is to have; nil: the server
// has none of them as a whole.
func (t *tables) ServerHolds(asked resource.List, apart pbs.ReservationID) *ServerHolds {
	h := &ServerHolds{}
	for _, it := range asked {
		def, known := t.Resource(it.Name)
		offer, has := t.server.Resources(offers).Get(it.Name)
		if known && has && def.Type.Numeric() && def.Flags&resource.PerQueue != 0 {
			h.of = append(h.of, &serverHold{def: def, most: def.Measure(offer)})
		}
	}
	if len(h.of) == 0 {
		return nil
	}
	now := t.cluster.Time
	for j := range t.running.all() { // of all schedulers
		if j.Reservation == "" && !j.Suspended() {
			h.Add(now, j.Ends(now), j.Resources)
		}
	}
	for r := range t.Reservations() {
		if r.ID == apart || !slices.ContainsFunc(h.of, func(s *serverHold) bool { return s.needs(r.Resources) > 0 }) {
			continue
		}
		for n := range r.Occurrences {
			if from, until := r.Times(n); len(r.Occurrences[n].Nodes) > 0 {
				h.Add(from, until, r.Resources)
			}
		}
	}
	return h
}

// needs returns how much of the resource somebody asks for.
func (s *serverHold) needs(asked resource.List) int64 {
	text, _ := asked.Get(s.def.Name)
	return s.def.Measure(text)
}

// Add notes what somebody is to hold from a time on until before another one.
func (h *ServerHolds) Add(from, until pbs.Time, asked resource.List) {
	for _, s := range h.of {
		switch n := s.needs(asked); {
		case n == 0 || from >= until:
		case s.steps == nil:
			s.ends = append(s.ends, change{from, n}, change{until, -n})
		default:
			first, last := s.step(from), s.step(until)
			for i := first; i < last; i++ {
				s.steps[i].amount += n
			}
		}
	}
}

// step returns the place of the step at a time, and makes one that changes nothing if there is none.
func (s *serverHold) step(at pbs.Time) int {
	i, there := slices.BinarySearchFunc(s.steps, at, func(c change, at pbs.Time) int { return cmp.Compare(c.at, at) })
	if !there {
		held := int64(0)
		if i > 0 {
			held = s.steps[i-1].amount
		}
		s.steps = slices.Insert(s.steps, i, change{at, held})
	}
	return i
}

// Short returns what the server does not have, beside what others hold, at every instant of a time, for somebody who asks for so much;
// false: it has all.
func (h *ServerHolds) Short(from, until pbs.Time, asked resource.List) (Wait, bool) {
	for _, s := range h.of {
		need := s.needs(asked)
		if need <= 0 {
			continue
		}
		if used := s.peak(from, until); need > s.most-used {
			return ShortOf(WaitServerShort, s.def, need, s.most-used, s.most), true
		}
	}
	return Wait{}, false
}

// peak returns how much is held at most in a time.
func (s *serverHold) peak(from, until pbs.Time) int64 {
	if s.steps == nil {
		s.steps = make([]change, 0, len(s.ends))
		slices.SortFunc(s.ends, func(a, b change) int { return cmp.Compare(a.at, b.at) })
		held := int64(0)
		for _, e := range s.ends {
			held += e.amount
			if last := len(s.steps) - 1; last >= 0 && s.steps[last].at == e.at {
				s.steps[last].amount = held
				continue
			}
			s.steps = append(s.steps, change{e.at, held})
		}
	}
	first, begins := slices.BinarySearchFunc(s.steps, from, func(c change, at pbs.Time) int { return cmp.Compare(c.at, at) })
	most := int64(0)
	if !begins && first > 0 {
		most = s.steps[first-1].amount
	}
	for _, c := range s.steps[first:] {
		if c.at >= until {
			break
		}
		most = max(most, c.amount)
	}
	return most
}
