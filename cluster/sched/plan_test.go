package sched_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
	"rampart/transport/build"
)

// A bench is a state in the making: vnodes and queued jobs.
type bench struct {
	t     rapid.TB
	store *state.Store
	index uint64
}

func newBench(t rapid.TB) *bench {
	b := &bench{t: t, store: state.NewStore()}
	b.do(&command.InitCluster{ID: "c", Name: "srv", Epoch: 1})
	return b
}

const start = pbs.Time(1795242337) * 1e9 // Sat Nov 21 06:25:37 2026 UTC

// do applies commands and expects them to take effect.
func (b *bench) do(commands ...command.Command) {
	b.t.Helper()
	if out := b.try(commands...); out.Refusal != nil {
		b.t.Fatalf("%T refused: %v", commands[0], out.Refusal)
	}
}

func (b *bench) try(commands ...command.Command) command.Outcome {
	b.index++
	out, _ := command.Run(b.store, b.index, 1, command.Entry{
		Time: start, Proposals: []command.Proposal{{Asker: pbs.User{Name: "ann", Host: "hosta"}, Commands: commands}},
	})
	v := b.store.Publish()
	if err := v.Check(); err != nil {
		b.t.Fatal(err)
	}
	return out[0]
}

// host registers a mom with vnodes written as NAME:RES=VALUE,...
func (b *bench) host(name string, vnodes ...string) {
	b.t.Helper()
	up := &command.HostUp{Host: pbs.HostName(name), Address: name + ":15002", BootID: "b", SpoolID: "s"}
	for _, text := range vnodes {
		vnode, offer, _ := strings.Cut(text, ":")
		list := resource.List{}.Set("host", name).Set("vnode", vnode)
		r := command.ReportedVnode{Name: pbs.VnodeName(vnode)}
		for item := range strings.SplitSeq(offer, ",") {
			res, value, _ := strings.Cut(item, "=")
			if res == "sharing" {
				r.Sharing = value
				continue
			}
			list = list.Set(res, value)
		}
		r.Available = list
		up.Vnodes = append(up.Vnodes, r)
	}
	b.do(up)
}

// submit queues a job with a select, place and priority written as in -l.
func (b *bench) submit(request string) pbs.JobID {
	b.t.Helper()
	list := (&command.SubmitJob{}).Attributes
	for word := range strings.FieldsSeq(request) {
		name, value, _ := strings.Cut(word, "=")
		if direct, ok := map[string]string{
			"priority": "Priority", "array": "array_indices_submitted", "most": "max_run_subjobs", "depend": "depend",
		}[name]; ok {
			list = list.Set(direct, "", value)
			continue
		}
		list = list.Set("Resource_List", name, value)
	}
	out := b.try(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Attributes: list})
	if out.Refusal != nil {
		b.t.Fatalf("submit %s: %v", request, out.Refusal)
	}
	return out.Result.Job
}

func (b *bench) plan() sched.Plan { return sched.Make(b.store.View(), start) }

// apply commits a plan, and fails if Apply refuses any of it (L3).
func (b *bench) apply(p sched.Plan) {
	b.t.Helper()
	for _, s := range p.Starts {
		b.do(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode, Comment: "Job run at noon on " + s.ExecVnode})
	}
	b.tell(p)
}

// tell commits why jobs wait.
func (b *bench) tell(p sched.Plan) {
	b.t.Helper()
	for _, c := range p.Comments {
		set := &command.SetWaits{}
		set.Add(command.JobWait{Job: c.Job, Start: c.Start, ExecVnode: c.ExecVnode, Top: c.Top, Forget: c.Forget}, c.Why)
		b.do(set)
	}
}

// text writes a plan as a transcript.
func text(p sched.Plan) string {
	var lines []string
	for _, s := range p.Starts {
		lines = append(lines, fmt.Sprintf("start %s %s", s.Job.Number(), s.ExecVnode))
	}
	for _, c := range p.Comments {
		lines = append(lines, fmt.Sprintf("comment %s %s", c.Job.Number(), c.Why.Comment()))
	}
	return strings.Join(lines, "\n")
}

func TestMake(t *testing.T) {
	threeHosts := func(b *bench) {
		for _, h := range []string{"hosta", "hostb", "hostc"} {
			b.host(h, h+":ncpus=8,mem=8gb,arch=linux")
		}
	}
	complexP3 := func(b *bench) {
		b.host("hosta", "hosta:ncpus=0,mem=0kb", "hosta[0]:ncpus=1,mem=1gb", "hosta[1]:ncpus=1,mem=1gb")
		b.host("hostb", "hostb:ncpus=2,mem=4gb")
	}
	switches := func(b *bench) {
		b.do(&command.ManageResource{Verb: command.VerbCreate, Name: "switch", Changes: []command.AttrChange{
			{Entry: attr.Entry{Name: "type", Value: "string"}}, {Entry: attr.Entry{Name: "flag", Value: "h"}},
		}})
		b.host("hosta", "hosta:ncpus=8,switch=s1")
		b.host("hostc", "hostc:ncpus=4,switch=s2")
		b.host("hostb", "hostb:ncpus=8,switch=s1")
		b.host("hostd", "hostd:ncpus=4,switch=s2")
	}
	cases := []struct {
		name  string
		setup func(b *bench)
		jobs  []string
		want  string
	}{
		{
			"first host first, then the next", threeHosts,
			[]string{"select=1:ncpus=6", "select=1:ncpus=6:mem=1gb", "select=1:ncpus=2"},
			`start 0 (hosta:ncpus=6)
start 1 (hostb:ncpus=6:mem=1048576kb)
start 2 (hosta:ncpus=2)`,
		},
		{
			"one of a set", threeHosts,
			[]string{"select=1:ncpus=25", "select=1:ncpus=2 array=1-2 depend=runone:0", "select=1:ncpus=1 depend=runone:0", "select=1:ncpus=1"},
			`start 1 (hosta:ncpus=2)
start 1 (hosta:ncpus=2)
start 3 (hosta:ncpus=1)
comment 0 Can Never Run: Insufficient amount of resource: ncpus (R: 25 A: 24 T: 24)`,
		},
		{
			"priority before order", threeHosts,
			[]string{"select=1:ncpus=8", "select=1:ncpus=8", "select=1:ncpus=8", "select=1:ncpus=7 priority=5"},
			`start 3 (hosta:ncpus=7)
start 0 (hostb:ncpus=8)
start 1 (hostc:ncpus=8)
comment 2 Not Running: Insufficient amount of resource: ncpus (R: 8 A: 1 T: 24)`,
		},
		{
			"more than there is", threeHosts,
			[]string{"select=1:ncpus=64"},
			`comment 0 Can Never Run: Insufficient amount of resource: ncpus (R: 64 A: 24 T: 24)`,
		},
		{
			"more than one host has", threeHosts,
			[]string{"select=1:ncpus=10"},
			`comment 0 Can Never Run: Insufficient amount of resource: ncpus (R: 10 A: 8 T: 8)`,
		},
		{
			"several hosts", threeHosts,
			[]string{"select=3:ncpus=2 place=scatter", "select=2:ncpus=8", "select=3:ncpus=6", "select=3:ncpus=8 place=pack", "select=4:ncpus=1 place=scatter"},
			`start 0 (hosta:ncpus=2)+(hostb:ncpus=2)+(hostc:ncpus=2)
start 2 (hosta:ncpus=6)+(hostb:ncpus=6)+(hostc:ncpus=6)
comment 1 Not Running: Not enough free nodes available
comment 3 Can Never Run: Insufficient amount of resource: ncpus (R: 24 A: 8 T: 8)
comment 4 Can Never Run: Not enough total nodes available`,
		},
		{
			"free fills one host after the other", threeHosts,
			[]string{"select=5:ncpus=3", "select=1:ncpus=2+3:ncpus=2"},
			`start 0 (hosta:ncpus=3)+(hosta:ncpus=3)+(hostb:ncpus=3)+(hostb:ncpus=3)+(hostc:ncpus=3)
start 1 (hosta:ncpus=2)+(hostb:ncpus=2)+(hostc:ncpus=2)+(hostc:ncpus=2)`,
		},
		{
			"named hosts", threeHosts,
			[]string{"select=1:ncpus=1:host=hostc+1:ncpus=1:vnode=hosta+1:ncpus=1", "select=2:ncpus=1:host=hostb place=scatter"},
			`start 0 (hostc:ncpus=1)+(hosta:ncpus=1)+(hosta:ncpus=1)
comment 1 Can Never Run: Not enough total nodes available`,
		},
		{
			"vscatter over hosts", complexP3,
			[]string{"select=3:ncpus=1 place=vscatter:excl", "select=1:ncpus=1"},
			`start 0 (hosta[0]:ncpus=1)+(hosta[1]:ncpus=1)+(hostb:ncpus=1)
comment 1 Not Running: Not enough free nodes available`,
		},
		{
			"exclusive hosts", threeHosts,
			[]string{"select=1:ncpus=1:host=hostb", "select=2:ncpus=1 place=scatter:exclhost", "select=3:ncpus=1 place=scatter:exclhost", "select=1:ncpus=1"},
			`start 0 (hostb:ncpus=1)
start 1 (hosta:ncpus=1)+(hostc:ncpus=1)
start 3 (hostb:ncpus=1)
comment 2 Not Running: Not enough free nodes available`,
		},
		{
			"group=", switches,
			[]string{"select=2:ncpus=4 place=scatter:group=switch", "select=2:ncpus=2 place=scatter:group=switch", "select=4:ncpus=1 place=scatter:group=switch", "select=1:ncpus=1 place=group=nosuch"},
			`start 0 (hostc:ncpus=4)+(hostd:ncpus=4)
start 1 (hosta:ncpus=2)+(hostb:ncpus=2)
comment 2 Can Never Run: can't fit in the largest placement set, and can't span psets
comment 3 Can Never Run: Unknown resource: nosuch`,
		},
		{
			"several chunks on one host", threeHosts,
			[]string{"select=2:ncpus=2+1:ncpus=1:mem=2gb"},
			`start 0 (hosta:ncpus=2)+(hosta:ncpus=2)+(hosta:ncpus=1:mem=2097152kb)`,
		},
		{
			"a chunk over the vnodes of a host", complexP3,
			[]string{"select=1:ncpus=2:mem=1536mb", "select=1:ncpus=2", "ncpus=1"},
			`start 0 (hosta[0]:mem=1048576kb:ncpus=1+hosta[1]:mem=524288kb:ncpus=1)
start 1 (hostb:ncpus=2)
comment 2 Not Running: Not enough free nodes available`,
		},
		{
			"vscatter wants a vnode for each chunk", complexP3,
			[]string{"select=2:ncpus=1:mem=10mb place=vscatter", "select=2:ncpus=1 place=vscatter"},
			`start 0 (hosta[0]:ncpus=1:mem=10240kb)+(hosta[1]:ncpus=1:mem=10240kb)
comment 1 Not Running: Insufficient amount of resource: ncpus (R: 2 A: 0 T: 2)`,
		},
		{
			"vnode= and host=", complexP3,
			[]string{"select=1:ncpus=1:vnode=hosta[1]", "select=1:ncpus=1:host=hostb", "select=1:host=nosuch", "select=1:ncpus=1:vnode=hosta[1]"},
			`start 0 (hosta[1]:ncpus=1)
start 1 (hostb:ncpus=1)
comment 2 Can Never Run: Insufficient amount of resource: host
comment 3 Not Running: Not enough free nodes available`,
		},
		{
			"exclusive", threeHosts,
			[]string{"select=1:ncpus=1", "select=1:ncpus=1 place=excl", "select=1:ncpus=1 place=free:excl", "select=1:ncpus=1 place=excl", "select=1:ncpus=1"},
			`start 0 (hosta:ncpus=1)
start 1 (hostb:ncpus=1)
start 2 (hostc:ncpus=1)
start 4 (hosta:ncpus=1)
comment 3 Not Running: Not enough free nodes available`,
		},
		{
			"a vnode that is always exclusive", func(b *bench) { b.host("hosta", "hosta:ncpus=4,sharing=force_excl") },
			[]string{"ncpus=1", "ncpus=1"},
			`start 0 (hosta:ncpus=1)
comment 1 Not Running: Not enough free nodes available`,
		},
		{
			"no vnodes", func(*bench) {},
			[]string{"ncpus=1"},
			`comment 0 Not Running: Not enough free nodes available`,
		},
		{
			"properties and custom resources", func(b *bench) {
				set := func(name, value string) command.AttrChange {
					var ch command.AttrChange
					ch.Entry.Name, ch.Entry.Value = name, value
					return ch
				}
				b.do(&command.ManageResource{Verb: command.VerbCreate, Name: "lic", Changes: []command.AttrChange{set("type", "long"), set("flag", "nh")}})
				b.do(&command.ManageResource{Verb: command.VerbCreate, Name: "ssd", Changes: []command.AttrChange{set("type", "boolean"), set("flag", "h")}})
				b.host("hosta", "hosta:ncpus=8,mem=1gb")
				b.host("hostb", "hostb:ncpus=8,mem=1gb,lic=2,ssd=True")
			},
			[]string{"select=1:ncpus=1:lic=1", "select=1:ncpus=1:ssd=true", "select=1:ncpus=1:lic=2", "select=1:ssd=false", "select=1:arch=vax"},
			`start 0 (hostb:ncpus=1:lic=1)
start 1 (hostb:ncpus=1)
start 3 (hosta:ncpus=1)
comment 2 Not Running: Insufficient amount of resource: lic (R: 2 A: 1 T: 2)
comment 4 Can Never Run: Insufficient amount of resource: arch (vax != )`,
		},
		{
			"numbers that are not consumed", func(b *bench) {
				for name, kind := range map[string]string{"foo": "long", "room": "size", "none": "float"} {
					b.do(&command.ManageResource{Verb: command.VerbCreate, Name: name, Changes: []command.AttrChange{
						{Entry: attr.Entry{Name: "type", Value: kind}}, {Entry: attr.Entry{Name: "flag", Value: "h"}},
					}})
				}
				b.host("hosta", "hosta:ncpus=8,foo=5,room=1mb")
				b.host("hostb", "hostb:ncpus=8,foo=3")
			},
			[]string{"select=1:foo=5", "select=1:foo=6", "select=1:room=2mb", "select=1:none=1.5", "select=1:foo=4"},
			`start 0 (hosta:ncpus=1)
start 4 (hosta:ncpus=1)
comment 1 Can Never Run: Insufficient amount of resource: foo (R: 6 A: 5 T: 5)
comment 2 Can Never Run: Insufficient amount of resource: room (R: 2048kb A: 1024kb T: 1024kb)
comment 3 Can Never Run: Insufficient amount of resource: none (R: 1.5 A: 0 T: 0)`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.setup(b)
			for _, j := range c.jobs {
				b.submit(j)
			}
			p := b.plan()
			if got := text(p); got != c.want {
				t.Errorf("plan is\n%s\nwant\n%s", got, c.want)
			}
			b.apply(p)
			if again := b.plan(); len(again.Starts) > 0 {
				t.Errorf("a second plan starts more:\n%s", text(again))
			}
		})
	}
}

func TestMake_WhatMustNotStart(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=8,mem=1gb")
	id := b.submit("ncpus=1")
	b.apply(b.plan())
	// Forced back into the queue: its first run is not confirmed to be over (L2).
	b.do(&command.RerunJob{Job: id, Force: true})
	if p := b.plan(); len(p.Starts) > 0 {
		t.Errorf("planned %v", p.Starts)
	}
	b.do(&command.HostDown{Host: "hosta"})
	b.submit("ncpus=1")
	if got := text(b.plan()); got != "comment 1 Not Running: Not enough free nodes available" {
		t.Errorf("with the host down: %s", got)
	}
}

func TestMake_CommentsAreNotRepeated(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("two hundred jobs and one goroutine: short tests play it without the race detector")
	}
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=8,mem=1gb")
	for range 200 {
		b.submit("ncpus=9")
	}
	p := b.plan()
	if len(p.Comments) != 200 {
		t.Errorf("%d comments", len(p.Comments))
	}
	lines := func(p sched.Plan) (considered, reasons int) {
		for _, l := range p.Lines {
			switch {
			case l.Text == "Considering job to run":
				considered++
			case strings.HasPrefix(l.Text, "Insufficient amount"):
				reasons++
			}
		}
		return considered, reasons
	}
	if considered, reasons := lines(p); considered != 100 || reasons != 100 { // the first hundred are told of
		t.Errorf("%d jobs of one class are told of, %d with a reason", considered, reasons)
	}
	b.apply(p)
	again := b.plan()
	if len(again.Comments) > 0 {
		t.Errorf("%d comments again", len(again.Comments))
	}
	if considered, reasons := lines(again); considered != 100 || reasons != 1 { // the one of the class that is tried
		t.Errorf("again %d jobs of one class are told of, %d with a reason", considered, reasons)
	}
}

// TestMake_NeverPromisesTooMuch holds any plan against Apply, which refuses what
// does not fit, and Check, which verifies the laws after each step (L3).
func TestMake_NeverPromisesTooMuch(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := newBench(t)
		for h := range rapid.IntRange(1, 4).Draw(r, "hosts") {
			name := fmt.Sprintf("h%d", h)
			var vnodes []string
			for n := range rapid.IntRange(1, 4).Draw(r, "vnodes") {
				vnodes = append(vnodes, fmt.Sprintf("%s[%d]:ncpus=%d,mem=%dmb,sharing=%s", name, n,
					rapid.IntRange(0, 4).Draw(r, "ncpus"), rapid.IntRange(0, 900).Draw(r, "mem"),
					rapid.SampledFrom([]string{"default_shared", "default_excl", "force_excl", "ignore_excl", "default_exclhost"}).Draw(r, "sharing")))
			}
			b.host(name, vnodes...)
		}
		for range rapid.IntRange(1, 3).Draw(r, "rounds") {
			for range rapid.IntRange(0, 6).Draw(r, "jobs") {
				var chunks []string
				for range rapid.IntRange(1, 2).Draw(r, "chunks") {
					chunks = append(chunks, fmt.Sprintf("%d:ncpus=%d:mem=%d%s", rapid.IntRange(1, 3).Draw(r, "count"),
						rapid.IntRange(0, 3).Draw(r, "cpus"), rapid.IntRange(0, 600).Draw(r, "size"), rapid.SampledFrom([]string{"b", "kb", "mb"}).Draw(r, "unit")))
				}
				place := rapid.SampledFrom([]string{"free", "pack", "scatter", "vscatter", "excl", "free:shared", "pack:exclhost"}).Draw(r, "place")
				b.submit("select=" + strings.Join(chunks, "+") + " place=" + place)
			}
			b.apply(b.plan())
			for _, j := range slices.Collect(b.store.View().Running()) {
				if rapid.Bool().Draw(r, "delete") {
					b.do(&command.DeleteJob{Job: j.ID, Force: true})
				}
			}
		}
	})
}

// What is planned on a vnode that has less than it was promised is what Apply takes.
func TestMake_NoneOfAnOvercommittedResource(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=2,mem=2gb")
	b.submit("select=1:ncpus=2:mem=1gb")
	b.apply(b.plan())
	lower := attr.Entry{Name: "resources_available", Resource: "ncpus", Value: "1"}
	b.do(&command.ManageVnode{Verb: command.VerbSet, Vnode: "hosta", Changes: []command.AttrChange{{Entry: lower}}})
	none := b.submit("select=1:ncpus=0:mem=1gb")
	b.submit("select=1:ncpus=1")
	p := b.plan()
	if len(p.Starts) != 1 || p.Starts[0].Job != none {
		t.Fatalf("planned:\n%s", text(p))
	}
	b.apply(p)
}

// TestMake_PausesAfterFailedStarts: three starts that came to nothing follow at
// once, the next one waits for a second.
func TestMake_PausesAfterFailedStarts(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=1")
	b.submit("select=1:ncpus=1")
	for i := range 3 {
		p := b.plan()
		if len(p.Starts) != 1 {
			t.Fatalf("after %d failed starts: %+v", i, p)
		}
		b.apply(p)
		h, _ := b.store.View().Host("hosta")
		b.do(&command.OrderConfirmed{Host: "hosta", Order: h.NextOrder, Refusal: pbs.Refuse(pbs.BadState)})
	}
	for after, want := range map[pbs.Time]int{0: 0, 1: 1} {
		if p := sched.Make(b.store.View(), start+after*1e9); len(p.Starts) != want {
			t.Errorf("after %d s: %d starts, want %d", after, len(p.Starts), want)
		}
	}
}
