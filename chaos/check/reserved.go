package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Booking is a reservation as the first replica that applied an entry saw it, from its submission on.
type Booking struct {
	ID, Name string
	Stages   []Stage // what it became
}

// A Stage is what a reservation was from an entry on.
type Stage struct {
	At    time.Duration
	Index uint64
	Clock int64  // of the log, in seconds since the epoch
	State string // short; empty: it is gone
	Period
	Nodes string
	Left  int      // occurrences that are not over
	Hurt  bool     // a vnode of it cannot be used
	By    []string // kinds of commands in the entry that were about it
}

// String returns the booking as one line.
func (b Booking) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s:", b.ID, b.Name)
	for _, s := range b.Stages {
		if s.State == "" {
			s.State = "gone"
		}
		fmt.Fprintf(&out, " %s at %.3fs (%d; %d to %d on %q, %d left) by %v;", s.State, s.At.Seconds(), s.Clock, s.Start, s.End, s.Nodes, s.Left, s.By)
	}
	return out.String()
}

// Same tells whether a reservation is what it was.
func (s Stage) Same(o Stage) bool {
	return s.State == o.State && s.Period == o.Period && s.Nodes == o.Nodes && s.Left == o.Left && s.Hurt == o.Hurt
}

// A Reservation is what a replica's state says of one at the end.
type Reservation struct {
	ID, Name string
	State    string // short
	Period
	Nodes string
}

// Reservations lists the laws of reservations.
func Reservations() []Law {
	return []Law{
		LegalReservationMoves, ReservationsKept, ReservationsOnTime, ReservationsTold, ReservationsAccounted, InsideJobs, InsideTheirTime,
	}
}

// ReservationsKept is L15 of those that have their vnodes: nothing but an answered question, an alteration, the end of an
// occurrence or a deletion changes times and vnodes, and none goes by anything but its end or a deletion.
var ReservationsKept = Law{Name: "L15 reservations are kept", Judge: func(e *Evidence) []string {
	var f faults
	for _, b := range e.Bookings {
		for i := 1; i < len(b.Stages); i++ {
			judgeStage(&f, b, b.Stages[i-1], b.Stages[i])
		}
	}
	return f
}}

func judgeStage(f *faults, b Booking, was, is Stage) {
	decided, altered := slices.Contains(is.By, "DecideReservation"), slices.Contains(is.By, "AlterReservation")
	over := was.End <= is.Clock
	switch {
	case was.State == "": // a later one never has its number
		f.add("%s was gone, and is %s at index %d", b.ID, is.State, is.Index)
	case is.State == "":
		if !over && was.State != "BD" && !slices.Contains(is.By, "DeleteReservation") && !altered && (!decided || was.State != "UN" && was.State != "AL") {
			f.add("%s, %s until %d, was gone at %d (index %d, by %v)", b.ID, was.State, was.End, is.Clock, is.Index, is.By)
		}
	case is.Left != was.Left:
		if is.Left > was.Left || !over || was.State != "RN" && was.State != "DJ" && was.State != "CO" && was.State != "DG" && was.State != "AL" {
			f.add("%s, %s until %d, goes on to another occurrence at %d (index %d)", b.ID, was.State, was.End, is.Clock, is.Index)
		}
	case (is.Period != was.Period || is.Nodes != was.Nodes) && !decided && !altered:
		f.add("%s was promised %s from %d to %d, and has %s from %d to %d since index %d, by %v",
			b.ID, was.Nodes, was.Start, was.End, is.Nodes, is.Start, is.End, is.Index, is.By)
	}
}

// latest is how late, by the clock of the log, a reservation may begin or end: no majority is away for longer.
const latest = 30

// ReservationsOnTime is that what is confirmed begins at its time, and what has begun ends at it, or as soon as there is a leader.
var ReservationsOnTime = Law{Name: "L15 reservations are on time", Judge: func(e *Evidence) []string {
	var f faults
	for _, b := range e.Bookings {
		for i := 1; i < len(b.Stages); i++ {
			was, is := b.Stages[i-1], b.Stages[i]
			switch late := is.Clock - latest; {
			case (was.State == "CO" || was.State == "DG") && was.Start < late:
				f.add("%s was %s until %d, and was to begin at %d", b.ID, was.State, is.Clock, was.Start)
			case was.State == "RN" && was.End < late:
				f.add("%s was RN until %d, and was to end at %d", b.ID, is.Clock, was.End)
			case is.State == "RN" && was.State != "RN" && was.State != "AL" && was.Start > is.Clock && !slices.Contains(is.By, "AlterReservation"):
				f.add("%s began at %d, and was to begin at %d", b.ID, is.Clock, was.Start)
			}
		}
	}
	return f
}}

// ReservationsTold is L6 and L8 of reservations: what clients were told is so, and a request has made one.
var ReservationsTold = Law{Name: "L6 true answers of reservations", Judge: func(e *Evidence) []string {
	var f faults
	named, byID := make(map[string][]string), make(map[string]Booking)
	for _, b := range e.Bookings {
		named[b.Name], byID[b.ID] = append(named[b.Name], b.ID), b
	}
	for _, o := range e.History {
		if o.Kind != Reserve {
			continue
		}
		ids := named[o.Name]
		if len(ids) > 1 {
			f.add("%s was asked for once, there were %v", o.Name, ids)
		}
		if (o.Result == Refused || o.Result == Failed) && len(ids) > 0 {
			f.add("the reservation %s was %s, and there was %v", o.Name, o.Result, ids)
		}
	}
	for _, r := range e.Replicas {
		books := recordsByReservation(r, &f)
		for _, o := range e.History {
			if o.Result == Done {
				judgeTold(&f, r, o, byID[o.Job], books[o.Job])
			}
		}
	}
	return f
}}

func judgeTold(f *faults, r Replica, o Op, b Booking, book []record) {
	switch o.Kind {
	case Reserve:
		if b.Name != o.Name || len(b.Stages) == 0 || b.Stages[0].Period != o.Period {
			f.add("%s was acknowledged with %s, there was %s %q %v", o.Job, o, b.ID, b.Name, b.Stages)
			return
		}
		switch ys := countOf(book, "Y"); {
		case o.Answer == "CONFIRMED" && ys == 0:
			f.add("%s was said to be confirmed, and has no Y record on %s", o.Job, r.Name)
		case o.Answer == "DENIED" && ys > 0 && countOf(book, "K")+countOf(book, "k") == 0:
			f.add("%s was said to be denied, and has a Y record on %s", o.Job, r.Name)
		}
	case DeleteReservation:
		if countOf(book, "K")+countOf(book, "k") == 0 {
			f.add("the deletion of %s was acknowledged, %s has no record of it", o.Job, r.Name)
		}
	case AlterReservation:
		if o.Answer == "CONFIRMED" && !slices.ContainsFunc(b.Stages, func(s Stage) bool { return s.has(o) }) {
			f.add("%s was said to have %s %s, and never had", o.Job, o.Attr, o.Value)
		}
	}
}

// has tells whether a reservation is as an alteration wants it.
func (s Stage) has(o Op) bool {
	if o.Attr == "reserve_start" {
		return strconv.FormatInt(s.Start, 10) == o.Value
	}
	return strconv.FormatInt(s.End-s.Start, 10) == o.Value
}

// ReservationsAccounted is L10 of reservations: the records of each are U, then Y, then B, once for each occurrence, and one K or k
// when it is gone, with the times and vnodes that it has.
var ReservationsAccounted = Law{Name: "L10 reservations are accounted", Judge: func(e *Evidence) []string {
	var f faults
	for _, r := range e.Replicas {
		left := make(map[string]Reservation)
		for _, h := range r.Holds {
			left[h.ID] = h
		}
		books := recordsByReservation(r, &f)
		for _, b := range e.Bookings {
			if len(books[b.ID]) == 0 {
				f.add("%s has no record of %s", r.Name, b.ID)
			}
			for _, at := range b.starts() {
				if !slices.ContainsFunc(books[b.ID], func(rec record) bool { return rec.kind == "B" && rec.period().Start == at }) {
					f.add("%s began for %d and has no B record of that on %s", b.ID, at, r.Name)
				}
			}
		}
		for _, id := range sortedKeys(books) {
			h, is := left[id]
			judgeBook(&f, r.Name, id, books[id], is, e.asked(id))
			last := slices.IndexFunc(books[id], func(rec record) bool { return rec.kind == "Y" })
			for i, rec := range books[id] {
				if rec.kind == "Y" {
					last = i
				}
			}
			if !is || last < 0 || id[0] != 'R' {
				continue
			}
			if y := books[id][last]; y.period() != h.Period || y.field("nodes") != h.Nodes {
				f.add("on %s is %s from %d to %d on %s, and the last of it was %s", r.Name, id, h.Start, h.End, h.Nodes, y.line)
			}
		}
	}
	return f
}}

// asked reports whether a reservation was submitted and decided: one that is made of a job was not.
func (e *Evidence) asked(id string) bool {
	n := slices.IndexFunc(e.Bookings, func(b Booking) bool { return b.ID == id })
	return n < 0 || len(e.Bookings[n].Stages) == 0 || e.Bookings[n].Stages[0].State == "UN"
}

func judgeBook(f *faults, replica, id string, book []record, left, asked bool) {
	var y record
	began := make(map[string]bool)
	for i, rec := range book {
		switch {
		case (rec.kind == "U") != (i == 0 && asked):
			f.add("on %s the records of %s have %s at place %d", replica, id, rec.kind, i+1)
		case (rec.kind == "K" || rec.kind == "k") != (i == len(book)-1 && !left) && i > 0:
			f.add("on %s the records of %s have %s at place %d of %d, and it is left: %t", replica, id, rec.kind, i+1, len(book), left)
		case rec.kind == "Y":
			y = rec
		case rec.kind == "B" && y.kind == "":
			f.add("on %s %s has a B and no Y before it", replica, id)
		case rec.kind == "B" && began[rec.field("start")]:
			f.add("on %s %s has begun twice at %s", replica, id, rec.field("start"))
		case rec.kind == "B" && id[0] == 'R' && (rec.period() != y.period() || rec.field("nodes") != y.field("nodes")):
			f.add("on %s %s has begun otherwise than it was confirmed: %s / %s", replica, id, y.line, rec.line)
		}
		if rec.kind == "B" {
			began[rec.field("start")] = true
		}
	}
}

// starts returns the planned starts at which it began.
func (b Booking) starts() (all []int64) {
	for i := 1; i < len(b.Stages); i++ {
		if was, is := b.Stages[i-1], b.Stages[i]; is.State == "RN" && (was.State == "CO" || was.State == "DG") {
			all = append(all, is.Start)
		}
	}
	return all
}

// field returns a field of a record; empty: it has none.
func (r record) field(name string) string {
	for _, word := range strings.Fields(r.line) {
		if i := strings.LastIndexByte(word[:strings.IndexByte(word+"=", '=')], ';'); i >= 0 {
			word = word[i+1:]
		}
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}

func (r record) period() Period {
	start, _ := strconv.ParseInt(r.field("start"), 10, 64)
	end, _ := strconv.ParseInt(r.field("end"), 10, 64)
	return Period{start, end}
}

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
	spans, in := make(map[string][]Span), make(map[string]string)
	for _, b := range e.Bookings {
		queue, _, _ := strings.Cut(b.ID, ".")
		spans[queue] = b.running()
	}
	for _, o := range e.History {
		if o.Kind == SubmitInside && o.Job != "" {
			in[o.Job] = o.Queue
		}
	}
	for _, r := range e.Runs {
		queue, inside := in[r.Job]
		if inside && !slices.ContainsFunc(spans[queue], func(s Span) bool {
			return s.From <= r.Start && (s.To == Never || r.Start <= s.To+hearing && r.End <= s.To+killDelay+hearing)
		}) {
			f.add("%s was %s, which ran %v", queue, r, spans[queue])
		}
	}
	return f
}}

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

// Reserved wants that reservations have begun, were denied, and had jobs: a run without it says nothing of them.
var Reserved = Law{Name: "reservations began", Amount: true, Judge: func(e *Evidence) []string {
	began, denied, ran := 0, 0, 0
	for _, b := range e.Bookings {
		if n := len(b.running()); n > 0 {
			began++
		} else if last := b.Stages[len(b.Stages)-1]; last.State == "" && slices.Contains(last.By, "DecideReservation") {
			denied++
		}
	}
	for _, o := range e.History {
		if o.Kind == SubmitInside && slices.ContainsFunc(e.Runs, func(r Run) bool { return r.Job == o.Job && o.Job != "" }) {
			ran++
		}
	}
	if began == 0 || denied == 0 || ran == 0 {
		return []string{strconv.Itoa(began) + " reservations began, " + strconv.Itoa(denied) + " were denied, " + strconv.Itoa(ran) + " jobs ran in them"}
	}
	return nil
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
