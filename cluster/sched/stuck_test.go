package sched_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/build"
)

// TestProperty_WhoIsPassedOver: a planner that passes over those for whom nothing was freed plans what one plans that has seen
// nothing, and what looking at every job plans; beside reservations, with few lines in the log and few exact comments.
func TestProperty_WhoIsPassedOver(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	rapid.Check(t, func(r *rapid.T) {
		c := newClock(t)
		for i := range 4 {
			c.host(fmt.Sprintf("host%c", 'a'+i), fmt.Sprintf("host%c:ncpus=%d,mem=%dmb", 'a'+i, rapid.IntRange(1, 6).Draw(r, "ncpus"), 100*rapid.IntRange(1, 4).Draw(r, "mem")))
		}
		switch rapid.IntRange(0, 5).Draw(r, "order") {
		case 0:
			c.scheduler("strict_ordering=True")
		case 1:
			c.scheduler("help_starving_jobs=True", "max_starve=60")
		case 2:
			c.queue("express", "200")
		}
		limits := [4]int{rapid.SampledFrom([]int{1, 1000}).Draw(r, "starts"), rapid.SampledFrom([]int{2, 1000}).Draw(r, "comments"), rapid.IntRange(0, 4).Draw(r, "lines"), rapid.IntRange(0, 3).Draw(r, "exact")}
		kept := sched.NewPlanner()
		kept.Limit(limits[0], limits[1], limits[2], limits[3])
		for range 12 {
			c.drawWaiting(r)
		}
		r.Repeat(map[string]func(*rapid.T){
			"submit":  c.drawWaiting,
			"alter":   c.drawShorter,
			"change":  c.drawChange,
			"end":     c.drawEnd,
			"reserve": c.drawReservation,
			"other":   c.drawAlteration,
			"sharing": c.drawSharing,
			"time":    func(r *rapid.T) { c.wait(rapid.IntRange(1, 60).Draw(r, "seconds")) },
			"":        func(r *rapid.T) { c.plansTheSame(r, kept, limits) },
		})
	})
}

// plansTheSame compares a planner with one that is new, and with looking at every job, and does what was planned, or not.
func (c *clock) plansTheSame(r *rapid.T, kept *sched.Planner, limits [4]int) {
	v := c.store.View()
	fresh := sched.NewPlanner()
	fresh.Limit(limits[0], limits[1], limits[2], limits[3])
	got, want := kept.Plan(v, c.now), fresh.Plan(v, c.now)
	if !reflect.DeepEqual(got, want) {
		r.Fatalf("the planner planned\n%+v\na new one\n%+v", got, want)
	}
	if _, express := v.Queue("express"); !express && v.Server().SchedGet("max_starve") != "00:01:00" { // else walking takes another order
		walked := sched.MakeByWalking(v, c.now, limits[0], limits[1], limits[2], limits[3])
		walked.More, walked.Decisions, walked.Again = got.More, got.Decisions, got.Again
		if len(got.Decisions) == 0 && !reflect.DeepEqual(got, walked) {
			r.Fatalf("the planner planned\n%+v\nwalking the queue plans\n%+v", got, walked)
		}
	}
	if rapid.IntRange(0, 3).Draw(r, "lost") == 0 {
		return // nothing of it is committed
	}
	for _, d := range got.Decisions {
		c.attempt(d)
	}
	for _, s := range got.Starts {
		if rapid.IntRange(0, 9).Draw(r, "refused") > 0 {
			c.attempt(s.Command(v))
		}
	}
	set := &command.SetWaits{}
	for _, w := range got.Comments {
		set.Add(command.JobWait{Job: w.Job, Start: w.Start, ExecVnode: w.ExecVnode}, w.Why)
	}
	c.attempt(set)
}

// drawWaiting submits a job or two of one of few requests.
func (c *clock) drawWaiting(r *rapid.T) {
	var list attr.List
	list = list.Set("Resource_List", "select", rapid.SampledFrom([]string{
		"1:ncpus=1", "1:ncpus=2", "1:ncpus=3", "1:ncpus=4", "1:ncpus=5:mem=10mb", "1:ncpus=1:mem=200mb", "1:ncpus=1:mem=300mb", "2:ncpus=2", "3:ncpus=1", "2:ncpus=4", "1:ncpus=9",
		"1:ncpus=2:host=hostb", "1:ncpus=3:mem=10mb+2:ncpus=1", "1:ncpus=0",
	}).Draw(r, "select"))
	list = list.Set("Resource_List", "place", rapid.SampledFrom([]string{"free", "pack", "scatter", "excl", "scatter:exclhost"}).Draw(r, "place"))
	if long := rapid.IntRange(0, 4).Draw(r, "walltime"); long > 0 {
		list = list.Set("Resource_List", "walltime", fmt.Sprint(20*long*long))
	}
	queue := pbs.QueueName("workq")
	if _, ok := c.store.View().Queue("express"); ok && rapid.IntRange(0, 4).Draw(r, "express") == 0 {
		queue = "express"
	}
	for range rapid.IntRange(1, 2).Draw(r, "jobs") {
		c.attempt(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: queue, Attributes: list})
	}
}

// drawShorter gives a job that waits another length.
func (c *clock) drawShorter(r *rapid.T) {
	var all []pbs.JobID
	for j := range c.store.View().Jobs() {
		if j.Startable() {
			all = append(all, j.ID)
		}
	}
	if len(all) > 0 {
		c.attempt(&command.AlterJob{
			Job:     rapid.SampledFrom(all).Draw(r, "job"),
			Changes: []command.AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "walltime", Value: fmt.Sprint(rapid.IntRange(1, 100).Draw(r, "walltime"))}}},
		})
	}
}

// drawEnd ends a job that runs.
func (c *clock) drawEnd(r *rapid.T) {
	if running := slices.Collect(c.store.View().Running()); len(running) > 0 {
		c.attempt(&command.DeleteJob{Job: rapid.SampledFrom(running).Draw(r, "job").ID, Force: true})
	}
}

// follow plans with a planner, commits the starts and comments, and returns the plan.
func (c *clock) follow(p *sched.Planner) sched.Plan {
	c.t.Helper()
	plan := p.Plan(c.store.View(), c.now)
	for _, s := range plan.Starts {
		c.must(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode})
		h, _ := c.store.View().Host(c.hostOf(s.Job))
		j, _ := c.store.View().Job(s.Job)
		c.must(&command.JobStarted{Source: command.Source{Host: h.Name, Spool: "s", Seq: h.Acked + 1}, Job: s.Job, RunCount: j.RunCount, Session: 7})
	}
	c.tell(plan)
	return plan
}

// Of several kinds of chunks one finds room where another one has none: what was freed need not be enough for the first.
func TestStuck_SeveralKindsOfChunks(t *testing.T) {
	for _, host := range []string{"hosta", "hostb"} {
		c := newClock(t)
		c.host("hosta", "hosta:ncpus=3")
		c.host("hostb", "hostb:ncpus=1")
		p := sched.NewPlanner()
		p.Limit(1000, 1000, 0, 0)
		before := c.in("workq", "select=1:ncpus=1:host="+host)
		c.follow(p)
		waits := c.in("workq", "select=1:ncpus=3+1:ncpus=1")
		if got := started(c.follow(p)); got != "" {
			t.Fatalf("beside a job on %s: %s started", host, got)
		}
		c.must(&command.DeleteJob{Job: before, Force: true})
		if got := c.follow(p).Starts; len(got) != 1 || got[0].Job != waits {
			t.Errorf("when %s is free: %v started", host, got)
		}
	}
}

// A job for which nothing was freed that is enough may have a victim all the same, since one has started that is below it.
func TestStuck_PreemptsLaterVictims(t *testing.T) {
	c := newClock(t)
	c.host("hosta", "hosta:ncpus=4")
	c.queue("express", "200")
	p := sched.NewPlanner()
	p.Limit(1000, 0, 0, 0) // nothing is to be said of those that wait
	equal := c.in("express", "select=1:ncpus=2")
	c.follow(p)
	c.in("express", "select=1:ncpus=4")
	c.follow(p)
	c.in("workq", "select=1:ncpus=2")
	if got := preempted(c.follow(p)); got != "|2|[]" {
		t.Fatalf("below it starts %s", got)
	}
	if got := preempted(c.follow(p)); got != "||[]" {
		t.Fatalf("half of what it wants: %s", got)
	}
	c.must(&command.DeleteJob{Job: equal, Force: true})
	if got := preempted(c.follow(p)); got != "2:S||[]" {
		t.Errorf("when its equal has left: %s, want the other one to be preempted", got)
	}
}

// A job waits for what others are to have, as the one of its class before it does, though a shorter job of another class has taken the
// place since: with strict ordering it is no top job.
func TestStuck_TooLongBeforeAndAfterAStart(t *testing.T) {
	c := newClock(t)
	c.host("hosta", "hosta:ncpus=4,mem=4gb")
	c.scheduler("strict_ordering=True")
	c.reserve("select=1:ncpus=4", 100, 100)
	c.decided()
	p := sched.NewPlanner()
	before := c.in("workq", "select=1:ncpus=4 walltime=50")
	c.follow(p)
	c.in("workq", "select=1:ncpus=3 walltime=1000")
	c.in("workq", "select=1:ncpus=3:mem=1gb walltime=10")
	c.in("workq", "select=1:ncpus=3 walltime=1000")
	c.follow(p)
	c.must(&command.DeleteJob{Job: before, Force: true})
	got, want := p.Plan(c.store.View(), c.now), sched.Make(c.store.View(), c.now)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the planner planned\n%+v\na new one\n%+v", got, want)
	}
	if len(want.Starts) != 1 || len(want.Comments) == 0 {
		t.Errorf("planned %+v, want the shorter one to start", want)
	}
}
