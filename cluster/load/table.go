package load

import (
	"container/list"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
)

// A Value is what a mom says of an index, of mem, swp and tmp in megabytes.
type Value struct {
	Name  string
	Value float64
}

// A Report is what holds of a host, by index. Once in the table it is not written to.
type Report map[string]resreq.Amount

// A Wish is when a mom is to tell of load that has moved.
type Wish uint8

// The wishes.
const (
	Now Wish = iota + 1 // nothing is known of the host
	Seldom
	Often
)

const (
	// silent is for how long a host that was not heard of still counts: two renewals and some more.
	silent = 12 * time.Second
	// wanted is for how long a look, or a plan that goes by load, has moms tell often.
	wanted = 2 * time.Minute
	// most bounds what is kept of one host.
	most = 256
)

// A Table is what the leader of a term has heard.
type Table struct {
	mu      sync.Mutex
	term    uint64
	began   time.Time // of the term, as far as it was noted
	looked  time.Time // when somebody went by load last
	hosts   map[pbs.HostName]*heard
	changed chan struct{}
	news    news
}

type heard struct {
	host    pbs.HostName
	at      time.Time     // of the last renewal
	report  Report        // nil: nothing was told
	refused []string      // of the last report: names, and why
	place   *list.Element // among those that are heard; nil: nothing holds of it
}

// NewTable returns a table in which nothing is.
func NewTable() *Table {
	return &Table{hosts: map[pbs.HostName]*heard{}, changed: make(chan struct{})}
}

// Renewed takes what came with a renewal in a term, nothing if told is false, and returns what is refused of it, unless that was so the last time,
// too. Known reports whether a site has a number of a name.
func (t *Table) Renewed(term uint64, host pbs.HostName, told bool, values []Value, known func(string) bool) (refused []string, wish Wish) {
	var report Report
	var bad, reasons []string
	if told {
		report, bad, reasons = read(values, known)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.beginLocked(term, now)
	h := t.hosts[host]
	if h == nil {
		h = &heard{host: host}
		t.hosts[host] = h
	}
	t.news.lapse(now)
	h.at = now
	if told {
		if !slices.Equal(reasons, h.refused) {
			h.refused, refused = reasons, bad
		}
		if h.report == nil || !maps.Equal(report, h.report) {
			h.report = report
			t.news.add(host)
			close(t.changed)
			t.changed = make(chan struct{})
		}
	}
	t.news.hears(h)
	switch {
	case h.report == nil:
		return refused, Now
	case now.Sub(t.looked) < wanted:
		return refused, Often
	}
	return refused, Seldom
}

// Begin forgets what was heard in terms before this one.
func (t *Table) Begin(term uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.beginLocked(term, time.Now())
}

func (t *Table) beginLocked(term uint64, now time.Time) {
	if term > t.term {
		t.term, t.began = term, now
		clear(t.hosts)
		t.news.forget()
	}
}

// Look has moms tell often from now on, for a while.
func (t *Table) Look() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.looked = time.Now()
}

// Of returns what holds of a host; false: it has said nothing in this term, or was not heard of lately.
func (t *Table) Of(host pbs.HostName) (Report, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.hosts[host]
	if h == nil || !h.holds(time.Now()) {
		return nil, false
	}
	return h.report, true
}

// Fresh reports whether the term is so young that hosts which were not heard of yet may still be.
func (t *Table) Fresh() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.began.IsZero() || time.Since(t.began) < silent
}

// Changed returns a channel that is closed when another report is there.
func (t *Table) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed
}

// read makes a report of what a mom says, without what cannot be: refused says that with the values, reasons without, for these may move.
func read(values []Value, known func(string) bool) (report Report, refused, reasons []string) {
	report = make(Report, len(values))
	for _, v := range values {
		name, why := v.Name, ""
		r, builtin := resreq.Site{}.Resource(name)
		switch {
		case builtin:
			name = r.Name
			if r.Kind != resreq.Numeric {
				why = "it is no number"
			}
		case !known(name):
			why = "the cluster has no numeric resource of that name"
		}
		switch {
		case why != "":
		case len(report) >= most:
			why = fmt.Sprintf("a host has at most %d", most)
		default:
			why = Absurd(name, v.Value)
		}
		if why != "" {
			refused, reasons = append(refused, fmt.Sprintf("%.40q = %g: %s", v.Name, v.Value, why)), append(reasons, fmt.Sprintf("%.40q: %s", v.Name, why))
			if len(refused) == most {
				return report, refused, reasons
			}
			continue
		}
		report[name] = resreq.Amount(math.Round(v.Value * float64(resreq.Unit(name))))
	}
	return report, refused, reasons
}

// highest is more than any host has: in thousandths of a kilobyte it is still a number.
const highest = 1e12

// Absurd says why a number cannot be the value of an index, if it cannot.
func Absurd(index string, value float64) string {
	switch {
	case math.IsNaN(value), math.IsInf(value, 0):
		return "it is no number"
	case value < 0:
		return "it is negative"
	case index == "ut" && value > 100:
		return "it is more than 100 percent"
	case value > highest:
		return "it is more than any host has"
	}
	return ""
}
