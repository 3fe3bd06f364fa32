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
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// ways is a clock on whose bench jobs make way for others, are suspended, go on, and give vnodes back.
type ways struct {
	*clock
	keeps string // restrict_res_to_release_on_suspend
}

// Whatever is preempted, suspended and given back: what is planned Apply takes, each as it comes, and nothing is promised twice (L15). A
// planner that knows what was before plans the same.
func TestProperty_WhoMakesWayKeepsPromises(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := &ways{clock: &clock{newBench(r), start}}
		for i := range rapid.IntRange(1, 3).Draw(r, "hosts") {
			name := fmt.Sprintf("host%c", 'a'+i)
			offer := func(vnode string) string {
				sharing := rapid.SampledFrom([]string{"default_shared", "default_shared", "default_shared", "default_excl", "default_exclhost", "force_excl", "ignore_excl"}).Draw(r, "sharing")
				return fmt.Sprintf("%s:ncpus=%d,mem=%dgb,sharing=%s", vnode, rapid.IntRange(1, 6).Draw(r, "ncpus"), rapid.IntRange(1, 6).Draw(r, "mem"), sharing)
			}
			vnodes := []string{offer(name)}
			if i == 0 {
				vnodes = append(vnodes, offer(name+"[0]"))
			}
			w.host(name, vnodes...)
		}
		w.queue("express", "200")
		w.queue("middle", "160")
		if w.keeps = rapid.SampledFrom([]string{"", "", "ncpus", "mem", "ncpus,mem"}).Draw(r, "restrict"); w.keeps != "" {
			w.limit("restrict_res_to_release_on_suspend=" + w.keeps)
		}
		w.limit(rapid.SampledFrom([]string{"max_run=[u:PBS_GENERIC=9]", "max_run=[u:PBS_GENERIC=2]", "max_run_res.ncpus=[o:PBS_ALL=4]", "max_run_soft=[u:PBS_GENERIC=1]"}).Draw(r, "limit"))
		if order := rapid.SampledFrom([]string{"SCR", "S", "SR", "R", "D"}).Draw(r, "order"); order != "SCR" {
			w.scheduler("preempt_order=" + order)
		}
		if rapid.Bool().Draw(r, "strict") {
			w.scheduler("strict_ordering=True")
			w.limit("backfill_depth=3")
		}
		kept := sched.NewPlanner()
		r.Repeat(map[string]func(*rapid.T){
			"reserve": w.drawReservation,
			"submit":  w.drawRival,
			"inside":  w.drawJob,
			"time":    func(r *rapid.T) { w.passes(rapid.IntRange(1, 60).Draw(r, "seconds")) },
			"signal":  w.drawSignal,
			"release": w.drawRelease,
			"obey":    func(r *rapid.T) { w.obey(r) },
			"":        func(r *rapid.T) { w.carries(r, kept) },
		})
	})
}

// passes lets time go by, and runs end that have had theirs.
func (w *ways) passes(seconds int) {
	w.wait(seconds)
	for j := range w.store.View().Running() {
		if !j.Suspended() && j.RunningSince(w.now)+j.Lasts(0, 0) <= w.now {
			w.must(&command.DeleteJob{Job: j.ID, Force: true})
		}
	}
}

// drawRival queues a job that may have others preempted, or make way.
func (w *ways) drawRival(r *rapid.T) {
	request := fmt.Sprintf("select=%d:ncpus=%d%s", rapid.IntRange(1, 3).Draw(r, "chunks"), rapid.IntRange(0, 4).Draw(r, "ncpus"), drawMem(r))
	request += rapid.SampledFrom([]string{"", " place=scatter", " place=free", " place=excl", " place=pack:exclhost"}).Draw(r, "place")
	if long := rapid.IntRange(-20, 100).Draw(r, "walltime"); long > 0 {
		request += fmt.Sprintf(" walltime=%d", long)
	}
	list := attr.List{}
	for word := range strings.FieldsSeq(request) {
		name, value, _ := strings.Cut(word, "=")
		list = list.Set("Resource_List", name, value)
	}
	if rapid.IntRange(0, 5).Draw(r, "array") == 0 {
		list = list.Set("array_indices_submitted", "", "1-3")
	}
	user := rapid.SampledFrom([]string{"ann", "bob"}).Draw(r, "user")
	queue := rapid.SampledFrom([]pbs.QueueName{"workq", "workq", "middle", "express"}).Draw(r, "queue")
	w.attempt(&command.SubmitJob{Owner: pbs.User{Name: user, Host: "hosta"}, Queue: queue, Attributes: list})
}

// some draws a running job, nil if none runs.
func (w *ways) some(r *rapid.T) *state.Job {
	running := slices.Collect(w.store.View().Running())
	if len(running) == 0 {
		return nil
	}
	return rapid.SampledFrom(running).Draw(r, "job")
}

func (w *ways) drawSignal(r *rapid.T) {
	if j := w.some(r); j != nil {
		w.attempt(&command.SignalJob{Job: j.ID, Signal: rapid.SampledFrom([]string{command.Suspend, command.Resume, command.AdminSuspend, command.AdminResume}).Draw(r, "signal")})
	}
}

func (w *ways) drawRelease(r *rapid.T) {
	if j := w.some(r); j != nil {
		w.attempt(&command.ReleaseNodes{Job: j.ID, Keep: rapid.SampledFrom([]string{"", "", "1", "select=ncpus=1"}).Draw(r, "keep")})
	}
}

// obey has moms do what they were told.
func (w *ways) obey(r *rapid.T) {
	var all []*state.Order
	for h := range w.store.View().Hosts() {
		all = slices.AppendSeq(all, w.store.View().Orders(h.Name))
	}
	for _, o := range all {
		if rapid.IntRange(0, 3).Draw(r, "later") == 0 {
			continue
		}
		h, _ := w.store.View().Host(o.Host)
		source := command.Source{Host: o.Host, Spool: "s", Seq: h.Acked + 1}
		switch w.attempt(&command.OrderConfirmed{Host: o.Host, Order: o.ID}); o.Kind {
		case state.OrderRun:
			w.attempt(&command.JobStarted{Source: source, Job: o.Job, RunCount: o.RunCount, Session: 7})
		case state.OrderKill, state.OrderCheckpoint:
			w.attempt(&command.JobEnded{Source: source, Job: o.Job, RunCount: o.RunCount, ExitStatus: 271, Checkpointed: o.Kind == state.OrderCheckpoint})
		}
	}
}

// carries carries out what is planned, in the order of the loop.
func (w *ways) carries(r *rapid.T, kept *sched.Planner) {
	v := w.store.View()
	p := sched.Make(v, w.now)
	if again := kept.Plan(v, w.now); !reflect.DeepEqual(again, p) {
		r.Fatalf("a planner that has seen what was before plans\n%+v\nwant\n%+v", again, p)
	}
	takes := func(what any, c command.Command) {
		if out := w.attempt(c); out.Refusal != nil {
			r.Fatalf("%+v is refused: %v\n%+v\n%s", what, out.Refusal, p, w.picture())
		}
	}
	for _, d := range p.Decisions {
		takes(*d, d)
	}
	for _, x := range p.Preempts {
		takes(x, &command.PreemptJob{Job: x.Job, RunCount: x.RunCount, Method: x.Method, For: x.For})
	}
	for _, s := range p.Starts {
		takes(s, s.Command(v))
	}
	for _, id := range p.Resumes {
		takes(id, sched.Resumption(v, id))
	}
	w.honest(r)
}

func (w *ways) picture() string {
	var b strings.Builder
	v := w.store.View()
	for j := range v.Jobs() {
		sel, _ := j.Resources.Get("select")
		place, _ := j.Resources.Get("place")
		long, _ := j.Resources.Get("walltime")
		fmt.Fprintf(&b, "%s of %s in %s: %s %d/%d %s %s %s since %d %s %q\n", j.ID, j.Owner.Name, j.Queue, j.Letter(), j.Substate, j.RunCount, sel, place, long, (j.Started-w.now)/secs(1), j.LastRun().ExecVnode.String(), j.CommentText())
	}
	for n := range v.Vnodes() {
		fmt.Fprintf(&b, "%s %s: %v of %v: %+v\n", n.Name, n.SharingText(), n.Assigned, n.Available(), n.Jobs)
		for p := range v.PromisesOf(n.Name) {
			fmt.Fprintf(&b, "  %s %s +%d..+%d %v\n", p.Reservation.ID, p.Reservation.State, (p.From-w.now)/secs(1), (p.Until-w.now)/secs(1), p.Items)
		}
	}
	return b.String()
}

// honest looks at every vnode whenever a reservation begins: those that run until then leave it what it is to have. What a suspended run keeps
// it keeps however long, and who was suspended ends later with that.
func (w *ways) honest(r *rapid.T) {
	v := w.store.View()
	for vn := range v.Vnodes() {
		for first := range v.PromisesOf(vn.Name) {
			at := first.From
			if at <= w.now || !first.Reservation.Well() {
				continue
			}
			held, users, alone := map[string]int{}, 0, false
			add := func(list resource.List) {
				for _, it := range list {
					held[it.Name] += amount(list, it.Name)
				}
			}
			for _, run := range vn.Jobs {
				j, _ := v.Job(run.Job)
				items := run.Items
				share, begun := vn.ReservedFor(run.Reservation)
				if begun {
					items = share.Beyond(items)
				}
				if run.Suspended || run.Admin || v.EndsInside(j) <= at {
					continue
				}
				if j.LastRun().StoppedFor > 0 && w.keeps != "" {
					items = slices.DeleteFunc(slices.Clone(items), func(it resource.Item) bool { return !strings.Contains(w.keeps, it.Name) })
				}
				add(items)
				if !begun {
					users, alone = users+1, alone || run.Exclusive
				}
			}
			for p := range v.PromisesOf(vn.Name) {
				if p.From <= at && at < p.Until {
					add(p.Items)
					users, alone = users+1, alone || p.AloneOn(vn)
				}
			}
			for _, name := range []string{"ncpus", "mem"} {
				if most := amount(vn.Available(), name); held[name] > most || alone && users > 1 {
					r.Fatalf("%s holds %d %s of %d for %d users (alone: %v) at +%ds\n%s", vn.Name, held[name], name, most, users, alone, (at-w.now)/secs(1), w.picture())
				}
			}
		}
	}
}
