package sched_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Whatever happens, the calendars that a planner keeps are those that one would read anew.
func TestProperty_CalendarsAreKept(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := &clock{newBench(r), start}
		for i := range 3 {
			name := fmt.Sprintf("host%c", 'a'+i)
			c.host(name, fmt.Sprintf("%s:ncpus=%d", name, rapid.IntRange(1, 6).Draw(r, "ncpus")))
		}
		if rapid.Bool().Draw(r, "strict") {
			c.scheduler("strict_ordering=True")
		}
		c.licenses()
		if restrict := rapid.SampledFrom([]string{"", "", "ncpus", "mem"}).Draw(r, "restrict"); restrict != "" {
			c.limit("restrict_res_to_release_on_suspend=" + restrict)
		}
		kept := sched.NewPlanner()
		r.Repeat(map[string]func(*rapid.T){
			"reserve": c.drawReservation,
			"submit":  c.drawJob,
			"license": c.drawLicensed,
			"time":    func(r *rapid.T) { c.wait(rapid.SampledFrom([]int{0, 1, 7, 30, 90}).Draw(r, "seconds")) },
			"job":     c.drawChange,
			"resv":    c.drawAlteration,
			"vnode":   c.drawSharing,
			"cycle": func(*rapid.T) {
				p := kept.Plan(c.store.View(), c.now)
				for _, d := range p.Decisions {
					c.attempt(d)
				}
				for _, s := range p.Starts {
					if out := c.attempt(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode}); out.Refusal == nil {
						c.reports(s.Job)
					}
				}
			},
			"follow": func(*rapid.T) { kept.Follow(c.store.View(), c.now) },
			"": func(r *rapid.T) {
				if rapid.IntRange(0, 2).Draw(r, "look") == 0 {
					return // and there is more to follow for the next one
				}
				got, want := kept.Foreseen(c.store.View(), c.now), sched.NewPlanner().Foreseen(c.store.View(), c.now)
				if !slices.Equal(got, want) {
					r.Fatalf("kept\n%s\nanew\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			},
		})
	})
}

// licenses makes a resource that the server and its queues may have.
func (c *clock) licenses() {
	c.must(&command.ManageResource{Verb: command.VerbCreate, Name: "lic", Changes: []command.AttrChange{
		{Entry: attr.Entry{Name: "type", Value: "long"}}, {Entry: attr.Entry{Name: "flag", Value: "q"}},
	}})
}

// drawLicensed queues a job that wants some of it, or changes how much of it there is.
func (c *clock) drawLicensed(r *rapid.T) {
	if rapid.IntRange(0, 4).Draw(r, "offer") > 0 {
		c.submitAs("ann", "users", fmt.Sprintf("select=1:ncpus=1 lic=%d walltime=%d", rapid.IntRange(0, 3).Draw(r, "lic"), rapid.IntRange(1, 200).Draw(r, "walltime")))
		return
	}
	changes := []command.AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "lic", Value: fmt.Sprint(rapid.IntRange(0, 6).Draw(r, "amount"))}}}
	if rapid.IntRange(0, 3).Draw(r, "none") == 0 {
		changes[0].Op = command.OpUnset
	}
	if rapid.Bool().Draw(r, "server") {
		c.attempt(&command.ManageServer{Verb: command.VerbSet, Changes: changes})
		return
	}
	c.attempt(&command.ManageQueue{Verb: command.VerbSet, Queue: "workq", Changes: changes})
}

// A job that has lost its run has no vnodes: what becomes of it while nobody asks for the calendars of those that it had drops
// nothing.
func TestCalendars_OfAJobWithoutARun(t *testing.T) {
	c := newClock(t).three()
	c.reserve("select=1:ncpus=8 walltime=10", 10, 1000)
	c.decided()
	id := c.in("", "select=1:ncpus=8 walltime=2000")
	c.begin()
	kept := sched.NewPlanner()
	kept.Foreseen(c.store.View(), c.now)
	c.must(&command.RerunJob{Job: id, Force: true})
	kept.Follow(c.store.View(), c.now)
	c.must(&command.AlterJob{Job: id, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "walltime", Value: "5"}}}})
	if got, want := kept.Foreseen(c.store.View(), c.now), sched.NewPlanner().Foreseen(c.store.View(), c.now); !slices.Equal(got, want) {
		t.Errorf("kept\n%s\nanew\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// reports has the mom of a job say that it has started.
func (c *clock) reports(id pbs.JobID) {
	h, _ := c.store.View().Host(c.hostOf(id))
	j, _ := c.store.View().Job(id)
	c.must(&command.JobStarted{Source: command.Source{Host: h.Name, Spool: "s", Seq: h.Acked + 1}, Job: id, RunCount: j.RunCount, Session: 7})
}

// drawChange lets something become of a running job.
func (c *clock) drawChange(r *rapid.T) {
	running := slices.Collect(c.store.View().Running())
	if len(running) == 0 {
		return
	}
	j := rapid.SampledFrom(running).Draw(r, "job")
	switch rapid.IntRange(0, 7).Draw(r, "change") {
	case 0:
		c.attempt(&command.DeleteJob{Job: j.ID, Force: true})
	case 5:
		c.attempt(&command.ReleaseNodes{Job: j.ID, Keep: rapid.SampledFrom([]string{"", "1", "select=ncpus=1"}).Draw(r, "keep")})
		c.obey(j)
	case 6:
		c.attempt(&command.SignalJob{Job: j.ID, Signal: rapid.SampledFrom([]string{command.AdminSuspend, command.AdminResume}).Draw(r, "admin")})
		c.obey(j)
	case 7:
		for first := range c.store.View().Jobs() {
			if first.Startable() {
				c.attempt(&command.PreemptJob{Job: j.ID, RunCount: j.RunCount, Method: rapid.SampledFrom([]string{"S", "R", "D"}).Draw(r, "method"), For: first.ID})
				break
			}
		}
		if rapid.Bool().Draw(r, "obeys") {
			c.obey(j)
		}
	case 1:
		signal := rapid.SampledFrom([]string{command.Suspend, command.Resume}).Draw(r, "signal")
		c.attempt(&command.SignalJob{Job: j.ID, Signal: signal, Scheduled: signal == command.Resume}) // as a cycle would
		h, _ := c.store.View().Host(c.hostOf(j.ID))
		c.attempt(&command.OrderConfirmed{Host: h.Name, Order: h.NextOrder})
	case 2:
		c.attempt(&command.RerunJob{Job: j.ID})
	default:
		long := fmt.Sprint(rapid.IntRange(1, 200).Draw(r, "walltime"))
		which := rapid.SampledFrom([]string{"walltime", "walltime", "soft_walltime"}).Draw(r, "which")
		c.attempt(&command.AlterJob{Job: j.ID, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: which, Value: long}}}})
	}
}

// obey has moms do what they were told about a job, and leave it.
func (c *clock) obey(j *state.Job) {
	for h := range c.store.View().Hosts() {
		for o := range c.store.View().Orders(h.Name) {
			if o.Job != j.ID {
				continue
			}
			c.attempt(&command.OrderConfirmed{Host: h.Name, Order: o.ID})
			if now, _ := c.store.View().Host(h.Name); o.Kind == state.OrderKill {
				c.attempt(&command.JobEnded{Source: command.Source{Host: h.Name, Spool: "s", Seq: now.Acked + 1}, Job: o.Job, RunCount: o.RunCount, ExitStatus: 271})
			}
		}
	}
}

// drawAlteration lets something become of a reservation.
func (c *clock) drawAlteration(r *rapid.T) {
	all := slices.Collect(c.store.View().Reservations())
	if len(all) == 0 {
		return
	}
	resv := rapid.SampledFrom(all).Draw(r, "reservation")
	switch rapid.IntRange(0, 3).Draw(r, "change") {
	case 0:
		c.attempt(&command.DeleteReservation{Reservation: resv.ID})
	case 1:
		c.attempt(&command.AlterReservation{Reservation: resv.ID, Start: c.now + secs(rapid.IntRange(0, 60).Draw(r, "start"))})
	case 2:
		c.attempt(&command.AlterReservation{Reservation: resv.ID, Length: secs(rapid.IntRange(1, 60).Draw(r, "long")), Force: true})
	default:
		c.attempt(&command.AlterReservation{Reservation: resv.ID, Length: secs(rapid.IntRange(1, 60).Draw(r, "long"))})
	}
}

// drawSharing takes a vnode out of use, or lets it be for one at a time, or take amounts of another one.
func (c *clock) drawSharing(r *rapid.T) {
	if rapid.IntRange(0, 3).Draw(r, "rarely") > 0 {
		return
	}
	name := rapid.SampledFrom([]pbs.VnodeName{"hosta", "hostb", "hostc"}).Draw(r, "vnode")
	e := rapid.SampledFrom([]attr.Entry{
		{Name: "state", Value: "offline"},
		{Name: "state", Value: "free"},
		{Name: "sharing", Value: "force_exclhost"},
		{Name: "sharing", Value: "default_shared"},
		{Name: "resources_available", Resource: "mem", Value: "@hosta"},
		{Name: "resources_available", Resource: "mem", Value: "4gb"},
	}).Draw(r, "attribute")
	c.attempt(&command.ManageVnode{Verb: command.VerbSet, Vnode: name, Changes: []command.AttrChange{{Entry: e}}})
}

// What is free over all hosts is the same for a planner that has seen a host with more taken than it had.
func TestKept_HostsWithTooMuch(t *testing.T) {
	c := newClock(t)
	c.host("hosta", "hosta:ncpus=4")
	c.host("hostb", "hostb:ncpus=4")
	kept := sched.NewPlanner()
	c.in("workq", "select=1:ncpus=3")
	c.follow(kept)
	c.in("workq", "select=2:ncpus=4")
	for _, has := range []string{"1", "4"} {
		c.offer("hosta", "ncpus", has)
		got, want := kept.Plan(c.store.View(), c.now), sched.Make(c.store.View(), c.now)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("with %s cpus the planner planned\n%+v\na new one\n%+v", has, got, want)
		}
	}
}

// A vnode that is given to one at a time while a reservation runs there is the reservation's, for a planner that has seen it before too.
func TestKept_VnodeBecomesExclusive(t *testing.T) {
	c := newClock(t)
	c.host("hosta", "hosta:ncpus=4")
	c.reserve("select=1:ncpus=1", 600, 10)
	c.decided()
	c.wait(10)
	kept := sched.NewPlanner()
	c.follow(kept)
	c.node("hosta", "sharing", "force_exclhost")
	c.in("workq", "select=1:ncpus=1")
	got, want := kept.Plan(c.store.View(), c.now), sched.Make(c.store.View(), c.now)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the planner planned\n%+v\na new one\n%+v", got, want)
	}
}

// A vnode of which another one does not share an amount any more is held by its own runs alone.
func TestCalendars_OfAVnodeThatWasShared(t *testing.T) {
	c := newClock(t)
	c.host("hosta", "hosta:ncpus=4,mem=4gb")
	c.host("hostb", "hostb:ncpus=4,mem=4gb")
	c.reserve("select=1:ncpus=1", 10, 1000)
	c.decided()
	c.offer("hostb", "mem", "@hosta")
	c.in("workq", "select=1:ncpus=1:mem=1gb:host=hostb walltime=2000")
	kept := sched.NewPlanner()
	c.follow(kept)
	kept.Foreseen(c.store.View(), c.now)
	c.offer("hostb", "mem", "4gb")
	if got, want := kept.Foreseen(c.store.View(), c.now), sched.NewPlanner().Foreseen(c.store.View(), c.now); !slices.Equal(got, want) {
		t.Errorf("kept\n%s\nanew\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
