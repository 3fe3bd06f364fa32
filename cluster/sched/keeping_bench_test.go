package sched_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/alloc"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// newKeeping is a cluster of 10,000 hosts on which runs have left 2 of 64 cpus each, and 1,000 jobs wait that keep what is free: 100 that are
// planned by time and need 4 cpus on each of 4 hosts, and 900 that need 4 cpus and much memory on one. A threshold of their queues has the
// scheduler look at the load of all hosts.
func newKeeping(b *testing.B, byTime int) *busy {
	c := &busy{store: bigStore(0, 1, 10_000, false), planner: sched.NewPlanner(), index: 2, now: start}
	c.planner.GoBy(&sched.Loads{
		Of: func(pbs.HostName) (map[string]resreq.Amount, bool) {
			return map[string]resreq.Amount{"r1m": 1500, "ut": 50_000}, true
		},
		Since: func(uint64) ([]pbs.HostName, uint64, bool) { return nil, 1, true },
		Fresh: func() bool { return false },
		Look:  func() {},
	})
	config := lsf.Unconfigured()
	config.TimeReserveJobs = int64(byTime)
	c.run(&command.Reconfigure{Config: *config})
	for name, attrs := range map[pbs.QueueName]map[string]string{"memory": {"resource_reserve": "100000"}, "slots": {"slot_reserve": "100000"}} {
		changes := []command.AttrChange{
			{Entry: attr.Entry{Name: "queue_type", Value: "Execution"}},
			{Entry: attr.Entry{Name: "enabled", Value: "True"}},
			{Entry: attr.Entry{Name: "started", Value: "True"}},
			{Entry: attr.Entry{Name: lsf.QueueThresholds, Value: "r1m=60"}},
		}
		for n, v := range attrs {
			changes = append(changes, command.AttrChange{Entry: attr.Entry{Name: n, Value: v}})
		}
		c.run(&command.ManageQueue{Verb: command.VerbCreate, Queue: name, Changes: changes})
	}
	c.store.Publish()
	tx := c.store.Tx()
	for vn := range c.store.View().Vnodes() {
		seq := tx.NextJob()
		next, id := *vn, pbs.NewJobID(seq, "srv")
		next.Assigned = resource.List{}.Set("mem", "255gb").Set("ncpus", "62")
		next.Jobs = []state.VnodeJob{{Job: id, RunCount: 1, Items: next.Assigned}}
		tx.PutVnode(&next)
		tx.PutJob(&state.Job{
			ID: id, Seq: seq, State: pbs.Running, Queue: "workq", RunCount: 1, Started: start,
			Run:       &state.Run{Number: 1, MS: vn.Host, Assignment: alloc.Assignment{ExecVnode: spec.ExecVnode{{Parts: []spec.ExecPart{{Vnode: vn.Name, Items: next.Assigned}}}}}},
			Resources: resource.List{}.Set("walltime", fmt.Sprintf("%d:00:00", 1+seq%50)),
		})
	}
	for i := range 1000 {
		seq := tx.NextJob()
		j := &state.Job{
			ID: pbs.NewJobID(seq, "srv"), Seq: seq, State: pbs.Queued, Queue: "memory", Eligible: start,
			SchedSelect: "1:ncpus=4:mem=8gb", Resources: resource.List{}.Set("place", "pack").Set("walltime", "2:00:00").Set("ncpus", "4").Set("mem", "8gb"),
		}
		if i%10 == 0 {
			j.Queue, j.SchedSelect = "slots", "4:ncpus=4"
			j.Resources = resource.List{}.Set("place", "scatter").Set("walltime", "2:00:00").Set("ncpus", "16")
		}
		tx.PutJob(j)
	}
	c.store.Commit(tx)
	c.store.Publish()
	for range 3 {
		c.keep(c.planner.Plan(c.store.View(), c.now))
	}
	if kept := len(slices.Collect(c.store.View().Pendings())); kept != 1000 {
		b.Fatalf("%d of 1000 jobs keep something", kept)
	}
	return c
}

// keep has a plan hold, with what it keeps.
func (c *busy) keep(p sched.Plan) {
	c.apply(p)
	if p.Pending != nil {
		c.run(p.Pending)
		c.store.Publish()
	}
}

// BenchmarkPlanner_Keeping is the cycle after one run has ended, and the dispatch turn, of 1,000 jobs that keep what is free, and of which
// none or 100 are planned by time.
func BenchmarkPlanner_Keeping(b *testing.B) {
	for _, byTime := range []int{0, 100} {
		for _, turn := range []bool{false, true} {
			b.Run(fmt.Sprintf("bytime=%d,turn=%v", byTime, turn), func(b *testing.B) {
				c := newKeeping(b, byTime)
				m := newMeasured()
				running := slices.Collect(c.store.View().Running())
				runtime.GC()
				for i := 0; b.Loop(); i++ {
					b.StopTimer()
					c.now += secs(1)
					if turn {
						c.now += secs(29)
					} else {
						c.run(&command.DeleteJob{Job: running[(i*7919)%len(running)].ID, Force: true})
					}
					v := c.store.Publish()
					b.StartTimer()
					var p sched.Plan
					m.take(func() { p = c.planner.Plan(v, c.now) })
					b.StopTimer()
					c.keep(p)
					b.StartTimer()
				}
				m.report(b)
			})
		}
	}
}
