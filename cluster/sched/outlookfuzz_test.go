package sched_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// A modelWorld is a cluster that has runs, reservations and, if need be, top jobs.
type modelWorld struct {
	*clock
	several bool // vnodes of a host: there chunks are of cpus alone
	strict  bool // there are top jobs: none is endless, which would start in years
}

// drawAsk draws what a job asks for.
func (w *modelWorld) drawAsk(r *rapid.T) *ask {
	a := &ask{
		chunks:  rapid.IntRange(1, 3).Draw(r, "chunks"),
		wants:   [2]int{rapid.IntRange(1, 5).Draw(r, "ncpus")},
		place:   rapid.SampledFrom([]string{"free", "scatter", "pack", "excl", "scatter:excl", "scatter:exclhost"}).Draw(r, "place"),
		seconds: rapid.IntRange(1, 40).Draw(r, "walltime"),
	}
	if !w.several {
		a.wants[1] = rapid.IntRange(0, 4).Draw(r, "mem")
	}
	if !w.strict && rapid.IntRange(0, 7).Draw(r, "endless") == 0 {
		a.seconds = horizon
	}
	return a
}

func drawWorld(r *rapid.T) *modelWorld {
	w := &modelWorld{&clock{newBench(r), start}, rapid.Bool().Draw(r, "several vnodes"), rapid.Bool().Draw(r, "strict")}
	for i := range rapid.IntRange(1, 3).Draw(r, "hosts") {
		name := fmt.Sprintf("host%c", 'a'+i)
		vnodes := []string{name}
		if w.several && i == 0 {
			vnodes = append(vnodes, name+"[0]")
		}
		for i, vnode := range vnodes {
			vnodes[i] = fmt.Sprintf("%s:ncpus=%d,mem=%dgb", vnode, rapid.IntRange(1, 6).Draw(r, "ncpus"), rapid.IntRange(1, 6).Draw(r, "mem"))
		}
		w.host(name, vnodes...)
	}
	if w.strict {
		w.scheduler("strict_ordering=True")
		w.limit("backfill_depth=3")
	}
	if restrict := rapid.SampledFrom([]string{"ncpus", "mem", ""}).Draw(r, "restrict"); restrict != "" {
		w.limit("restrict_res_to_release_on_suspend=" + restrict)
	}
	for range rapid.IntRange(1, 8).Draw(r, "steps") {
		if rapid.IntRange(0, 2).Draw(r, "reserve") == 0 {
			a := w.drawAsk(r)
			request, _, _ := strings.Cut(a.request(), " walltime")
			at := rapid.IntRange(1, 100).Draw(r, "start")
			w.reserve(request, min(a.seconds, 60), at, at+60+rapid.IntRange(0, 60).Draw(r, "apart"))
		} else {
			array := rapid.SampledFrom([]string{"", "", " array=1-3", " array=1-4 most=1"}).Draw(r, "array")
			w.submit(w.drawAsk(r).request() + array)
		}
		w.begin()
		w.wait(rapid.IntRange(1, 20).Draw(r, "seconds"))
		for j := range w.store.View().Running() {
			if j.Lasts(j.Started, j.Started) <= w.now {
				w.must(&command.DeleteJob{Job: j.ID, Force: true})
			}
		}
	}
	w.begin()
	for j := range w.store.View().Running() {
		switch rapid.IntRange(0, 7).Draw(r, "change") {
		case 0:
			w.attempt(&command.SignalJob{Job: j.ID, Signal: command.Suspend})
			w.obey(j)
		case 1:
			w.attempt(&command.SignalJob{Job: j.ID, Signal: command.AdminSuspend})
			w.obey(j)
		case 2:
			w.attempt(&command.SignalJob{Job: j.ID, Signal: command.Suspend})
			w.obey(j)
			w.wait(rapid.IntRange(1, 9).Draw(r, "suspended"))
			w.attempt(&command.SignalJob{Job: j.ID, Signal: command.Resume})
			w.attempt(&command.SignalJob{Job: j.ID, Signal: command.Resume, Scheduled: true})
			w.obey(j)
		case 3:
			w.attempt(&command.ReleaseNodes{Job: j.ID, Keep: rapid.SampledFrom([]string{"", "1", "select=ncpus=1"}).Draw(r, "keep")})
			if rapid.Bool().Draw(r, "released") {
				w.obey(j)
			}
		}
	}
	if rapid.IntRange(0, 4).Draw(r, "offline") == 0 {
		w.must(&command.ManageVnode{Verb: command.VerbSet, Vnode: "hosta", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "state", Value: "offline"}}}})
	}
	return w
}

// agrees compares what an Outlook says of a job with what the model does.
func (c *clock) agrees(r *rapid.T, id pbs.JobID, a *ask, without string) {
	v := c.store.View()
	j, _ := v.Job(id)
	o := sched.NewOutlook(v, c.now)
	f, ok := o.Earliest(j)
	if without != "" {
		f, ok = o.Without(j, without)
	}
	n := newNaive(v, c.now, id, without)
	got, want := int((f.Start-c.now)/secs(1)), n.earliest(a)
	if !ok || got >= horizon/2 { // what has no end is taken to end after years
		got = -1
	}
	var holds []string
	for _, m := range n.vnodes {
		holds = append(holds, fmt.Sprintf("%s %v (%v): %s", m.name, m.has, m.sound, c.holds(m.name)))
	}
	if got != want {
		r.Fatalf("%q without %q: %d %s, want %d\n%s", a.request(), without, got, f.ExecVnode, want, strings.Join(holds, "\n"))
	}
	if got < 0 {
		return
	}
	if wrong := n.allows(a, f.ExecVnode, got); wrong != "" {
		r.Fatalf("%q without %q: %s at %d: %s\n%s", a.request(), without, f.ExecVnode, got, wrong, strings.Join(holds, "\n"))
	}
}

// What fits now, the earliest time at which something fits for its whole length and where, and what an early end changes are
// what a model says that knows who has what in every second, and tries one after the other.
func TestProperty_OutlookIsTheModels(t *testing.T) { rapid.Check(t, outlookByModel) }

func FuzzOutlook(f *testing.F) { f.Fuzz(rapid.MakeFuzz(outlookByModel)) }

func outlookByModel(r *rapid.T) {
	w := drawWorld(r)
	for range 3 {
		a := w.drawAsk(r)
		id := w.submit(a.request() + rapid.SampledFrom([]string{"", "", " array=1-3"}).Draw(r, "array"))
		ends := []string{"", "99.srv"}
		for j := range w.store.View().Running() {
			ends = append(ends, string(j.ID))
		}
		for resv := range w.store.View().Reservations() {
			ends = append(ends, string(resv.ID))
		}
		w.agrees(r, id, a, "")
		w.agrees(r, id, a, rapid.SampledFrom(ends).Draw(r, "ends"))
		w.must(&command.DeleteJob{Job: id, Force: true})
	}
}
