package calendar_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
)

// naive is what a calendar is, in the simplest words: the holds, and every instant looked at.
type naive struct{ holds []*calendar.Hold }

const (
	horizon = 40 // by when everything begins
	last    = 60 // by when everything is over, but for what is for ever
)

// counts are what may be asked for: whether runs count beyond their expected ends, and whether top jobs do at all.
var counts = map[calendar.Count]struct{ overdue, tops bool }{
	calendar.All: {true, true}, calendar.Planned: {false, true}, calendar.Certain: {true, false}, calendar.Likely: {false, false},
}

func (n *naive) at(c calendar.Count, resource string, t pbs.Time) (held int64, users int, alone, host bool) {
	for _, h := range n.holds {
		end := h.Until
		if top := h.Kind == calendar.Top; h.Expected != 0 && (top || !counts[c].overdue) {
			end = min(end, h.Expected)
		}
		if t < h.From || end <= t || h.Kind == calendar.Top && !counts[c].tops {
			continue
		}
		for _, it := range h.Items {
			if it.Resource == resource {
				held += it.Amount
			}
		}
		if h.Kind != calendar.Suspended {
			users++
			alone, host = alone || h.Alone, host || h.Host
		}
	}
	return held, users, alone, host
}

func (n *naive) most(c calendar.Count, resource string, from, until pbs.Time) (held int64, users int, alone, host bool) {
	held, users, alone, host = n.at(c, resource, from)
	for t := from + 1; t < min(until, last); t++ {
		h, u, a, o := n.at(c, resource, t)
		held, users, alone, host = max(held, h), max(users, u), alone || a, host || o
	}
	return held, users, alone, host
}

func check(t *rapid.T, v *calendar.Vnode, n *naive) {
	for _, resource := range []string{"ncpus", "mem"} {
		from := pbs.Time(rapid.Int64Range(0, horizon-2).Draw(t, "from"))
		until := from + pbs.Time(rapid.Int64Range(1, horizon).Draw(t, "long"))
		if rapid.Bool().Draw(t, "forever") {
			until = calendar.Forever
		}
		for c := range counts {
			held, users, alone, host := n.most(c, resource, from, until)
			if got := v.HeldOf(c, resource, from, until); got != held {
				t.Fatalf("%d: %s held in [%d,%d): %d, want %d", c, resource, from, until, got, held)
			}
			if u, a, h := v.UseOf(c, from, until); u != users || a != alone || h != host {
				t.Fatalf("%d: use in [%d,%d): %d %v %v, want %d %v %v", c, from, until, u, a, h, users, alone, host)
			}
		}
	}
}

// A calendar answers as the model does, whatever comes and goes.
func TestProperty_Vnode(t *testing.T) { rapid.Check(t, byModel) }

func FuzzVnode(f *testing.F) { f.Fuzz(rapid.MakeFuzz(byModel)) }

func byModel(t *rapid.T) {
	var v calendar.Vnode
	var n naive
	t.Repeat(map[string]func(*rapid.T){
		"add": func(t *rapid.T) {
			h := &calendar.Hold{
				From: pbs.Time(rapid.Int64Range(0, horizon-2).Draw(t, "from")),
				Kind: rapid.SampledFrom([]calendar.Kind{calendar.Run, calendar.Suspended, calendar.Reservation, calendar.Top}).Draw(t, "kind"),
				By:   rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "by"),
				Items: []calendar.Amount{
					{Resource: "ncpus", Amount: rapid.Int64Range(0, 8).Draw(t, "ncpus")},
					{Resource: "mem", Amount: rapid.Int64Range(0, 8).Draw(t, "mem")},
				},
				Alone: rapid.Bool().Draw(t, "alone"),
			}
			h.Host = h.Alone && rapid.Bool().Draw(t, "host")
			h.Until = h.From + pbs.Time(rapid.Int64Range(-1, 10).Draw(t, "long"))
			if rapid.IntRange(0, 4).Draw(t, "forever") == 0 {
				h.Until = calendar.Forever
			}
			if rapid.Bool().Draw(t, "soft") {
				h.Expected = h.From + pbs.Time(rapid.Int64Range(0, 12).Draw(t, "expected"))
			}
			v.Add(h)
			if h.Until > h.From {
				n.holds = append(n.holds, h)
			}
		},
		"take": func(t *rapid.T) {
			by := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "by")
			wanted := func(h *calendar.Hold) bool { return h.By == by }
			taken := v.Take(wanted)
			before := len(n.holds)
			n.holds = slices.DeleteFunc(n.holds, wanted)
			if len(taken) != before-len(n.holds) || slices.ContainsFunc(taken, func(h *calendar.Hold) bool { return h.By != by }) {
				t.Fatalf("took %d holds of %s, want %d", len(taken), by, before-len(n.holds))
			}
		},
		"anew": func(*rapid.T) {
			v.Clear()
			v.AddAll(n.holds)
		},
		"": func(t *rapid.T) {
			check(t, &v, &n)
			if len(v.Holds()) != len(n.holds) || !slices.IsSortedFunc(v.Holds(), func(a, b *calendar.Hold) int { return int(a.From - b.From) }) {
				t.Fatalf("holds %v", v.Holds())
			}
		},
	})
}

// Periods that touch do not overlap.
func TestVnode_Touching(t *testing.T) {
	var v calendar.Vnode
	eight := []calendar.Amount{{Resource: "ncpus", Amount: 8}}
	v.Add(&calendar.Hold{From: 10, Until: 20, Kind: calendar.Reservation, By: "R1", Items: eight})
	v.Add(&calendar.Hold{From: 20, Until: calendar.Forever, Kind: calendar.Run, By: "1", Items: eight})
	for _, c := range []struct{ from, until, want pbs.Time }{{0, 10, 0}, {0, 11, 8}, {10, 20, 8}, {15, 25, 8}, {20, 21, 8}} {
		if got := v.Held("ncpus", c.from, c.until); got != int64(c.want) {
			t.Errorf("[%d,%d): %d, want %d", c.from, c.until, got, c.want)
		}
	}
}
