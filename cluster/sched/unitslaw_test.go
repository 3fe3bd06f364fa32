package sched_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
)

// RSV-01: whoever may be over several compute units is in as few as hold him, as the requirement says, and waits only where none do. All of
// them may have to agree in something, and he may want each to himself.
func TestLayout_UnitsLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newTurning(t)
		c.resource("color", "string")
		per := rapid.IntRange(1, 2).Draw(t, "slots of a chunk")
		same, excl := rapid.Bool().Draw(t, "same"), rapid.Bool().Draw(t, "excl")
		type spot struct {
			unit  int
			color string
		}
		at := map[pbs.VnodeName]spot{}
		rooms, used := map[string][]int{}, map[int]bool{} // by color, chunks that each unit could hold
		n := rapid.IntRange(2, 4).Draw(t, "units")
		for u := range n {
			for h := range rapid.IntRange(1, 2).Draw(t, "hosts") {
				cpus := rapid.IntRange(1, 4).Draw(t, "cpus")
				p := spot{u, ""}
				if same {
					p.color = rapid.SampledFrom([]string{"red", "blue"}).Draw(t, "color")
				}
				name := fmt.Sprintf("h%d%d", u, h)
				offer := fmt.Sprintf("%s:ncpus=%d,arch=u%d", name, cpus, u)
				if same {
					offer += ",color=" + p.color
				}
				c.host(name, offer)
				if rapid.IntRange(0, 3).Draw(t, "used") == 0 {
					c.asking("on"+name, "1:ncpus=1:host="+name)
					cpus, used[u] = cpus-1, true
				}
				at[pbs.VnodeName(name)] = p
				if rooms[p.color] == nil {
					rooms[p.color] = make([]int, n)
				}
				rooms[p.color][u] += cpus / per
			}
		}
		layout := lsf.Layout{Kinds: []lsf.KindLayout{{Term: 1}}, Units: lsf.UnitLayout{Type: "arch", Max: rapid.IntRange(0, 4).Draw(t, "most")}, Unit: excl}
		layout.Units.Balance = rapid.Bool().Draw(t, "balance")
		var all []int
		for _, color := range slices.Sorted(maps.Keys(rooms)) {
			for u := range rooms[color] {
				if excl && used[u] {
					rooms[color][u] = 0
				}
			}
			all = append(all, rooms[color]...)
		}
		layout.Units.Usable = rapid.IntRange(0, per*slices.Max(all)+1).Draw(t, "usable")
		chunks := rapid.IntRange(1, sum(all)+1).Draw(t, "chunks")
		place := "free"
		if excl {
			place += ":exclhost"
		}
		if same {
			place += ":group=color"
		}
		c.asking("j", fmt.Sprintf("%d:ncpus=%d", chunks, per), "Resource_List.place="+place, "lsf_layout="+layout.String())
		fewest := 0
		for _, r := range rooms {
			if k := fewestUnits(r, layout.Units, chunks, per); k > 0 && (fewest == 0 || k < fewest) {
				fewest = k
			}
		}
		j, _ := c.store.View().Job(c.names["j"])
		if j.State != pbs.Running {
			if fewest > 0 {
				t.Fatalf("%s: %d chunks of %d wait, and %d of the units %v hold them", layout, chunks, per, fewest, rooms)
			}
			return
		}
		has, colors := make([]int, n), map[string]bool{}
		whole := map[pbs.VnodeName]bool{}
		for i, ch := range j.LastRun().ExecVnode {
			p := at[ch.Parts[0].Vnode]
			whole[ch.Parts[0].Vnode] = true
			if i < chunks {
				has[p.unit]++
				colors[p.color] = true
			}
		}
		for name, p := range at {
			if excl && has[p.unit] > 0 && (used[p.unit] || !whole[name]) {
				t.Fatalf("%s: %s has not all of unit %d, of which %v is used", layout, j.LastRun().ExecVnode, p.unit, used)
			}
		}
		slices.SortFunc(has, func(a, b int) int { return b - a })
		has = slices.DeleteFunc(has, func(n int) bool { return n == 0 })
		short := 0
		for _, n := range has {
			if n*per < layout.Units.Usable {
				short++
			}
		}
		if len(has) != fewest || layout.Units.Balance && has[0]-has[len(has)-1] > 1 || len(has) > 1 && short > 1 || len(colors) > 1 {
			t.Fatalf("%s: %d chunks of %d are %v over units that hold %v, %d of which would do", layout, chunks, per, has, rooms, fewest)
		}
	})
}

func sum(all []int) (n int) {
	for _, one := range all {
		n += one
	}
	return n
}

// fewestUnits returns how many units hold so many chunks as is asked for; 0: none do. It tries all sets of them.
func fewestUnits(rooms []int, asked lsf.UnitLayout, chunks, per int) (fewest int) {
	for set := 1; set < 1<<len(rooms); set++ {
		var some []int
		for u, room := range rooms {
			if set&(1<<u) != 0 {
				some = append(some, room)
			}
		}
		k := len(some)
		if asked.Max > 0 && k > asked.Max || fewest > 0 && k >= fewest || k > chunks {
			continue
		}
		slices.SortFunc(some, func(a, b int) int { return b - a })
		if canSplit(some, asked, chunks, per, 0) {
			fewest = k
		}
	}
	return fewest
}

// canSplit reports whether each of some units can have a part of the chunks. short counts those before that have less than is usable.
func canSplit(rooms []int, asked lsf.UnitLayout, chunks, per, short int) bool {
	var split func(at, left, short, least, most int) bool
	split = func(at, left, short, least, most int) bool {
		if at == len(rooms) {
			return left == 0
		}
		for n := 1; n <= min(rooms[at], left); n++ {
			lo, hi, few := min(least, n), max(most, n), short
			if n*per < asked.Usable {
				few++
			}
			if asked.Balance && hi-lo > 1 || len(rooms) > 1 && few > 1 {
				continue
			}
			if split(at+1, left-n, few, lo, hi) {
				return true
			}
		}
		return false
	}
	return split(0, chunks, short, chunks, 0)
}

// RSV-01: the hosts of each term of a compound requirement agree, and the job waits only where there are none that do.
func TestLayout_TermsLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newTurning(t)
		c.resource("color", "string")
		colors := []string{"red", "blue", "green"}
		cpus := map[string]int{}
		at := map[pbs.VnodeName]string{}
		for h := range rapid.IntRange(2, 5).Draw(t, "hosts") {
			n := rapid.IntRange(1, 4).Draw(t, "cpus")
			name, color := fmt.Sprintf("h%d", h), rapid.SampledFrom(append(colors, "")).Draw(t, "color")
			offer := fmt.Sprintf("%s:ncpus=%d", name, n)
			if color != "" {
				offer += ",color=" + color
			}
			c.host(name, offer)
			cpus[color] += n
			at[pbs.VnodeName(name)] = color
		}
		var sel []string
		var layout lsf.Layout
		var counts []int
		for i := range rapid.IntRange(2, 3).Draw(t, "terms") {
			k := lsf.KindLayout{Term: i + 1}
			if rapid.IntRange(0, 3).Draw(t, "agrees") > 0 {
				k.Same = []string{"color"}
			}
			counts = append(counts, rapid.IntRange(1, 4).Draw(t, "chunks"))
			sel, layout.Kinds = append(sel, fmt.Sprintf("%d:ncpus=1", counts[i])), append(layout.Kinds, k)
		}
		c.asking("j", strings.Join(sel, "+"), "lsf_layout="+layout.String())
		var fits func(i int, left map[string]int) bool
		fits = func(i int, left map[string]int) bool {
			if i == len(counts) {
				free := 0
				for i, n := range counts {
					if layout.Kinds[i].Same == nil {
						free += n
					}
				}
				for _, n := range left {
					free -= n
				}
				return free <= 0
			}
			if layout.Kinds[i].Same == nil {
				return fits(i+1, left)
			}
			for _, color := range colors {
				if left[color] < counts[i] {
					continue
				}
				left[color] -= counts[i]
				ok := fits(i+1, left)
				if left[color] += counts[i]; ok {
					return true
				}
			}
			return false
		}
		j, _ := c.store.View().Job(c.names["j"])
		if runs := j.State == pbs.Running; runs != fits(0, cpus) {
			t.Fatalf("%s of %s on %v: runs %v", layout, strings.Join(sel, "+"), cpus, runs)
		} else if !runs {
			return
		}
		chunk := 0
		for i, n := range counts {
			of := map[string]bool{}
			for range n {
				of[at[j.LastRun().ExecVnode[chunk].Parts[0].Vnode]] = true
				chunk++
			}
			if layout.Kinds[i].Same != nil && (len(of) > 1 || of[""]) {
				t.Fatalf("%s of %s: %s", layout, strings.Join(sel, "+"), j.LastRun().ExecVnode)
			}
		}
	})
}
