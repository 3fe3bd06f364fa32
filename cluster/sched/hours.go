package sched

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// hours are dedicated and prime time in one cycle.
type hours struct {
	now                     pbs.Time
	dedicated               bool
	begins, ends            pbs.Time // of the dedicated time that is, or comes next; begins 0: none does
	prime                   bool
	turns                   pbs.Time      // when prime time ends, or begins, if jobs may not run into what follows; 0: it does not
	turn                    time.Time     // the same, whatever jobs may do; zero: never
	outdated                bool          // the year is over that the holidays are of
	spill                   pbs.Time      // by how much a job may run into what follows
	exempt                  bool          // jobs of queues for any time may run into what follows
	primes, others, opening string        // prefixes of queues
	all                     [][2]pbs.Time // dedicated times that are not over, in their order
	days                    *attr.Hours   // nil: it is always prime time
	zone                    *time.Location
	closed                  map[pbs.QueueName]state.WaitCode
	rows                    *rows
}

// settings are the attributes of the scheduler as they hold at a time.
type settings struct {
	server *state.Server
	prime  bool
}

func (s settings) get(name string) string {
	if s.prime {
		if value := s.server.SchedGet(attr.PrimeTime + name); value != "" {
			return value
		}
	}
	return s.server.SchedGet(name)
}

func (h *hours) settings(v *state.View) settings { return settings{v.Server(), h.prime} }

func newHours(v *state.View, now pbs.Time) *hours {
	s := v.Server()
	h := &hours{now: now, prime: true, closed: map[pbs.QueueName]state.WaitCode{}}
	h.primes, h.others, h.opening = s.SchedGet("primetime_prefix"), s.SchedGet("nonprimetime_prefix"), s.SchedGet("dedicated_prefix")
	text, times := s.SchedGet("holidays"), s.SchedGet("dedicated_time")
	if text == "" && times == "" {
		return h
	}
	zone, err := time.LoadLocation(s.Get("timezone"))
	if err != nil {
		zone = time.UTC
	}
	at := time.Unix(0, int64(now)).In(zone)
	for _, d := range attr.Dedicated(times, zone) {
		if d[1].After(at) {
			h.all = append(h.all, [2]pbs.Time{pbs.Time(d[0].UnixNano()), pbs.Time(d[1].UnixNano())})
		}
	}
	slices.SortStableFunc(h.all, func(a, b [2]pbs.Time) int { return cmp.Compare(a[0], b[0]) })
	if len(h.all) > 0 {
		h.begins, h.ends = h.all[0][0], h.all[0][1]
	}
	h.dedicated = h.begins != 0 && h.begins <= now
	if text == "" {
		return h
	}
	days := attr.HoursOf(text)
	h.days, h.zone = &days, zone
	h.prime = days.Prime(at)
	h.outdated = days.Year != 0 && at.Year() > days.Year
	if turn, ok := days.Turns(at); ok {
		h.turn = turn
		if s.SchedGet("backfill_prime") == "True" {
			h.turns = pbs.Time(turn.UnixNano())
		}
	}
	if q, err := resource.Parse(resource.Time, s.SchedGet("prime_spill")); err == nil {
		h.spill = min(pbs.Time(q.Int()), 1<<32) * pbs.Time(time.Second)
	}
	h.exempt = s.SchedGet("prime_exempt_anytime_queues") == "True"
	return h
}

// lines say in PBS's words what time it is.
func (h *hours) lines() []Line {
	var all []Line
	if h.outdated {
		all = append(all, Line{Event: pbs.LogAdmin, Class: "Fil", Object: "holidays", Text: "The holiday file is out of date; please update it."})
	}
	text := "It is primetime.  It will "
	if !h.prime {
		text = "It is non-primetime.  It will "
	}
	if h.turn.IsZero() {
		text += "never end"
	} else {
		left := h.turn.Sub(time.Unix(0, int64(h.now)).Truncate(time.Second))
		text += fmt.Sprintf("end in %d seconds at %s", left/time.Second, h.turn.Format("01/02/2006 15:04:05"))
	}
	return append(all, Line{Event: pbs.LogDebug2, Class: "Svr", Text: text})
}

func begins(queue pbs.QueueName, prefix string) bool {
	return prefix != "" && strings.HasPrefix(string(queue), prefix)
}

// ofOne reports whether a queue is for dedicated, prime or non-prime time alone.
func (h *hours) ofOne(queue pbs.QueueName) bool {
	return begins(queue, h.opening) || begins(queue, h.primes) || begins(queue, h.others)
}

// shut tells why no job of a queue starts now, 0 if some may.
func (h *hours) shut(queue pbs.QueueName) state.WaitCode {
	why, known := h.closed[queue]
	if known {
		return why
	}
	switch {
	case begins(queue, h.opening) != h.dedicated:
		why = state.WaitDedicated
	case begins(queue, h.others):
		if h.prime {
			why = state.WaitNonprime
		}
	case begins(queue, h.primes) && !h.prime:
		why = state.WaitPrime
	}
	h.closed[queue] = why
	return why
}

// anytime reports whether jobs of a queue may run from prime time into other time, and back.
func (h *hours) anytime(queue pbs.QueueName) bool {
	return h.exempt && !begins(queue, h.primes) && !begins(queue, h.others)
}

// until returns until when a job may run, 0: for ever.
func (h *hours) until(j *state.Job) pbs.Time {
	var until pbs.Time
	switch {
	case h.dedicated:
		until = h.ends
	case h.begins != 0:
		until = h.begins
	}
	if h.turns != 0 && !h.anytime(j.Queue) {
		if turn := h.turns + h.spill; until == 0 || turn < until {
			until = turn
		}
	}
	return until
}

// crosses tells why a job that starts now would run on into a time that is not for it, 0 if it would not. What counts is how long it is
// expected to run: soft_walltime where it has one.
func (h *hours) crosses(j *state.Job) state.WaitCode {
	if h.begins == 0 && h.turns == 0 {
		return 0
	}
	return h.crossesBy(j, h.now+h.rows.expected(j))
}

// crossesBy is crosses for a job that runs from now until an end.
func (h *hours) crossesBy(j *state.Job, end pbs.Time) state.WaitCode {
	switch {
	case h.dedicated && end > h.ends, !h.dedicated && h.begins != 0 && end > h.begins:
		return state.WaitCrossDedicated
	case h.turns == 0 || end <= h.turns+h.spill || h.anytime(j.Queue):
		return 0
	case h.prime:
		return state.WaitCrossNonprime
	}
	return state.WaitCrossPrime
}

// always reports whether jobs of a queue may start at any time, if they may at one.
func (h *hours) always() bool { return len(h.all) == 0 && h.days == nil }

// mostSteps bounds how many windows are looked at for a start: the turns of two weeks, after which they are much the same again.
const mostSteps = 30

// opens returns the first time, not before at, at which dedicated and prime time let a job start that runs so long; false: none was found.
func (h *hours) opens(j *state.Job, at, long pbs.Time) (pbs.Time, bool) {
	for range mostSteps {
		next, ok := h.next(j, at, long)
		if !ok || next == at {
			return at, ok
		}
		at = next
	}
	return 0, false
}

// next returns the time itself if the job may start then, or else the next one at which that may be otherwise; false: there is none.
func (h *hours) next(j *state.Job, at, long pbs.Time) (pbs.Time, bool) {
	if begins(j.Queue, h.opening) {
		i := slices.IndexFunc(h.all, func(d [2]pbs.Time) bool { return max(at, d[0])+long <= d[1] })
		if i < 0 {
			return 0, false
		}
		if h.all[i][0] > at {
			return h.all[i][0], true
		}
	} else {
		for _, d := range h.all {
			if at < d[1] && at+long > d[0] {
				return d[1], true
			}
		}
	}
	primes, others := begins(j.Queue, h.primes), begins(j.Queue, h.others)
	switch {
	case h.days == nil: // it is always prime time
		return at, !others
	case !primes && !others && (h.turns == 0 || h.anytime(j.Queue)):
		return at, true
	}
	then := time.Unix(0, int64(at)).In(h.zone)
	prime := h.days.Prime(then)
	turn, turns := h.days.Turns(then)
	until := pbs.Time(turn.UnixNano())
	closed := primes && !prime || others && prime
	if !closed && (h.turns == 0 || !turns || at+long <= until+h.spill) {
		return at, true
	}
	return until, turns
}
