package sched_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/transport/build"
)

// RSV-50: what a suspended job does not give back is not counted on, for nobody knows when it ends.
func TestReserving_BesideSuspended(t *testing.T) {
	for restrict, want := range map[string]string{"ncpus": "4/400*hosta", "": "runs (hosta:ncpus=4:mem=512000kb)"} {
		t.Run(restrict, func(t *testing.T) {
			c := newTurning(t)
			if restrict != "" {
				c.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "restrict_res_to_release_on_suspend", Value: restrict}}}})
			}
			c.host("hosta", "hosta:ncpus=4,mem=1000mb")
			c.job("s", "normal", "select=1:ncpus=2:mem=600mb walltime=10:00:00")
			c.until(passed(60))
			c.commit(&command.SignalJob{Job: c.names["s"], Signal: command.Suspend})
			c.confirm(c.names["s"])
			c.until(passed(70))
			c.job("j", "reservation", "select=1:ncpus=4:mem=500mb walltime=0:10:00")
			c.want("T0+70", "j: "+want)
		})
	}
}

// A start that a hook of runjob refuses takes nothing of a job's turns: what it has kept goes with the start itself.
func TestReserving_StartThatIsRefused(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=4,mem=1gb")
	c.job("x", "normal", "select=1:ncpus=2 walltime=1:00:00")
	c.job("j", "slots", "select=4:ncpus=1")
	c.until(passed(60))
	j, _ := c.store.View().Job(c.names["j"])
	age := j.Pending.Age
	c.end(c.names["x"])
	p := c.planner.Plan(c.store.View(), c.now)
	if len(p.Starts) != 1 {
		t.Fatalf("starts: %v", p.Starts)
	}
	if p.Pending != nil {
		c.commit(p.Pending)
	}
	if j, _ = c.store.View().Job(c.names["j"]); age < 2 || j.Pending == nil || j.Pending.Age != age {
		t.Errorf("age %d before the start, after it was refused %+v", age, j.Pending)
	}
}

// What is kept fits beside what runs, whatever comes and ends; nobody holds for longer than his turns; and whoever keeps something
// starts before long: nobody starves.
func TestReserving_Properties(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("one goroutine does all of it, and slowly under the race detector: make test plays it without")
	}
	rapid.Check(t, func(r *rapid.T) {
		c := newTurning(t)
		c.byTime(rapid.IntRange(0, 3).Draw(r, "by time"))
		for i := range rapid.IntRange(1, 3).Draw(r, "hosts") {
			name := string(rune('A' + i))
			c.host(name, name+":ncpus=4,mem=4gb")
		}
		queues := []pbs.QueueName{"normal", "backfill", "reservation", "slots", "slotsbf"}
		jobs := rapid.IntRange(5, 25).Draw(r, "jobs")
		for i := range jobs {
			n := rapid.IntRange(1, 4).Draw(r, "slots")
			request := fmt.Sprintf("select=1:ncpus=%d:mem=%dgb walltime=0:%02d:00", n, rapid.IntRange(0, 4).Draw(r, "memory"), rapid.IntRange(1, 20).Draw(r, "minutes"))
			if rapid.Bool().Draw(r, "wide") {
				request = fmt.Sprintf("select=%d:ncpus=1 walltime=0:%02d:00", n, rapid.IntRange(1, 20).Draw(r, "minutes"))
			}
			c.job(fmt.Sprint(i), rapid.SampledFrom(queues).Draw(r, "queue"), request)
			c.fits()
			c.until(time.Duration(c.now-half) + passed(rapid.IntRange(0, 90).Draw(r, "seconds")))
			c.fits()
		}
		for range jobs * 2 { // 20 minutes each, one after the other, would be done by then
			c.until(time.Duration(c.now-half) + 10*time.Minute)
			c.fits()
		}
		for name, id := range c.names {
			if j, ok := c.store.View().Job(id); ok && j.RunCount == 0 {
				t.Errorf("job %s of queue %s has never started: %s", name, j.Queue, c.shows(name))
			}
		}
	})
}

// fits checks that what is kept is there, and for how long it was.
func (c *turning) fits() {
	c.t.Helper()
	v := c.store.View()
	for vn := range v.Vnodes() {
		kept := v.KeptOf(vn.Name)
		ncpus, _ := v.Resource("ncpus")
		mem, _ := v.Resource("mem")
		for _, x := range []struct {
			def  resource.Def
			kept int64
		}{{ncpus, kept.Slots}, {mem, kept.Mem}} {
			has, _ := vn.Available().Get(x.def.Name)
			used, _ := vn.Assigned.Get(x.def.Name)
			if free := x.def.Measure(has) - x.def.Measure(used); x.kept > free {
				c.t.Errorf("%s: %d of %s are kept, %d are free", vn.Name, x.kept, x.def.Name, free)
			}
		}
	}
	for j := range v.Pendings() {
		q, _ := v.Queue(j.Queue)
		if turns, _ := q.Reserves(); int64(j.Pending.Age) > turns || j.Pending.Paused && len(j.Pending.Held) > 0 {
			c.t.Errorf("job %s of queue %s keeps %+v", j.ID, j.Queue, j.Pending)
		}
	}
}
