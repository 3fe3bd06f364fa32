package sched_test

import (
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// requiring submits a job with a requirement, and what it is in terms of PBS.
func (c *turning) requiring(name string, queue pbs.QueueName, requirement, sel, walltime string) {
	c.t.Helper()
	list := attr.List{}.Set("Resource_List", "select", sel).Set("lsf_resreq", "", requirement)
	if walltime != "" {
		list = list.Set("Resource_List", "walltime", walltime)
	}
	out := c.commit(&command.SubmitJob{Owner: pbs.User{Name: "u1", Host: "hosta"}, Queue: queue, Attributes: list})
	if out.Refusal != nil {
		c.t.Fatalf("submit %s: %v", requirement, out.Refusal)
	}
	c.names[name] = out.Result.Job
	c.cycle()
}

// RSV-17: what is held for a time is not free before; and a cycle is due when it is over.
func TestFading_Waits(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=10,swp=150mb")
	c.requiring("a", "normal", "rusage[swp=100:duration=30]", "1:ncpus=1:swp=100mb", "")
	c.requiring("b", "normal", "rusage[swp=51]", "1:ncpus=1:swp=51mb", "")
	c.requiring("c", "normal", "rusage[swp=50]", "1:ncpus=1:swp=50mb", "")
	c.want("T0", "b: nothing", "c: runs (hosta:ncpus=1:swp=51200kb)")
	if p := c.planner.Plan(c.store.View(), c.now); p.Fade != half+1800*pbs.Time(time.Second) {
		t.Errorf("something is free at %d, want %d", p.Fade, half+1800*pbs.Time(time.Second))
	}
	c.until(passed(1799))
	c.cycle()
	c.want("T0+1799", "b: nothing")
	c.until(passed(1800))
	c.cycle()
	c.want("T0+1800", "b: runs (hosta:ncpus=1:swp=52224kb)")
}

// Of what decays somebody has a part at each dispatch turn; a greedy reservation takes what is free then.
func TestFading_Decays(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=10,mem=1000mb")
	c.requiring("a", "normal", "rusage[mem=900:duration=30:decay=1]", "1:ncpus=1:mem=900mb", "5:00:00")
	c.job("j", "reservation", "select=1:ncpus=1:mem=400mb walltime=1:00:00")
	c.want("T0", "j: 1/100*hosta, 22 20:00:00")
	c.until(passed(300))
	c.cycle()
	c.want("T0+300", "j: 1/250*hosta, 22 20:00:00")
	c.until(passed(570))
	c.cycle()
	c.want("T0+570", "j: 1/385*hosta, 22 20:00:00")
	c.until(passed(600))
	c.cycle()
	c.want("T0+600", "j: runs (hosta:ncpus=1:mem=409600kb)")
}

// Who is planned by time counts on what is held at an end of a run, to the kilobyte.
func TestFading_Planned(t *testing.T) {
	for _, x := range []struct{ wants, want string }{
		{"549mb", "j: 8/100*hosta, 22 15:10:00 (hosta:ncpus=9:mem=562176kb)"}, // at the end of b 450 of 900 MB are held
		{"551mb", "j: 8/100*hosta, 22 15:20:00 (hosta:ncpus=9:mem=564224kb)"}, // and of c 0
	} {
		c := newTurning(t)
		c.host("hosta", "hosta:ncpus=11,mem=1000mb")
		c.byTime(1)
		c.requiring("a", "normal", "rusage[mem=900:duration=20:decay=1]", "1:ncpus=1:mem=900mb", "5:00:00")
		c.job("b", "normal", "select=1:ncpus=1 walltime=0:10:00")
		c.job("c", "normal", "select=1:ncpus=1 walltime=0:20:00")
		c.job("j", "reservation", "select=1:ncpus=9:mem="+x.wants+" walltime=1:00:00")
		c.want("T0", x.want)
	}
}
