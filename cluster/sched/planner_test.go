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
	"rampart/fsm/state"
)

// TestPlanner_WhatItKeepsDoesNotMatter: after any history a planner that followed
// it plans what one plans that knows only the view, and that is what looking at
// every job plans. Some views are skipped.
func TestPlanner_WhatItKeepsDoesNotMatter(t *testing.T) {
	starts, comments := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		b := newBench(t)
		kept := sched.NewPlanner()
		limits := [4]int{
			rapid.SampledFrom([]int{1, 2, 1000}).Draw(r, "starts"), rapid.SampledFrom([]int{1, 3, 1000}).Draw(r, "comments"),
			rapid.SampledFrom([]int{3, 2000}).Draw(r, "lines"), rapid.SampledFrom([]int{0, 1, 3, 100}).Draw(r, "exact"),
		}
		kept.Limit(limits[0], limits[1], limits[2], limits[3])
		now := start
		b.setHost(r)
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			now += pbs.Time(rapid.IntRange(0, 2).Draw(r, "seconds")) * 1e9
			b.step(r)
			if rapid.IntRange(0, 3).Draw(r, "skip") == 0 {
				continue
			}
			v := b.store.View()
			fresh := sched.NewPlanner()
			fresh.Limit(limits[0], limits[1], limits[2], limits[3])
			got, want := kept.Plan(v, now), fresh.Plan(v, now)
			if !reflect.DeepEqual(got, want) {
				r.Fatalf("the planner planned\n%+v\na new one\n%+v", got, want)
			}
			walked := sched.MakeByWalking(v, now, limits[0], limits[1], limits[2], limits[3])
			if got.More && !walked.More {
				r.Fatal("more is left, and walking finds nothing more")
			}
			if walked.More && !got.More { // it must have known that nothing more starts
				all := sched.MakeByWalking(v, now, 1000, limits[1], limits[2], limits[3])
				if len(all.Starts) > limits[0] {
					r.Fatalf("nothing more is left after %d starts, and there are %d", limits[0], len(all.Starts))
				}
			}
			walked.More = got.More
			if !reflect.DeepEqual(got, walked) {
				r.Fatalf("the planner planned\n%+v\nwalking the queue plans\n%+v", got, walked)
			}
			starts, comments = starts+len(got.Starts), comments+len(got.Comments)
			if rapid.IntRange(0, 2).Draw(r, "apply") > 0 {
				for _, s := range got.Starts { // one that wants nothing of a vnode that is over-committed is refused
					b.try(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode})
				}
				b.apply(sched.Plan{Comments: got.Comments})
			}
		}
	})
	if starts == 0 || comments == 0 {
		t.Errorf("only %d starts and %d comments were planned", starts, comments)
	}
}

// step changes the state somehow.
func (b *bench) step(r *rapid.T) {
	set := func(name, res, value string) []command.AttrChange {
		return []command.AttrChange{{Entry: attr.Entry{Name: name, Resource: res, Value: value}}}
	}
	jobs := slices.Collect(b.store.View().Jobs())
	var job pbs.JobID
	if len(jobs) > 0 {
		job = rapid.SampledFrom(jobs).Draw(r, "job").ID
	}
	var vnode *state.Vnode
	if vnodes := slices.Collect(b.store.View().Vnodes()); len(vnodes) > 0 {
		vnode = rapid.SampledFrom(vnodes).Draw(r, "vnode")
	}
	submit := func() {
		for range rapid.IntRange(1, 4).Draw(r, "jobs") {
			b.submit(fmt.Sprintf("select=%d:ncpus=%d%s place=%s priority=%d", rapid.IntRange(1, 2).Draw(r, "count"),
				rapid.IntRange(0, 5).Draw(r, "cpus"), rapid.SampledFrom([]string{"", ":mem=100mb", ":host=h1", ":lic=1", ":arch=vax"}).Draw(r, "more"),
				rapid.SampledFrom([]string{"free", "pack", "scatter", "excl", "pack:exclhost"}).Draw(r, "place"),
				rapid.IntRange(0, 1).Draw(r, "priority")) + rapid.SampledFrom([]string{"", "", " array=0-2", " array=1-9:3 most=1", " array=5-7 most=2"}).Draw(r, "array"))
		}
	}
	steps := []func(){
		submit, submit, submit, submit,
		func() { b.drawLimit(r) },
		func() {
			b.submitAs(rapid.SampledFrom([]string{"ann", "bob"}).Draw(r, "user"), "users", "select=1:ncpus=1")
		},
		func() {
			b.limit("node_group_enable=True", rapid.SampledFrom([]string{"", "workq."}).Draw(r, "whose")+"node_group_key="+
				rapid.SampledFrom([]string{"", "mem", "ncpus", "host"}).Draw(r, "group"))
		},
		func() { b.setHost(r) },
		func() {
			b.scheduler("node_sort_key="+rapid.SampledFrom([]string{"", "ncpus HIGH", "ncpus HIGH unused", "mem LOW assigned,ncpus LOW"}).Draw(r, "order"),
				"smp_cluster_dist="+rapid.SampledFrom([]string{"pack", "pack", "round_robin", "lowest_load"}).Draw(r, "dist"))
		},
		func() {
			word := rapid.SampledFrom([]string{"h0", "h1", "hx"}).Draw(r, "word")
			b.try(&command.ManageVnode{Verb: command.VerbSet, Vnode: vnode.Name, Changes: set("resources_available", "host", word)})
		},
		func() { b.try(&command.DeleteJob{Job: job, Force: true}) },
		func() { b.try(&command.DeleteJob{Job: job, Force: true}) },
		func() { b.try(&command.RerunJob{Job: job, Force: true}) },
		func() { b.try(&command.HoldJob{Job: job, Holds: pbs.HoldUser}) },
		func() { b.try(&command.ReleaseJob{Job: job, Holds: pbs.HoldUser}) },
		func() { b.try(&command.ForgetHost{Host: vnode.Host}) },
		func() { b.try(&command.HostDown{Host: vnode.Host}) },
		func() {
			b.try(&command.OrderConfirmed{Host: vnode.Host, Order: pbs.OrderID(rapid.IntRange(1, 6).Draw(r, "order")), Refusal: pbs.Refuse(pbs.SystemError)})
		},
		func() {
			ncpus := rapid.SampledFrom([]string{"0", "1", "4"}).Draw(r, "ncpus")
			b.try(&command.ManageVnode{Verb: command.VerbSet, Vnode: vnode.Name, Changes: set("resources_available", "ncpus", ncpus)})
		},
		func() {
			value := rapid.SampledFrom([]string{"True", "False"}).Draw(r, "started")
			b.try(&command.ManageQueue{Verb: command.VerbSet, Queue: "workq", Changes: set("started", "", value)})
		},
		func() {
			b.try(&command.AlterJob{Job: job, Changes: set("Priority", "", fmt.Sprint(rapid.IntRange(-1, 2).Draw(r, "altered")))})
		},
		func() {
			b.try(&command.AlterJob{Job: job, Changes: set("comment", "", "by hand (R: 1)")})
		},
	}
	rapid.SampledFrom(steps).Draw(r, "step")()
}

// setHost registers a host, perhaps with other vnodes than before.
func (b *bench) setHost(r *rapid.T) {
	name := fmt.Sprintf("h%d", rapid.IntRange(0, 2).Draw(r, "host"))
	var vnodes []string
	for n := range rapid.IntRange(1, 3).Draw(r, "vnodes") {
		vnodes = append(vnodes, fmt.Sprintf("%s[%d]:ncpus=%d,mem=%dmb,lic=%d,sharing=%s", name, n, rapid.IntRange(0, 4).Draw(r, "ncpus"),
			rapid.IntRange(0, 400).Draw(r, "mem"), rapid.IntRange(0, 1).Draw(r, "lic"), rapid.SampledFrom([]string{"default_shared", "force_excl", "default_exclhost"}).Draw(r, "sharing")))
	}
	if _, known := b.store.View().Resource("lic"); !known {
		var flag, kind command.AttrChange
		flag.Entry.Name, flag.Entry.Value, kind.Entry.Name, kind.Entry.Value = "flag", "nh", "type", "long"
		b.do(&command.ManageResource{Verb: command.VerbCreate, Name: "lic", Changes: []command.AttrChange{kind, flag}})
	}
	b.host(name, vnodes...)
}
