package check

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// InsideJobs is L1 and L8 of jobs that were submitted to reservations: each is there once, is over, and is accounted for.
var InsideJobs = Law{Name: "L1 no job in a reservation lost", Judge: func(e *Evidence) []string {
	var f faults
	for _, r := range e.Replicas {
		books := recordsByJob(r, &f)
		for _, o := range e.History {
			if o.Kind != SubmitInside {
				continue
			}
			jobs := r.named(o.Name)
			switch {
			case len(jobs) > 1:
				f.add("%s was submitted once, %s has %v", o.Name, r.Name, jobs)
			case len(jobs) > 0 && (o.Result == Refused || o.Result == Failed):
				f.add("the submission of %s was %s, %s has it as %s", o.Name, o.Result, r.Name, jobs[0].ID)
			case len(jobs) == 0 && o.Result == Done:
				f.add("%s was acknowledged, %s does not have it: %s", o.Job, r.Name, o)
			case len(jobs) == 0:
			case jobs[0].State != "F":
				f.add("%s is in state %s at the end on %s", jobs[0].ID, jobs[0].State, r.Name)
			default:
				book := books[jobs[0].ID]
				if q, over := countOf(book, "Q"), countOf(book, "E")+countOf(book, "D"); q != 1 || over == 0 {
					f.add("%s has %d Q, and %d E and D records on %s", jobs[0].ID, q, over, r.Name)
				}
			}
		}
	}
	return f
}}

const (
	// killDelay is how long a job has to end after the SIGTERM.
	killDelay = 10 * time.Second
	// hearing is how long a mom may need to hear of an end: it is away no longer, and the leader that tells it dies no later.
	hearing = 15 * time.Second
)

// InsideTheirTime is L15 of jobs in reservations: no program of them starts before the start, nor outlives the end by more than
// its kill_delay once its mom can hear of it.
var InsideTheirTime = Law{Name: "L15 jobs stay in the time of their reservation", Judge: func(e *Evidence) []string {
	var f faults
	spans, in := make(map[string][]Span), make(map[string]stay)
	for _, b := range e.Bookings {
		queue, _, _ := strings.Cut(b.ID, ".")
		spans[queue] = b.running()
	}
	for _, o := range e.History {
		if job, queue, ok := o.movedIn(); ok {
			in[job] = stay{queue, o.End + e.Lag}
		} else if o.Kind == SubmitInside && o.Job != "" && o.Queue != "" {
			in[o.Job] = stay{queue: o.Queue}
		}
	}
	for _, r := range e.Runs {
		s, inside := in[r.Job]
		if !inside || s.since > 0 && r.End < s.since {
			continue
		}
		if !slices.ContainsFunc(spans[s.queue], func(span Span) bool {
			return (span.From <= r.Start || r.Start < s.since) && (span.To == Never || r.Start <= span.To+hearing && r.End <= span.To+killDelay+hearing)
		}) {
			f.add("%s was %s, which ran %v", s.queue, r, spans[s.queue])
		}
	}
	return f
}}

// A stay is of a job in the queue of a reservation, for sure since a time; from its submission on if that is 0.
type stay struct {
	queue string
	since time.Duration
}

// movedIn returns which job an operation has moved into which queue of a reservation, if a client was told that it has.
func (o Op) movedIn() (job, queue string, ok bool) {
	switch {
	case o.Result != Done:
	case o.Kind == MoveInside:
		return o.Job, o.Queue, true
	case o.Kind == Reserve && (o.Attr == OfQueued || o.Attr == OfRunning) && o.Answer == "CONFIRMED":
		queue, _, _ = strings.Cut(o.Job, ".")
		return o.Value, queue, true
	}
	return "", "", false
}

// running returns the times in which jobs of a reservation may run.
func (b Booking) running() []Span {
	var all []Span
	on := false
	for _, s := range b.Stages {
		switch {
		case s.State == "RN" && !on:
			all, on = append(all, Span{s.At, Never}), true
		case s.State != "RN" && s.State != "AL" && on:
			all[len(all)-1].To, on = s.At, false
		}
	}
	return all
}

// Reserved wants that reservations have begun, and had jobs: a run without it says nothing of their ends. What is drawn may be without
// one, such as where the leader's clock goes so far ahead that whatever clients ask for has passed.
var Reserved = Law{Name: "reservations began", Amount: true, Judge: func(e *Evidence) []string {
	began, ran := 0, 0
	for _, b := range e.Bookings {
		if len(b.running()) > 0 {
			began++
		}
	}
	for _, o := range e.History {
		if o.Kind == SubmitInside && slices.ContainsFunc(e.Runs, func(r Run) bool { return r.Job == o.Job && o.Job != "" }) {
			ran++
		}
	}
	if began == 0 || ran == 0 {
		return []string{strconv.Itoa(began) + " reservations began, " + strconv.Itoa(ran) + " jobs ran in them"}
	}
	return nil
}}

// Denied wants that a reservation was denied. What is drawn may be without one.
var Denied = Law{Name: "a reservation was denied", Amount: true, Judge: func(e *Evidence) []string {
	for _, b := range e.Bookings {
		if last := b.Stages[len(b.Stages)-1]; len(b.running()) == 0 && last.State == "" && slices.Contains(last.By, "DecideReservation") {
			return nil
		}
	}
	return []string{"none of " + strconv.Itoa(len(e.Bookings)) + " was"}
}}

// MadeGood wants that a start and an end fell due while nobody led: they were made good later.
var MadeGood = Law{Name: "a start and an end were made good", Amount: true, Judge: func(e *Evidence) []string {
	starts, ends := 0, 0
	for _, b := range e.Bookings {
		for i := 1; i < len(b.Stages); i++ {
			was, is := b.Stages[i-1], b.Stages[i]
			if was.State == "CO" && is.Clock > was.Start+1 {
				starts++
			}
			if (was.State == "RN" || was.State == "CO" && is.State == "") && is.Clock > was.End+1 {
				ends++
			}
		}
	}
	if starts == 0 || ends == 0 {
		return []string{strconv.Itoa(starts) + " starts and " + strconv.Itoa(ends) + " ends were late"}
	}
	return nil
}}
