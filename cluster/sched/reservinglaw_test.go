package sched_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
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

// What a job of a reservation leaves is the reservation's until that ends: whoever waits outside counts on nothing before.
func TestReserving_BesideReservations(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=4,mem=1gb")
	reserve := &command.Reserve{Owner: pbs.User{Name: "u1", Host: "hosta"}, Length: secs(3600), Starts: []pbs.Time{c.now + secs(10)}}
	reserve.Attributes = reserve.Attributes.Set("Resource_List", "select", "1:ncpus=3")
	id := c.commit(reserve).Result.Reservation
	for _, d := range c.planner.Plan(c.store.View(), c.now).Decisions {
		c.commit(d)
	}
	c.until(passed(20))
	c.job("x", id.Queue(), "select=1:ncpus=3 walltime=0:05:00")
	c.want("T0+20", "x: runs (hosta:ncpus=3)")
	c.job("j", "slots", "select=4:ncpus=1 walltime=0:10:00")
	c.want("T0+20", "j: 1/0*hosta, 22 16:00:10")
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

// Whoever may backfill gets what has become free and is kept at once, though nothing was there for it before.
func TestReserving_BackfillsWhatBecomesFree(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=4")
	c.job("x", "normal", "select=1:ncpus=2 walltime=0:20:00")
	c.job("y", "normal", "select=1:ncpus=2 walltime=0:05:00")
	c.job("j", "slots", "select=3:ncpus=1")
	c.job("b", "backfill", "select=1:ncpus=1 walltime=0:01:00")
	c.want("T0", "j: nothing", "b: nothing")
	c.until(passed(300))
	c.want("T0+300", "j: 1/0*hosta, 22 15:20:00", "b: runs (hosta:ncpus=1)")
	c.until(passed(360))
	c.want("T0+360", "j: 2/0*hosta, 22 15:20:00", "b: over")
}

// What is kept fits beside what runs, whatever comes and ends; nobody holds for longer than his turns; what is kept goes to no job that
// comes later; and all start at last.
func TestReserving_Properties(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("one goroutine does all of it, and slowly under the race detector: make test plays it without")
	}
	rapid.Check(t, func(r *rapid.T) {
		c := newTurning(r)
		c.planned = c.staysKept
		c.byTime(rapid.IntRange(0, 3).Draw(r, "by time"))
		for i := range rapid.IntRange(1, 3).Draw(r, "hosts") {
			name := string(rune('A' + i))
			c.host(name, name+":ncpus=4,mem=4gb")
		}
		if restrict := rapid.SampledFrom([]string{"", "ncpus", "mem"}).Draw(r, "restrict"); restrict != "" {
			c.limit("restrict_res_to_release_on_suspend=" + restrict)
		}
		queues := []pbs.QueueName{"normal", "backfill", "reservation", "slots", "slotsbf"}
		if most := rapid.IntRange(4, 8).Draw(r, "limit"); most < 8 {
			c.making(rapid.SampledFrom(queues).Draw(r, "limited"), fmt.Sprintf("max_run_res.ncpus=[o:PBS_ALL=%d]", most))
		}
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
			if rapid.IntRange(0, 3).Draw(r, "signal") == 0 {
				c.drawSignal(r)
				c.fits()
			}
		}
		for j := range c.store.View().Suspensions() {
			c.commit(&command.SignalJob{Job: j.ID, Signal: command.Resume})
		}
		c.cycle()
		for range jobs * 2 { // 20 minutes each, one after the other, would be done by then
			c.until(time.Duration(c.now-half) + 10*time.Minute)
			c.fits()
		}
		for name, id := range c.names {
			if j, ok := c.store.View().Job(id); ok && j.RunCount == 0 {
				r.Errorf("job %s of queue %s has never started: %s", name, j.Queue, c.shows(name))
			}
		}
	})
}

// drawSignal suspends a job that runs, or has a suspended one go on when there is room for it.
func (c *turning) drawSignal(r *rapid.T) {
	running := slices.Collect(c.store.View().Running())
	if len(running) == 0 {
		return
	}
	j := rapid.SampledFrom(running).Draw(r, "job")
	if j.Suspended() {
		c.commit(&command.SignalJob{Job: j.ID, Signal: command.Resume})
	} else {
		c.commit(&command.SignalJob{Job: j.ID, Signal: command.Suspend})
		c.confirm(j.ID)
	}
	c.cycle()
}

// staysKept checks that what a job starts with was kept for nobody who comes before it: had it not been there, with all that come after
// it, those before would start, and keep, what they do. Only what jobs that may backfill have taken of hosts may be missing.
func (c *turning) staysKept(before *state.View, p sched.Plan) {
	c.t.Helper()
	c.asNew(before, p)
	for _, s := range p.Starts {
		first, _ := before.Job(s.Job)
		if mayBackfill(before, first) {
			continue
		}
		without := before.Copy()
		late := command.Proposal{Asker: pbs.User{Name: "root", Host: "hosta"}}
		for j := range before.Jobs() {
			if j.State == pbs.Queued && !earlier(before, j, first) {
				late.Commands = append(late.Commands, &command.DeleteJob{Job: j.ID, History: true})
			}
		}
		command.Run(without, before.Index()+1, 1, command.Entry{Time: before.Now(), Proposals: []command.Proposal{late}})
		v, other := without.Publish(), sched.NewPlanner()
		other.Plan(v, c.now) // the first cycle of a leader is no dispatch turn
		c.atLeast(before, p, other.Plan(v, c.now), first)
	}
}

// asNew checks that what a planner has kept of earlier cycles changes nothing: one that knows nothing yet plans the same.
func (c *turning) asNew(v *state.View, p sched.Plan) {
	c.t.Helper()
	other := sched.NewPlanner()
	other.GoBy(c.heard)
	other.Plan(v, c.now) // the first cycle of a leader is no dispatch turn
	fresh := other.Plan(v, c.now)
	text := func(p sched.Plan) (all string) {
		for _, s := range p.Starts {
			all += fmt.Sprintf("%s starts on %s\n", s.Job, s.ExecVnode)
		}
		if p.Pending != nil {
			all += fmt.Sprintf("%+v\n", *p.Pending)
		}
		return all
	}
	if was, is := text(p), text(fresh); was != is {
		c.t.Errorf("at %s the planner of all cycles has planned\n%s, and a new one\n%s", time.Duration(c.now-half), was, is)
	}
}

// atLeast compares what was planned for jobs that come before one with what is planned for them without those that come later.
func (c *turning) atLeast(before *state.View, p, alone sched.Plan, first *state.Job) {
	c.t.Helper()
	starts := func(p sched.Plan) (all []string) {
		for _, s := range p.Starts {
			if j, _ := before.Job(s.Job); earlier(before, j, first) {
				all = append(all, string(s.Job)+" on "+s.ExecVnode)
			}
		}
		return all
	}
	if with, without := starts(p), starts(alone); !slices.Equal(with, without) {
		c.t.Errorf("%v start before job %s, without it %v", with, first.ID, without)
	}
	taken := map[pbs.VnodeName]state.Kept{}
	for _, s := range p.Starts {
		j, _ := before.Job(s.Job)
		if earlier(before, j, first) || !mayBackfill(before, j) {
			continue
		}
		placed, err := spec.ParseExecVnode(s.ExecVnode)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, ch := range placed {
			for _, part := range ch.Parts {
				t := taken[part.Vnode]
				t.Slots, t.Mem = t.Slots+c.amountOf("ncpus", part.Items), t.Mem+c.amountOf("mem", part.Items)
				taken[part.Vnode] = t
			}
		}
	}
	for j := range before.Jobs() {
		if j.State != pbs.Queued || !earlier(before, j, first) {
			continue
		}
		has := map[pbs.VnodeName]state.Kept{}
		for _, k := range heldAfter(j, p) {
			has[k.Vnode] = k
		}
		for _, k := range heldAfter(j, alone) {
			left, t := has[k.Vnode], taken[k.Vnode]
			lost := state.Kept{Slots: k.Slots - left.Slots, Mem: k.Mem - left.Mem}
			if lost.Slots > t.Slots || lost.Mem > t.Mem && left.Slots > 0 {
				c.t.Errorf("job %s of queue %s keeps %+v of %s, and but for job %s of queue %s %+v", j.ID, j.Queue, left, k.Vnode, first.ID, first.Queue, k)
			}
		}
	}
}

// heldAfter returns what a job that waits keeps once a plan is carried out.
func heldAfter(j *state.Job, p sched.Plan) []state.Kept {
	if p.Pending != nil {
		for _, change := range p.Pending.Jobs {
			switch {
			case change.Job != j.ID:
			case change.Over:
				return nil
			case change.Changed:
				return change.Held
			}
		}
	}
	if j.Pending == nil || slices.ContainsFunc(p.Starts, func(s sched.Start) bool { return s.Job == j.ID }) {
		return nil
	}
	return j.Pending.Held
}

// earlier reports whether a job comes before another one.
func earlier(v *state.View, a, b *state.Job) bool {
	one, _ := v.Queue(a.Queue)
	other, _ := v.Queue(b.Queue)
	return cmp.Or(cmp.Compare(other.Int("Priority"), one.Int("Priority")), cmp.Compare(a.Seq, b.Seq)) < 0
}

func mayBackfill(v *state.View, j *state.Job) bool {
	q, _ := v.Queue(j.Queue)
	return q.Backfills()
}

func (c *turning) amountOf(name string, of resource.List) int64 {
	def, _ := c.store.View().Resource(name)
	value, _ := of.Get(name)
	return def.Measure(value)
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
