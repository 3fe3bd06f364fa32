package sched_test

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// reservedStore is a runningStore with 2,000 reservations of four vnodes each, of which 500 have 30 occurrences.
func reservedStore(jobs, classes int) *state.Store {
	s := runningStore(jobs, classes)
	tx := s.Tx()
	for i := range 2000 {
		count, long := 1, secs(7200)
		if i%4 == 0 {
			count = 30
		}
		r := &state.Reservation{
			ID: pbs.NewReservationID('R', tx.NextJob(), "srv"), State: pbs.ResvConfirmed, Substate: pbs.ResvConfirmed, Length: long, Count: count,
			Resources: resource.List{}.Set("place", "free"), Select: "4:ncpus=16:mem=1gb",
		}
		r.Seq = r.ID.Seq()
		for n := range count {
			var nodes spec.ExecVnode
			for k := range 4 {
				name := pbs.VnodeName(fmt.Sprintf("h%05d", (4*i+k)%10_000))
				nodes = append(nodes, spec.ExecChunk{Parts: []spec.ExecPart{{Vnode: name, Items: resource.List{{Name: "ncpus", Value: "16"}, {Name: "mem", Value: "1048576kb"}}}}})
			}
			r.Occurrences = append(r.Occurrences, state.Occurrence{Start: start + secs(3600+i%100) + pbs.Time(n)*secs(86400), Nodes: nodes})
		}
		r.Start, r.End = r.Occurrences[0].Start, r.Occurrences[0].Start+long
		tx.PutReservation(r)
	}
	s.Commit(tx)
	s.Publish()
	return s
}

// runningStore has 10,000 vnodes, each with a run.
func runningStore(jobs, classes int) *state.Store {
	s := bigStore(jobs, classes, 10_000, false)
	tx := s.Tx()
	for j := range s.View().Jobs() { // half of them end before reservations begin
		next := *j
		next.Resources = next.Resources.Set("walltime", fmt.Sprintf("%d:00", 10+15*(j.Seq%8)))
		tx.PutJob(&next)
	}
	for vn := range s.View().Vnodes() {
		seq := tx.NextJob()
		next, id := *vn, pbs.NewJobID(seq, "srv")
		next.Assigned = resource.List{}.Set("mem", "1048576kb").Set("ncpus", "32")
		next.Jobs = []state.VnodeJob{{Job: id, RunCount: 1, Items: next.Assigned}}
		tx.PutVnode(&next)
		tx.PutJob(&state.Job{
			ID: id, Seq: seq, State: pbs.Running, Queue: "workq", RunCount: 1, Run: &state.Run{Number: 1, MS: vn.Host}, Started: start,
			Resources: resource.List{}.Set("walltime", fmt.Sprintf("%d:00:00", 1+seq%50)),
		})
	}
	s.Commit(tx)
	s.Publish()
	return s
}

// BenchmarkDecide is the cycle in which one more reservation is decided, by a planner that has seen the others.
func BenchmarkDecide(b *testing.B) {
	for _, c := range []struct {
		name, sel string
		times     int
		fits      bool
	}{
		{"first", "1:ncpus=8", 1, true}, {"wide", "500:ncpus=8", 1, true}, {"last", "2000:ncpus=32", 1, true}, {"denied", "9500:ncpus=48", 1, false}, {"standing", "4:ncpus=16", 365, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := reservedStore(0, 1)
			p := sched.NewPlanner()
			p.Foreseen(s.View(), start)
			p.Plan(s.View(), start)
			r := &command.Reserve{Owner: pbs.User{Name: "ann", Host: "h"}, Length: secs(3600), Rule: "FREQ=DAILY;COUNT=365", Zone: "UTC"}
			r.Attributes = r.Attributes.Set("Resource_List", "select", c.sel)
			for n := range c.times {
				r.Starts = append(r.Starts, start+secs(4000)+pbs.Time(n)*secs(86400))
			}
			command.Run(s, 2, 1, command.Entry{Time: start, Proposals: []command.Proposal{
				{Commands: []command.Command{r}},
			}})
			v := s.Publish()
			m := newMeasured()
			runtime.GC() // of what the making of the reservations has left
			for b.Loop() {
				var plan sched.Plan
				m.take(func() { plan = p.Plan(v, start) })
				if len(plan.Decisions) != 1 || (plan.Decisions[0].Why == "") != c.fits {
					b.Fatalf("decided %+v", plan.Decisions)
				}
			}
			m.report(b)
		})
	}
}

// BenchmarkMake_Reserved is the full cycle of a planner that has seen nothing: half of each vnode is free.
func BenchmarkMake_Reserved(b *testing.B) {
	v := reservedStore(100_000, 5000).View()
	m := newMeasured()
	for b.Loop() {
		m.take(func() { sched.Make(v, start) })
	}
	m.report(b)
}

// BenchmarkPlanner_Reserved is the cycle of a planner that has seen the state before.
func BenchmarkPlanner_Reserved(b *testing.B) {
	v := reservedStore(0, 1).View()
	p := sched.NewPlanner()
	for b.Loop() {
		p.Plan(v, start)
	}
}

// BenchmarkPlanner_ReservedEvent is the cycle after one run has ended, of 100,000 jobs of which as many run as can, and of which
// all others know why they wait. With strict ordering one of them is a top job.
func BenchmarkPlanner_ReservedEvent(b *testing.B) {
	for _, strict := range []bool{false, true} {
		b.Run(fmt.Sprintf("strict=%v", strict), func(b *testing.B) {
			newBusy(strict).event(b)
		})
	}
}

// event measures the cycle after one run has ended.
func (c *busy) event(b *testing.B) {
	m := newMeasured()
	running := slices.Collect(c.store.View().Running())
	runtime.GC() // of what the filling of the vnodes has left
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		c.now += secs(1)
		c.run(&command.DeleteJob{Job: running[(i*7919)%len(running)].ID, Force: true})
		v := c.store.Publish()
		b.StartTimer()
		var p sched.Plan
		m.take(func() { p = c.planner.Plan(v, c.now) })
		b.StopTimer()
		c.apply(p)
		b.StartTimer()
	}
	m.report(b)
}

// BenchmarkPlanner_TopsEvent is BenchmarkPlanner_ReservedEvent without reservations, with no, one and many top jobs.
func BenchmarkPlanner_TopsEvent(b *testing.B) {
	for _, depth := range []int{0, 1, 64, 1000} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			c := filled(runningStore(100_000, 5000))
			if depth > 0 {
				c.run(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "backfill_depth", Value: fmt.Sprint(depth)}}}})
				c.strict()
			}
			c.event(b)
		})
	}
}

// BenchmarkPlanner_WholeEvent is BenchmarkPlanner_TopsEvent with a top job that waits for what the server has of a resource, of which each run
// has some.
func BenchmarkPlanner_WholeEvent(b *testing.B) {
	c := filled(runningStore(100_000, 5000))
	tx := c.store.Tx()
	runs := 0
	for j := range c.store.View().Jobs() {
		if j.State == pbs.Running {
			runs++
		}
		next := *j
		next.Resources = next.Resources.Set("lic", "1")
		tx.PutJob(&next)
	}
	c.store.Commit(tx)
	c.run(&command.ManageResource{Verb: command.VerbCreate, Name: "lic", Changes: []command.AttrChange{
		{Entry: attr.Entry{Name: "type", Value: "long"}}, {Entry: attr.Entry{Name: "flag", Value: "q"}},
	}})
	c.run(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "lic", Value: fmt.Sprint(runs - b.N - 1)}}}})
	c.strict()
	c.event(b)
	b.ReportMetric(float64(runs), "runs")
}

// BenchmarkPlanner_ReservedMemory tells what a planner keeps that has looked at the future of all vnodes: what for a few jobs, and in all
// with 100,000 that wait behind a top job.
func BenchmarkPlanner_ReservedMemory(b *testing.B) {
	for b.Loop() {
		s := reservedStore(0, 1)
		before := live()
		p := sched.NewPlanner()
		p.Plan(s.View(), start)
		between := live()
		p.Foreseen(s.View(), start)
		b.ReportMetric(float64(between-before)/1e6, "MB-others")
		b.ReportMetric(float64(live()-between)/1e6, "MB-calendars")
		runtime.KeepAlive(p)
		runtime.KeepAlive(s)

		c := newBusy(true)
		c.planner.Plan(c.store.Publish(), c.now+secs(1))
		with := live()
		c.planner = nil
		b.ReportMetric(float64(with-live())/1e6, "MB-with-jobs")
		runtime.KeepAlive(c)
	}
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// busy is a cluster that does what is planned.
type busy struct {
	store   *state.Store
	planner *sched.Planner
	index   uint64
	now     pbs.Time
}

// newBusy fills the vnodes of reservedStore.
func newBusy(strict bool) *busy {
	c := filled(reservedStore(100_000, 5000))
	if strict {
		c.strict()
	}
	return c
}

func (c *busy) strict() {
	c.run(&command.ManageSched{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "strict_ordering", Value: "True"}}}})
	c.apply(c.planner.Plan(c.store.Publish(), c.now))
}

// filled has as many jobs run as can.
func filled(s *state.Store) *busy {
	c := &busy{store: s, planner: sched.NewPlanner(), index: 2, now: start}
	c.store.Publish()
	c.apply(c.planner.Plan(c.store.View(), c.now))
	for {
		p := c.planner.Plan(c.store.View(), c.now)
		c.apply(p)
		if len(p.Starts) == 0 && len(p.Comments) == 0 {
			break
		}
	}
	return c
}

func (c *busy) run(commands ...command.Command) {
	c.index++
	command.Run(c.store, c.index, 1, command.Entry{Time: c.now, Proposals: []command.Proposal{{Commands: commands}}})
}

func (c *busy) apply(p sched.Plan) {
	for _, s := range p.Starts {
		c.run(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode})
	}
	set := &command.SetWaits{}
	for _, w := range p.Comments {
		set.Add(command.JobWait{Job: w.Job, Start: w.Start, ExecVnode: w.ExecVnode}, w.Why)
	}
	c.run(set)
	c.store.Publish()
}

// measured are the processor times of some operations: of the thread that does them, and of the process, which is that with all that the
// collector does meanwhile. On a machine that is shared the time on the clock tells of others.
type measured struct{ own, all []float64 }

func newMeasured() *measured { return &measured{} }

func (m *measured) take(do func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, all := spent(ofThread), spent(syscall.RUSAGE_SELF)
	do()
	m.own, m.all = append(m.own, spent(ofThread)-own), append(m.all, spent(syscall.RUSAGE_SELF)-all)
}

// ofThread is RUSAGE_THREAD of getrusage(2).
const ofThread = 1

// spent returns processor time in milliseconds.
func spent(who int) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

func (m *measured) report(b *testing.B) {
	slices.Sort(m.own)
	slices.Sort(m.all)
	b.ReportMetric(m.own[len(m.own)/2], "ms-p50")
	b.ReportMetric(m.own[len(m.own)*99/100], "ms-p99")
	b.ReportMetric(m.all[len(m.all)*99/100], "with-collector-ms-p99")
}

// BenchmarkDecide_Crowded is a cycle that decides as many standing reservations as one does, on two vnodes that a thousand others share.
func BenchmarkDecide_Crowded(b *testing.B) {
	s := bigStore(0, 1, 2, false)
	index := uint64(1)
	ask := func(i int) {
		r := &command.Reserve{Owner: pbs.User{Name: "ann", Host: "h"}, Length: secs(60), Rule: "FREQ=DAILY;COUNT=10", Zone: "UTC"}
		r.Attributes = r.Attributes.Set("Resource_List", "select", "2:ncpus=1")
		for n := range 10 {
			r.Starts = append(r.Starts, start+secs(4000+61*i)+pbs.Time(n)*secs(86400))
		}
		index++
		command.Run(s, index, 1, command.Entry{Time: start, Proposals: []command.Proposal{{Commands: []command.Command{r}}}})
	}
	p := sched.NewPlanner()
	decide := func() int {
		plan := p.Plan(s.Publish(), start)
		index++
		e := command.Entry{Time: start}
		for _, d := range plan.Decisions {
			if d.Why != "" {
				b.Fatal(d.Why)
			}
			e.Proposals = append(e.Proposals, command.Proposal{Commands: []command.Command{d}})
		}
		command.Run(s, index, 1, e)
		return len(plan.Decisions)
	}
	for i := range 1000 {
		ask(i)
	}
	for decide() > 0 {
	}
	for i := range 64 {
		ask(1000 + i)
	}
	v := s.Publish()
	m := newMeasured()
	for b.Loop() {
		var plan sched.Plan
		m.take(func() { plan = p.Plan(v, start) })
		if len(plan.Decisions) != 64 {
			b.Fatalf("decided %d", len(plan.Decisions))
		}
	}
	m.report(b)
}
