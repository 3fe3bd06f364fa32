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

// reservedStore has 10,000 vnodes, each with a run, and 2,000 reservations of four of them each, of which 500 have 30 occurrences.
func reservedStore(jobs, classes int) *state.Store {
	s := bigStore(jobs, classes, 10_000, false)
	tx := s.Tx()
	i := 0
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
	for i = range 2000 {
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
			nodes := ""
			for k := range 4 {
				nodes += fmt.Sprintf("+(h%05d:ncpus=16:mem=1048576kb)", (4*i+k)%10_000)
			}
			r.Occurrences = append(r.Occurrences, state.Occurrence{Start: start + secs(3600+i%100) + pbs.Time(n)*secs(86400), Nodes: nodes[1:]})
		}
		r.Start, r.End = r.Occurrences[0].Start, r.Occurrences[0].Start+long
		tx.PutReservation(r)
	}
	s.Commit(tx)
	s.Publish()
	return s
}

// BenchmarkDecide is the cycle in which one more reservation is decided.
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
			r := &command.Reserve{Owner: pbs.User{Name: "ann", Host: "h"}, Length: secs(3600), Rule: "FREQ=DAILY;COUNT=365", Zone: "UTC"}
			r.Attributes = r.Attributes.Set("Resource_List", "select", c.sel)
			for n := range c.times {
				r.Starts = append(r.Starts, start+secs(4000)+pbs.Time(n)*secs(86400))
			}
			command.Run(s, 2, 1, command.Entry{Time: start, Proposals: []command.Proposal{
				{Commands: []command.Command{&command.RaiseLevel{Level: command.FeatureLevel}}}, {Commands: []command.Command{r}},
			}})
			v := s.Publish()
			p := sched.NewPlanner()
			for b.Loop() {
				plan := p.Plan(v, start)
				if len(plan.Decisions) != 1 || (plan.Decisions[0].Why == "") != c.fits {
					b.Fatalf("decided %+v", plan.Decisions)
				}
			}
		})
	}
}

// BenchmarkMake_Reserved is the full cycle of BenchmarkMake beside reservations: half of each vnode is free.
func BenchmarkMake_Reserved(b *testing.B) {
	v := reservedStore(100_000, 1000).View()
	for b.Loop() {
		sched.Make(v, start)
	}
}

// BenchmarkPlanner_Reserved is the cycle of a planner that has seen the state before.
func BenchmarkPlanner_Reserved(b *testing.B) {
	v := reservedStore(0, 1).View()
	p := sched.NewPlanner()
	for b.Loop() {
		p.Plan(v, start)
	}
}
