package sched

import (
	"fmt"
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
	turns                   pbs.Time  // when prime time ends, or begins, if jobs may not run into what follows; 0: it does not
	turn                    time.Time // the same, whatever jobs may do; zero: never
	outdated                bool      // the year is over that the holidays are of
	spill                   pbs.Time  // by how much a job may run into what follows
	exempt                  bool      // jobs of queues for any time may run into what follows
	primes, others, opening string    // prefixes of queues
	closed                  map[pbs.QueueName]state.WaitCode
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
		if d[1].After(at) && (h.begins == 0 || pbs.Time(d[0].UnixNano()) < h.begins) {
			h.begins, h.ends = pbs.Time(d[0].UnixNano()), pbs.Time(d[1].UnixNano())
		}
	}
	h.dedicated = h.begins != 0 && h.begins <= now
	if text == "" {
		return h
	}
	days := attr.HoursOf(text)
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

// until returns until when a job may run, 0: for ever.
func (h *hours) until(j *state.Job) pbs.Time {
	var until pbs.Time
	switch {
	case h.dedicated:
		until = h.ends
	case h.begins != 0:
		until = h.begins
	}
	if exempt := h.exempt && !begins(j.Queue, h.primes) && !begins(j.Queue, h.others); h.turns != 0 && !exempt {
		if turn := h.turns + h.spill; until == 0 || turn < until {
			until = turn
		}
	}
	return until
}

// crosses tells why a job would run on into a time that is not for it, 0 if it would not.
func (h *hours) crosses(j *state.Job) state.WaitCode {
	if h.begins == 0 && h.turns == 0 {
		return 0
	}
	end := h.now + walltime(j)
	switch {
	case h.dedicated && end > h.ends, !h.dedicated && h.begins != 0 && end > h.begins:
		return state.WaitCrossDedicated
	case h.turns == 0 || end <= h.turns+h.spill:
		return 0
	case h.exempt && !begins(j.Queue, h.primes) && !begins(j.Queue, h.others):
		return 0
	case h.prime:
		return state.WaitCrossNonprime
	}
	return state.WaitCrossPrime
}
