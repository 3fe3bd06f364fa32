// Package timeline draws which vnodes a job held when, what ended each phase, and what was used
// in it, from the accounting records of the job: as text for a terminal, as SVG, as JSON. It is
// pure: records, their zone and a moment go in, text comes out.
package timeline

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// A Job is what its records tell. Times are in the zone of the records, which have whole seconds.
type Job struct {
	ID     string    `json:"job"`
	Name   string    `json:"name,omitempty"`
	User   string    `json:"user,omitempty"`
	Queue  string    `json:"queue,omitempty"`
	Queued time.Time `json:"queued,omitzero"`
	// Left is when the job went without a run, zero if it did not: deleted while it waited, aborted, moved to another server.
	Left   time.Time `json:"left,omitzero"`
	Runs   []Run     `json:"runs"`
	Events []Event   `json:"events,omitempty"`
	// Now is the end of what runs on.
	Now time.Time `json:"now"`
}

// A Run is one start of the job and what followed from it.
type Run struct {
	Number    int               `json:"run_count"`
	Start     time.Time         `json:"start"`
	End       time.Time         `json:"end,omitzero"` // zero: it runs on
	Ending    string            `json:"ending"`
	Phases    []Phase           `json:"phases"`
	Suspended []Halt            `json:"suspended,omitempty"`
	Used      map[string]string `json:"resources_used,omitempty"`
}

// ended begins how a run has ended by itself.
const ended = "ended with exit status "

// Exited returns the exit status of a run that has ended by itself; false: it runs on, or was ended so that the job waits again.
func (r *Run) Exited() (status int, ok bool) {
	text, ok := strings.CutPrefix(r.Ending, ended)
	if !ok {
		return 0, false
	}
	status, err := strconv.Atoi(text)
	return status, err == nil
}

// A Halt is a time in which the run was suspended.
type Halt struct {
	Span
	Load string `json:"load_stop,omitempty"` // HOST:INDEX+INDEX that were beyond loadStop; empty: it was not load
}

// A Phase is a time in which the assignment did not change.
type Phase struct {
	Span
	Began  string            `json:"began"` // what made the assignment
	Vnodes []Share           `json:"vnodes"`
	Used   map[string]string `json:"resources_used,omitempty"`
}

// A Span is a time; its End is zero while it lasts.
type Span struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end,omitzero"`
}

// A Share is what the job has of a vnode.
type Share struct {
	Vnode string `json:"vnode"`
	NCPUs int64  `json:"ncpus"`
	MemKB int64  `json:"mem_kb"`
}

// An Event is something that was asked of the job or befell it.
type Event struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// A record is one line of accounting.
type record struct {
	at     time.Time
	letter byte
	text   string
	fields map[string]string
}

// The lengths of a moment, and of the head before the id.
const (
	momentLen = len("11/21/2027 10:00:00")
	headLen   = momentLen + len(";S;")
)

// parse reads a line; what is no record is none.
func parse(line []byte, zone *time.Location) (record, bool) {
	if len(line) < headLen {
		return record{}, false
	}
	at, err := time.ParseInLocation("01/02/2006 15:04:05", string(line[:momentLen]), zone)
	_, text, ok := bytes.Cut(line[headLen:], []byte(";"))
	if err != nil || !ok {
		return record{}, false
	}
	r := record{at: at, letter: line[momentLen+1], text: string(text), fields: map[string]string{}}
	for rest := r.text; rest != ""; {
		var name, value string
		if name, rest, ok = strings.Cut(rest, "="); !ok {
			break
		}
		value, rest = cutValue(rest)
		r.fields[name] = value
	}
	return r, true
}

// cutValue takes a value off the front: in quotes if it holds blanks.
func cutValue(s string) (value, rest string) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		if n := strings.Index(s[1:]+" ", s[:1]+" "); n >= 0 {
			return s[1 : n+1], strings.TrimPrefix(s[n+2:], " ")
		}
	}
	value, rest, _ = strings.Cut(s, " ")
	return value, rest
}

// used returns the resources_used of a record.
func (r record) used() map[string]string {
	all := map[string]string{}
	for name, value := range r.fields {
		if resource, ok := strings.CutPrefix(name, "resources_used."); ok {
			all[resource] = value
		}
	}
	return all
}

// shares reads an exec_vnode: each vnode once, with all that chunks have of it.
func shares(text string) []Share {
	exec, err := spec.ParseExecVnode(text)
	if err != nil {
		return nil
	}
	at := map[string]int{}
	var all []Share
	for _, chunk := range exec {
		for _, part := range chunk.Parts {
			name := string(part.Vnode)
			i, ok := at[name]
			if !ok {
				i = len(all)
				at[name] = i
				all = append(all, Share{Vnode: name})
			}
			ncpus, _ := part.Items.Get("ncpus")
			mem, _ := part.Items.Get("mem")
			all[i].NCPUs += count(ncpus)
			all[i].MemKB += kilobytes(mem)
		}
	}
	return all
}

func count(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// kilobytes is 0 for what is no size.
func kilobytes(text string) int64 {
	q, err := resource.Parse(resource.Size, text)
	if err != nil {
		return 0
	}
	return q.Int()
}
