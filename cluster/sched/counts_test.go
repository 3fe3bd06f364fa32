package sched_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/state"
)

// L3: a cycle sums up numbers where the state sums up lists (alloc.Account), since it does so for very many vnodes. What it takes to be free is
// what the state lets somebody have, to the last unit, and a start, a suspension, a resumption and an end change in its world what they
// change in the state: the amounts, who uses which vnode, and who has it, or its host, alone.
func TestProperty_CountsAreTheStates(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := &clock{newBench(r), start}
		sharing := []string{"", "", "default_excl", "default_exclhost", "ignore_excl", "force_excl", "force_exclhost"}
		for _, host := range []string{"hosta", "hostb", "hostc"}[:rapid.IntRange(1, 3).Draw(r, "hosts")] {
			vnodes := []string{host, host + "[0]"}[:rapid.IntRange(1, 2).Draw(r, "vnodes")]
			for i := range vnodes {
				vnodes[i] += ":ncpus=4,mem=4gb"
				if s := rapid.SampledFrom(sharing).Draw(r, "sharing"); s != "" {
					vnodes[i] += ",sharing=" + s
				}
			}
			c.host(host, vnodes...)
		}
		if rapid.Bool().Draw(r, "restricted") {
			c.limit("restrict_res_to_release_on_suspend=" + rapid.SampledFrom([]string{"ncpus", "mem"}).Draw(r, "given back"))
		}
		kept := sched.NewPlanner()
		for range rapid.IntRange(1, 15).Draw(r, "steps") {
			c.countedStep(r, kept)
		}
	})
}

// countedStep does one thing to the state and to what is counted, and compares the two.
func (c *clock) countedStep(r *rapid.T, kept *sched.Planner) {
	n := sched.CountsOf(sched.NewPlanner(), c.store.View(), c.now)
	did := ""
	running, suspended := c.executing()
	switch op := rapid.SampledFrom([]string{"start", "start", "end", "suspend", "resume", "release"}).Draw(r, "op"); {
	case op == "start":
		id := c.submit(c.drawCounted(r))
		n = sched.CountsOf(sched.NewPlanner(), c.store.View(), c.now)
		where := n.Start(id, rapid.Bool().Draw(r, "elsewhere"))
		did = "start " + where
		if where == "" {
			c.must(&command.DeleteJob{Job: id, Force: true})
			return
		}
		c.must(&command.StartJob{Job: id, ExecVnode: where})
		h, _ := c.store.View().Host(c.hostOf(id))
		j, _ := c.store.View().Job(id)
		c.must(&command.JobStarted{Source: command.Source{Host: h.Name, Spool: "s", Seq: h.Acked + 1}, Job: id, RunCount: j.RunCount, Session: 7})
	case op == "end" && len(running) > 0:
		j := running[rapid.IntRange(0, len(running)-1).Draw(r, "job")]
		did = "end " + string(j.ID)
		n.End(j)
		c.must(&command.DeleteJob{Job: j.ID, Force: true})
	case op == "suspend" && len(running) > 0:
		j := running[rapid.IntRange(0, len(running)-1).Draw(r, "job")]
		did = "suspend " + string(j.ID)
		n.Suspend(j)
		c.must(&command.SignalJob{Job: j.ID, Signal: command.Suspend})
		c.confirm(j.ID)
	case op == "resume" && len(suspended) > 0:
		j := suspended[rapid.IntRange(0, len(suspended)-1).Draw(r, "job")]
		did = "resume " + string(j.ID)
		c.must(&command.SignalJob{Job: j.ID, Signal: command.Resume})
		out := c.attempt(&command.SignalJob{Job: j.ID, Signal: command.Resume, Scheduled: true})
		if n.Resume(j) != (out.Refusal == nil) {
			r.Fatalf("%s goes on: %v; it is counted otherwise\n%s", j.ID, out.Refusal, strings.Join(n.Lines(), "\n"))
		}
	case op == "release" && len(running) > 0:
		j := running[rapid.IntRange(0, len(running)-1).Draw(r, "job")]
		c.attempt(&command.ReleaseNodes{Job: j.ID})
		for host := range c.store.View().Hosts() {
			c.answers(host.Name)
			if host.Name != j.LastRun().MS { // its part is over, if it was released
				c.attempt(&command.JobEnded{Source: command.Source{Host: host.Name, Spool: "s", Seq: host.Acked + 1}, Job: j.ID, RunCount: j.RunCount})
			}
		}
		n = nil
	default:
		return
	}
	fresh := sched.CountsOf(sched.NewPlanner(), c.store.View(), c.now)
	lines := fresh.Lines()
	if n != nil && !slices.Equal(n.Lines(), lines) {
		r.Fatalf("after %s it is counted\n%s\nthe state has\n%s", did, strings.Join(n.Lines(), "\n"), strings.Join(lines, "\n"))
	}
	if followed := sched.CountsOf(kept, c.store.View(), c.now).Lines(); !slices.Equal(followed, lines) {
		r.Fatalf("after %s it is followed\n%s\nthe state has\n%s", did, strings.Join(followed, "\n"), strings.Join(lines, "\n"))
	}
	v := c.store.View()
	for vn, most := range fresh.Most {
		if short := v.Short(vn, most.Fits, state.Promised{}); short != nil {
			r.Fatalf("%s has %v, as it is counted, and the state says %v", vn.Name, most.Fits, short)
		}
		if v.Short(vn, most.Over, state.Promised{}) == nil {
			r.Fatalf("%s has not %v, as it is counted, and the state lets one have it", vn.Name, most.Over)
		}
	}
}

func (c *clock) executing() (running, suspended []*state.Job) {
	for j := range c.store.View().Running() {
		if j.Suspended() {
			suspended = append(suspended, j)
		} else {
			running = append(running, j)
		}
	}
	return running, suspended
}

func (c *clock) drawCounted(r *rapid.T) string {
	request := "select=" + rapid.SampledFrom([]string{"1", "2", "3"}).Draw(r, "chunks") + ":ncpus=" + rapid.SampledFrom([]string{"0", "1", "2", "4"}).Draw(r, "ncpus")
	request += rapid.SampledFrom([]string{"", ":mem=1gb", ":mem=1500mb"}).Draw(r, "mem")
	return request + " place=" + rapid.SampledFrom([]string{"free", "scatter", "pack", "excl", "scatter:excl", "scatter:exclhost", "shared"}).Draw(r, "place")
}
