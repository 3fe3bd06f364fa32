package check

import (
	"slices"
	"strconv"
	"strings"
)

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
		books, jobs := recordsByReservation(r, &f), recordsByJob(r, &f)
		for _, o := range e.History {
			if o.Result == Done {
				judgeTold(&f, r, o, byID[o.Job], books[o.Job])
				judgeMoved(&f, r, o, jobs)
			}
		}
	}
	return f
}}

func judgeTold(f *faults, r Replica, o Op, b Booking, book []record) {
	switch o.Kind {
	case Reserve:
		if b.Name != o.Name || len(b.Stages) == 0 || b.Stages[0].Period != o.Period && o.Attr != OfRunning {
			f.add("%s was acknowledged with %s, there was %s %q %v", o.Job, o, b.ID, b.Name, b.Stages)
			return
		}
		ks := countOf(book, "K") + countOf(book, "k")
		switch ys := countOf(book, "Y"); {
		case o.Answer == "CONFIRMED" && ys == 0:
			f.add("%s was said to be confirmed, and has no Y record on %s", o.Job, r.Name)
		case o.Answer == "DENIED" && ys > 0 && ks == 0:
			f.add("%s was said to be denied, and has a Y record on %s", o.Job, r.Name)
		case (o.Answer == "FAILED" || o.Answer == "EXPIRED") && ks == 0:
			f.add("%s was said to be removed, %s has no record of it", o.Job, r.Name)
		}
	case DeleteReservation:
		if countOf(book, "K")+countOf(book, "k") == 0 {
			f.add("the deletion of %s was acknowledged, %s has no record of it", o.Job, r.Name)
		}
	case AlterReservation:
		if o.Answer == "CONFIRMED" && !b.had(o) {
			f.add("%s was said to have %s %s, and never had", o.Job, o.Attr, o.Value)
		}
	}
}

// judgeMoved judges what clients were told of jobs that come into a reservation from another queue.
func judgeMoved(f *faults, r Replica, o Op, jobs map[string][]record) {
	if job, _, ok := o.movedIn(); ok && o.Attr != OfRunning && countOf(jobs[job], "M") == 0 {
		f.add("%s was said to be moved, %s has no record of it: %s", job, r.Name, o)
	}
}

// had reports whether a reservation was once as an alteration wants it, or ended as that at once.
func (b Booking) had(o Op) bool {
	for i, s := range b.Stages {
		if s.has(o) {
			return true
		}
		if i > 0 && slices.ContainsFunc(b.Stages[i-1].granted(s), func(p Period) bool { return p.End <= s.Clock && p.has(o) }) {
			return true
		}
	}
	return false
}

// has reports whether a period is as an alteration wants it.
func (p Period) has(o Op) bool {
	if o.Attr == "reserve_start" {
		return strconv.FormatInt(p.Start, 10) == o.Value
	}
	return strconv.FormatInt(p.End-p.Start, 10) == o.Value
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
			b := e.booking(id)
			judgeBook(&f, r.Name, b, books[id], is)
			last := slices.IndexFunc(books[id], func(rec record) bool { return rec.kind == "Y" })
			for i, rec := range books[id] {
				if rec.kind == "Y" {
					last = i
				}
			}
			if !is || last < 0 || id[0] == 'S' {
				continue
			}
			if y := books[id][last]; y.period() != h.Period || !promised(h.Nodes, y.field("nodes"), h.Taken) {
				f.add("on %s is %s from %d to %d on %s, and the last of it was %s", r.Name, id, h.Start, h.End, h.Nodes, y.line)
			}
		}
	}
	return f
}}

// booking returns what the witness saw of a reservation.
func (e *Evidence) booking(id string) Booking {
	n := slices.IndexFunc(e.Bookings, func(b Booking) bool { return b.ID == id })
	if n < 0 {
		return Booking{ID: id}
	}
	return e.Bookings[n]
}

// asked reports whether a reservation was submitted: one that is made of a job was not.
func (b Booking) asked() bool {
	return len(b.Stages) == 0 || b.Stages[0].State == "UN" || b.ID[0] == 'M'
}

// promised reports whether nodes are the vnodes of a record or, where a maintenance has taken some, the rest of them.
func promised(nodes, of string, taken bool) bool { return nodes == of || taken && leftOf(nodes, of) }

func judgeBook(f *faults, replica string, b Booking, book []record, left bool) {
	id, asked := b.ID, b.asked()
	taken := slices.ContainsFunc(b.Stages, func(s Stage) bool { return s.Taken })
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
		case rec.kind == "B" && id[0] != 'S' && (rec.period() != y.period() || !promised(rec.field("nodes"), y.field("nodes"), taken)):
			f.add("on %s %s has begun otherwise than it was confirmed: %s / %s", replica, id, y.line, rec.line)
		}
		if rec.kind == "B" {
			began[rec.field("start")] = true
		}
	}
}

// starts returns the planned starts at which it began.
func (b Booking) starts() (all []int64) {
	was := Stage{}
	for _, is := range b.Stages {
		if is.State == "RN" && (was.State != "RN" && was.State != "AL" || is.Left < was.Left) {
			all = append(all, is.Start)
		}
		was = is
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
