package sched_test

import (
	"strings"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/state"
)

// licensed is a cluster with four licences as a whole, with strict ordering.
func licensed(t *testing.T) *clock {
	c := newClock(t)
	c.do(&command.ManageResource{Verb: command.VerbCreate, Name: "lic", Changes: []command.AttrChange{
		{Entry: attr.Entry{Name: "type", Value: "long"}}, {Entry: attr.Entry{Name: "flag", Value: "q"}},
	}})
	c.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "lic", Value: "4"}}}})
	c.scheduler("strict_ordering=True")
	c.host("hosta", "hosta:ncpus=8")
	c.host("hostb", "hostb:ncpus=8")
	return c
}

// foretold returns when jobs are said to start in a plan.
func (c *clock) foretold() string { return told(sched.Make(c.store.View(), c.now)) }

// A job that waits for what the server has as a whole comes next, at the expected end of runs and beside reservations, which count on no
// soft_walltime.
func TestTop_ForWhatTheServerHas(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(c *clock)
		want   string
	}{
		{"a run", func(c *clock) { c.in("", "select=1:ncpus=1:host=hosta lic=3 walltime=01:00:00") }, "start +1h0m0s on (hosta:ncpus=4)"},
		{"its soft_walltime", func(c *clock) { c.in("", "select=1:ncpus=1 lic=3 walltime=01:00:00 soft_walltime=00:20:00") }, "start +20m0s on (hosta:ncpus=4)"},
		{"a run on the other host", func(c *clock) {
			c.in("", "select=1:ncpus=8:host=hosta walltime=03:00:00")
			c.in("", "select=1:ncpus=8:host=hostb lic=3 walltime=01:00:00")
		}, "start +1h0m0s on (hostb:ncpus=4)"},
		{"vnodes are free where no run ends", func(c *clock) {
			c.in("", "select=1:ncpus=5:host=hosta walltime=05:00:00")
			c.in("", "select=1:ncpus=1:host=hosta walltime=00:30:00")
			c.in("", "select=1:ncpus=2:host=hosta lic=3 walltime=01:00:00")
		}, "start +1h0m0s on (hostb:ncpus=4)"},
		{"a reservation", func(c *clock) {
			c.reserve("select=1:ncpus=1 lic=3", 600, 300)
			c.decided()
		}, "start +15m0s on (hosta:ncpus=4)"},
		{"a reservation behind a run", func(c *clock) {
			c.in("", "select=1:ncpus=1 lic=3 walltime=00:05:00")
			c.begin()
			c.reserve("select=1:ncpus=1 lic=3", 600, 600)
			c.decided()
		}, "start +20m0s on (hosta:ncpus=4)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := licensed(t)
			test.before(c)
			c.begin()
			id := c.in("", "select=1:ncpus=4 lic=2 walltime=00:10:00")
			if got := c.foretold(); !strings.Contains(got, id.Number()+" "+test.want) {
				t.Errorf("told\n%s\nwant %s", got, test.want)
			}
		})
	}
}

// What a top job is to have of the server nobody has then who is still there, as far as is expected.
func TestTop_KeepsWhatTheServerHas(t *testing.T) {
	c := licensed(t)
	c.in("", "select=1:ncpus=1 lic=3 walltime=01:00:00")
	c.begin()
	c.in("", "select=1:ncpus=1 lic=4 walltime=01:00:00")
	c.in("", "select=1:ncpus=1 lic=1 walltime=01:00:01")
	soft := c.in("", "select=1:ncpus=1 lic=1 walltime=03:00:00 soft_walltime=00:50:00")
	other := c.in("", "select=1:ncpus=1 walltime=03:00:00")
	if got, want := started(c.begin()), soft.Number()+" "+other.Number(); got != want {
		t.Errorf("%q start, want %q", got, want)
	}
}

// A job at a limit holds up nobody, though it waits for what the server has, too.
func TestTop_NotAtALimit(t *testing.T) {
	c := licensed(t)
	c.in("", "select=1:ncpus=1 lic=3 walltime=01:00:00")
	c.begin()
	c.limit("max_run=[o:PBS_ALL=1]")
	c.in("", "select=1:ncpus=1 lic=4 walltime=01:00:00")
	if got := c.foretold(); strings.Contains(got, "start") {
		t.Errorf("told\n%s", got)
	}
}

// What jobs of other schedulers have of the server counts, and when they end is a time at which something is given back.
func TestTop_WhatOtherSchedulersHave(t *testing.T) {
	c := licensed(t)
	for _, line := range []string{
		"create queue q1 queue_type=Execution enabled=True started=True partition=P1", "set node hostb partition=P1", "create sched sc1 partition=P1",
	} {
		c.manage(line)
	}
	c.in("q1", "select=1:ncpus=1 lic=3 walltime=01:00:00")
	other, _ := c.store.View().For("sc1")
	c.apply(sched.Make(other, c.now))
	c.in("", "select=1:ncpus=1 lic=1 walltime=00:30:00")
	own, _ := c.store.View().For(state.DefaultScheduler)
	c.apply(sched.Make(own, c.now))
	top := c.in("", "select=1:ncpus=1 lic=2 walltime=01:00:00")
	own, _ = c.store.View().For(state.DefaultScheduler)
	if got, want := told(sched.Make(own, c.now)), top.Number()+" start +1h0m0s on (hosta:ncpus=1)"; !strings.Contains(got, want) {
		t.Errorf("told\n%s\nwant %s", got, want)
	}
}
