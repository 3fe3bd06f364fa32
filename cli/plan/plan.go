// Package plan draws what vnodes have to do from now on: runs until their walltime, reservations, and jobs that are expected
// to start; as text for a terminal, as SVG, as JSON. It is pure: bars and moments go in, text comes out. The bars come from
// lists that any replica answers, so nobody has to be asked who plans.
package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rampart/fsm/spec"
)

// A Kind says why a vnode is held.
type Kind string

// The kinds, the strongest first: where two hold a vnode in one column of the picture the first is drawn.
const (
	Reservation Kind = "reservation"
	Run         Kind = "run"
	Expected    Kind = "expected"  // a job that is to start then, if all goes as planned
	Suspended   Kind = "suspended" // a job that waits to go on there, nobody knows when
)

// A Bar is a vnode held for a time.
type Bar struct {
	Vnode string    `json:"vnode"`
	Kind  Kind      `json:"kind"`
	Of    string    `json:"of"` // id of the job or the reservation
	What  string    `json:"what"`
	From  time.Time `json:"from"`
	Until time.Time `json:"until,omitzero"` // zero: nobody knows
}

// A Plan is what is known of the time to come.
type Plan struct {
	Now   time.Time         `json:"now"`
	Until time.Time         `json:"until"`
	Rows  []string          `json:"vnodes"` // in their order
	Bars  []Bar             `json:"bars"`
	State map[string]string `json:"state,omitempty"` // of vnodes that take nothing
}

// Hold adds a bar for each vnode of an assignment; what is no assignment adds none.
func (p *Plan) Hold(kind Kind, of, assignment string, from, until time.Time) {
	nodes, err := spec.ParseExecVnode(assignment)
	if assignment == "" || err != nil || !until.IsZero() && !until.After(p.Now) || from.After(p.Until) {
		return
	}
	what := map[string][]string{}
	var order []string
	for _, ch := range nodes {
		for _, part := range ch.Parts {
			name := string(part.Vnode)
			if _, ok := what[name]; !ok {
				order = append(order, name)
			}
			for _, it := range part.Items {
				what[name] = append(what[name], it.Name+"="+it.Value)
			}
		}
	}
	for _, name := range order {
		p.Bars = append(p.Bars, Bar{Vnode: name, Kind: kind, Of: of, What: strings.Join(what[name], ":"), From: from, Until: until})
	}
}

// end returns where a bar ends in the picture.
func (p *Plan) end(b Bar) time.Time {
	if b.Until.IsZero() || b.Until.After(p.Until) {
		return p.Until
	}
	return b.Until
}

func (p *Plan) begin(b Bar) time.Time {
	if b.From.Before(p.Now) {
		return p.Now
	}
	return b.From
}

// strength orders kinds as Kind says.
func (k Kind) strength() int { return slices.Index([]Kind{Suspended, Expected, Run, Reservation}, k) }

// A row is one vnode, or several with the same bars that follow each other.
type row struct {
	name string
	bars []Bar
}

// rows groups the vnodes: those for which nothing is known are left out and counted.
func (p *Plan) rows() (rows []row, idle int) {
	of := map[string][]Bar{}
	for _, b := range p.Bars {
		of[b.Vnode] = append(of[b.Vnode], b)
	}
	last, count := "", 0
	for _, name := range p.Rows {
		bars := of[name]
		if state := p.State[name]; len(bars) == 0 && state == "" {
			idle++
			continue
		}
		slices.SortStableFunc(bars, func(a, b Bar) int { return cmp.Or(a.From.Compare(b.From), strings.Compare(a.Of, b.Of)) })
		if key := p.key(name, bars); key == last {
			if count++; count > 1 {
				first, _, _ := strings.Cut(rows[len(rows)-1].name, " .. ")
				rows[len(rows)-1].name = first + " .. " + name
			}
			continue
		} else {
			last, count = key, 1
		}
		rows = append(rows, row{name, bars})
	}
	return rows, idle
}

// key returns the same for vnodes that look alike.
func (p *Plan) key(name string, bars []Bar) string {
	var b strings.Builder
	b.WriteString(p.State[name])
	for _, bar := range bars {
		b.WriteString("|" + string(bar.Kind) + bar.Of + bar.What + bar.From.String() + bar.Until.String())
	}
	return b.String()
}

// layout shows as much of a time as the picture needs.
func (p *Plan) layout() string {
	if p.Now.Format(time.DateOnly) == p.Until.Format(time.DateOnly) {
		return "15:04"
	}
	return "Jan 2 15:04"
}
