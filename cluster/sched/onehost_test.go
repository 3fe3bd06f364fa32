package sched_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/fsm/command"
)

// TestProperty_OneHostAtATime: whoever waits for one host is told the time and place that going through all that is to come finds, with
// all vnodes made what they will be; and looking for it leaves what is free as it is.
func TestProperty_OneHostAtATime(t *testing.T) {
	found, none := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		c := newClock(t)
		for i := range 3 {
			name := fmt.Sprintf("host%c", 'a'+i)
			var vnodes []string
			for n := range rapid.IntRange(1, 2).Draw(r, "vnodes") {
				vnode := name
				if n > 0 {
					vnode += "[0]"
				}
				vnodes = append(vnodes, fmt.Sprintf("%s:ncpus=%d,mem=%dgb,lic=%d", vnode, rapid.IntRange(1, 5).Draw(r, "ncpus"), rapid.IntRange(1, 6).Draw(r, "mem"), rapid.IntRange(0, 2).Draw(r, "lic")))
			}
			if i == 0 {
				var flag, kind command.AttrChange
				flag.Entry.Name, flag.Entry.Value, kind.Entry.Name, kind.Entry.Value = "flag", "nh", "type", "long"
				c.must(&command.ManageResource{Verb: command.VerbCreate, Name: "lic", Changes: []command.AttrChange{kind, flag}})
			}
			c.host(name, vnodes...)
		}
		if rapid.Bool().Draw(r, "strict") {
			c.scheduler("strict_ordering=True")
		}
		kept := sched.NewPlanner()
		c.in("workq", "select=1:lic=3 walltime=10") // for which no host will ever do
		licensed := func(r *rapid.T) {
			c.in("workq", fmt.Sprintf("select=1:ncpus=%d:lic=%d walltime=%d", rapid.IntRange(0, 3).Draw(r, "ncpus"), rapid.IntRange(1, 2).Draw(r, "lic"), rapid.IntRange(1, 100).Draw(r, "walltime")))
		}
		r.Repeat(map[string]func(*rapid.T){
			"reserve":  c.drawReservation,
			"submit":   c.drawJob,
			"submit2":  c.drawJob,
			"licensed": licensed,
			"wait":     c.drawWaiting,
			"time":     func(r *rapid.T) { c.wait(rapid.SampledFrom([]int{0, 1, 7, 30, 90}).Draw(r, "seconds")) },
			"job":      c.drawChange,
			"resv":     c.drawAlteration,
			"vnode":    c.drawSharing,
			"cycle": func(*rapid.T) {
				p := kept.Plan(c.store.View(), c.now)
				for _, d := range p.Decisions {
					c.attempt(d)
				}
				for _, s := range p.Starts {
					if out := c.attempt(s.Command(c.store.View())); out.Refusal == nil {
						c.reports(s.Job)
					}
				}
			},
			"": func(r *rapid.T) {
				onOne, walked, again := kept.Estimates(c.store.View(), c.now)
				if !slices.Equal(onOne, walked) || !slices.Equal(again, walked) {
					r.Fatalf("host by host\n%s\nwith all vnodes before\n%s\nand after\n%s", strings.Join(onOne, "\n"), strings.Join(walked, "\n"), strings.Join(again, "\n"))
				}
				for _, line := range onOne {
					if strings.Contains(line, "true") {
						found++
					} else {
						none++
					}
				}
			},
		})
	})
	if found == 0 || none == 0 {
		t.Errorf("%d were found, and %d were not", found, none)
	}
}
