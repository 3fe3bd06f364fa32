package sched_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/pbs"
)

// Each term asks its own hosts, and has them in its own order.
func TestTerms(t *testing.T) {
	for _, c := range []struct {
		sel, want string
		attrs     []string
	}{
		{"1:ncpus=1+2:ncpus=1", "runs (hostc:ncpus=1)+(hosta:ncpus=1)+(hosta:ncpus=1)", []string{"lsf_select=1*{select[mem>200]}+2*{}", "lsf_layout=1 2"}},
		{"1:ncpus=1+2:ncpus=1", "runs (hostc:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)", []string{"lsf_select=1*{}+2*{select[mem<=200]}", "lsf_order=1*{order[mem]}+2*{order[ncpus:mem]}", "lsf_layout=1 2"}},
		{"1:ncpus=1+2:ncpus=1", "nothing", []string{"lsf_select=1*{}+2*{select[mem>300]}", "lsf_layout=1 2"}},
		{"1:ncpus=1+1:ncpus=1", "runs (hostb:ncpus=1)+(hostb:ncpus=1)", []string{"lsf_select=1*{select[mem>100]}+1*{select[mem>100]}", "lsf_asked_hosts=hosta hostb", "lsf_layout=1 2"}},
		{"1:ncpus=1+1:ncpus=1", "runs (hosta:ncpus=1)+(hosta:ncpus=1)", []string{"lsf_select=1*{}+1*{select[mem>300]}", "lsf_layout=1"}}, // of a select that was altered since
		{"5:ncpus=1", "runs (hosta:ncpus=1)+(hosta:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)+(hostc:ncpus=1)", []string{"lsf_layout=1:ptile=!"}},
		{"3:ncpus=1", "runs (hosta:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)", []string{"lsf_layout=1:ptile=!,small=1"}},
	} {
		b := newTurning(t)
		b.host("hosta", "hosta:ncpus=2,mem=100mb,arch=small")
		b.host("hostb", "hostb:ncpus=2,mem=200mb")
		b.host("hostc", "hostc:ncpus=2,mem=300mb")
		b.asking("j", c.sel, c.attrs...)
		b.want(fmt.Sprint(c.attrs), "j: "+c.want)
	}
}

// RSV-01: with span[ptile='!'] each host but one has as many slots of the job as it has in all, and the job waits only where there are none like
// that. Whoever gets none of a host is not taken to be there.
func TestTerms_FullLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newTurning(t)
		n := rapid.IntRange(1, 5).Draw(t, "hosts")
		caps, free := make([]int, n), make([]int, n)
		at := map[pbs.VnodeName]int{}
		for h := range n {
			caps[h] = rapid.IntRange(1, 4).Draw(t, "cpus")
			used := rapid.IntRange(0, min(2, caps[h])).Draw(t, "used")
			name := fmt.Sprintf("h%d", h)
			offer := fmt.Sprintf("%s:ncpus=%d", name, caps[h])
			if rapid.IntRange(0, 3).Draw(t, "typed") == 0 {
				offer += ",arch=odd"
			}
			c.host(name, offer)
			if used > 0 {
				c.asking("on"+name, fmt.Sprintf("1:ncpus=%d:host=%s", used, name))
			}
			free[h] = caps[h] - used
			at[pbs.VnodeName(name)] = h
			if offer[len(offer)-3:] == "odd" {
				caps[h] = 2
			}
		}
		slots := rapid.IntRange(1, 12).Draw(t, "slots")
		can := false
		for set := range 1 << n { // of full hosts, and one beside them
			sum, ok := 0, true
			for h := range n {
				if set&(1<<h) != 0 {
					sum, ok = sum+caps[h], ok && free[h] >= caps[h]
				}
			}
			can = can || ok && sum == slots
			for h := range n {
				rest := slots - sum
				can = can || ok && set&(1<<h) == 0 && rest > 0 && rest < caps[h] && rest <= free[h]
			}
		}
		c.asking("j", fmt.Sprintf("%d:ncpus=1", slots), "lsf_layout=1:ptile=!,odd=2")
		j, _ := c.store.View().Job(c.names["j"])
		if runs := j.State == pbs.Running; runs != can {
			t.Fatalf("%d slots over %v, %v free: runs %v", slots, caps, free, runs)
		} else if !runs {
			return
		}
		has := make([]int, n)
		for _, ch := range j.LastRun().ExecVnode {
			has[at[ch.Parts[0].Vnode]]++
		}
		part := 0
		for h, k := range has {
			if k > caps[h] {
				t.Fatalf("%d slots are %v over %v", slots, has, caps)
			}
			if k > 0 && k < caps[h] {
				part++
			}
		}
		if part > 1 {
			t.Fatalf("%d slots are %v over %v", slots, has, caps)
		}
	})
}
