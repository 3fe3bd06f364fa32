package sched_test

import (
	"fmt"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// BenchmarkMake is the cycle of design section 12: 100,000 queued jobs of 1,000
// classes on 10,000 vnodes, all of them full, or free.
func BenchmarkMake(b *testing.B) {
	for _, full := range []bool{true, false} {
		b.Run(fmt.Sprintf("full=%v", full), func(b *testing.B) {
			v := bigState(100_000, 1000, 10_000, full)
			for b.Loop() {
				p := sched.Make(v, start)
				if full != (len(p.Starts) == 0) {
					b.Fatalf("%d starts", len(p.Starts))
				}
			}
		})
	}
}

// BenchmarkPlanner_OneEvent is the cycle after one job has ended on full vnodes, for
// a planner that has seen the state before.
func BenchmarkPlanner_OneEvent(b *testing.B) {
	s := bigStore(100_000, 1000, 10_000, true)
	p := sched.NewPlanner()
	comment(s, p.Plan(s.View(), start))
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		v, _ := s.View().Vnode(pbs.VnodeName(fmt.Sprintf("h%05d", i%10_000)))
		next := *v
		next.Assigned = resource.List{}.Set("mem", "1048576kb").Set("ncpus", "63")
		tx := s.Tx()
		tx.PutVnode(&next)
		s.Commit(tx)
		view := s.Publish()
		b.StartTimer()
		p.Plan(view, start)
	}
}

// comment tells all jobs why they wait.
func comment(s *state.Store, p sched.Plan) {
	tx := s.Tx()
	for j := range s.View().Jobs() {
		next := *j
		tx.SetWait(&next, p.Comments[0].Why)
		tx.PutJob(&next)
	}
	s.Commit(tx)
	s.Publish()
}

func bigState(jobs, classes, vnodes int, full bool) *state.View {
	return bigStore(jobs, classes, vnodes, full).View()
}

func bigStore(jobs, classes, vnodes int, full bool) *state.Store {
	s := state.NewStore()
	entry := func(commands ...command.Command) {
		command.Run(s, 1, 1, command.Entry{Time: start, Proposals: []command.Proposal{{Commands: commands}}})
	}
	entry(&command.InitCluster{ID: "c", Name: "srv", Epoch: 1})
	tx := s.Tx()
	offer := resource.List{}.Set("ncpus", "64").Set("mem", "256gb").Set("arch", "linux")
	for i := range vnodes {
		name := fmt.Sprintf("h%05d", i)
		vn := &state.Vnode{Name: pbs.VnodeName(name), Host: pbs.HostName(name), Seq: tx.NextSeq(), Reported: offer.Set("host", name)}
		if full {
			vn.Assigned = resource.List{}.Set("mem", "1048576kb").Set("ncpus", "64")
		}
		tx.PutVnode(vn)
	}
	for i := range jobs {
		seq := tx.NextJob()
		c := i % classes
		tx.PutJob(&state.Job{
			ID: pbs.NewJobID(seq, "srv"), Seq: seq, State: pbs.Queued, Queue: "workq", Eligible: start,
			SchedSelect: fmt.Sprintf("1:ncpus=%d:mem=%dmb", 1+c%64, 100+c),
			Resources:   resource.List{}.Set("place", "pack"),
		})
	}
	s.Commit(tx)
	s.Publish()
	return s
}
