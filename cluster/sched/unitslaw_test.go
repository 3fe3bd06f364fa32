package sched_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
)

// RSV-01: whoever may be over several compute units is in as few as hold him, as the requirement says, and waits only where none do.
func TestLayout_UnitsLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newTurning(t)
		unitOf := map[pbs.VnodeName]int{}
		per := rapid.IntRange(1, 2).Draw(t, "slots of a chunk")
		rooms := make([]int, rapid.IntRange(2, 4).Draw(t, "units")) // chunks that each could hold
		for u := range rooms {
			for h := range rapid.IntRange(1, 2).Draw(t, "hosts") {
				cpus := rapid.IntRange(1, 4).Draw(t, "cpus")
				name := fmt.Sprintf("h%d%d", u, h)
				c.host(name, fmt.Sprintf("%s:ncpus=%d,arch=u%d", name, cpus, u))
				unitOf[pbs.VnodeName(name)], rooms[u] = u, rooms[u]+cpus/per
			}
		}
		layout := lsf.Layout{Kinds: []lsf.KindLayout{{Term: 1}}, Units: lsf.UnitLayout{Type: "arch", Max: rapid.IntRange(0, 4).Draw(t, "most")}}
		if layout.Units.Balance = rapid.Bool().Draw(t, "balance"); !layout.Units.Balance {
			layout.Units.Usable = rapid.IntRange(0, per*slices.Max(rooms)+1).Draw(t, "usable")
		}
		all := 0
		for _, n := range rooms {
			all += n
		}
		chunks := rapid.IntRange(max(1, slices.Max(rooms)), all+1).Draw(t, "chunks")
		c.asking("j", fmt.Sprintf("%d:ncpus=%d", chunks, per), "lsf_layout="+layout.String())
		fewest := fewestUnits(rooms, layout.Units, chunks, per)
		j, _ := c.store.View().Job(c.names["j"])
		if j.State != pbs.Running {
			if fewest > 0 {
				t.Fatalf("%s: %d chunks of %d wait, and %d of the units %v hold them", layout, chunks, per, fewest, rooms)
			}
			return
		}
		has := make([]int, len(rooms))
		for _, ch := range j.LastRun().ExecVnode {
			has[unitOf[ch.Parts[0].Vnode]]++
		}
		slices.SortFunc(has, func(a, b int) int { return b - a })
		has = slices.DeleteFunc(has, func(n int) bool { return n == 0 })
		short := 0
		for _, n := range has {
			if n*per < layout.Units.Usable {
				short++
			}
		}
		if len(has) != fewest || layout.Units.Balance && has[0]-has[len(has)-1] > 1 || len(has) > 1 && short > 1 {
			t.Fatalf("%s: %d chunks of %d are %v over units that hold %v, %d of which would do", layout, chunks, per, has, rooms, fewest)
		}
	})
}

// fewestUnits returns how many units hold so many chunks as is asked for; 0: none do.
func fewestUnits(rooms []int, asked lsf.UnitLayout, chunks, per int) int {
	rooms = slices.Clone(rooms)
	slices.SortFunc(rooms, func(a, b int) int { return b - a })
	most := len(rooms)
	if asked.Max > 0 {
		most = min(most, asked.Max)
	}
	for k := 1; k <= min(most, chunks); k++ {
		if asked.Balance {
			each, more := chunks/k, chunks%k
			if rooms[k-1] >= each && (more == 0 || rooms[more-1] > each) {
				return k
			}
			continue
		}
		sum := 0
		for u, n := range rooms[:k] {
			if sum += n; u < k-1 && n*per < asked.Usable {
				return 0 // those behind it are smaller
			}
		}
		if sum >= chunks {
			return k
		}
	}
	return 0
}
