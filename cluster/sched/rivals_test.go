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
)

// rivals are jobs that preempt each other on a bench whose moms do at once what they are told.
type rivals struct {
	*bench
	t     rapid.TB
	moves []string // that the scheduler has made
}

// cycle does what one cycle plans, as the loop does, and reports whether it planned anything. A run that was suspended for
// a job must not go on before that has started: nobody but the scheduler changes anything.
func (r *rivals) cycle() {
	p := r.plan()
	for _, x := range p.Preempts {
		if out := r.try(&command.PreemptJob{Job: x.Job, RunCount: x.RunCount, Method: x.Method, For: x.For}); out.Refusal != nil {
			r.t.Fatalf("the preemption of %s was planned, and is refused: %v", x.Job, out.Refusal)
		}
		r.moves = append(r.moves, fmt.Sprintf("%s %s for %s", x.Method, x.Job, x.For))
	}
	for _, s := range p.Starts {
		if out := r.try(&command.StartJob{Job: s.Job, Select: s.Select, ExecVnode: s.ExecVnode, WithinLimits: true}); out.Refusal == nil {
			r.begin(s.Job)
			r.moves = append(r.moves, "start "+string(s.Job)+" on "+s.ExecVnode)
		}
	}
	for _, id := range p.Resumes {
		j, _ := r.store.View().Job(id)
		if out := r.try(&command.SignalJob{Job: id, Signal: command.Resume, Scheduled: true}); out.Refusal != nil {
			r.t.Fatalf("the resumption of %s was planned, and is refused: %v", id, out.Refusal)
		}
		if way := r.store.View().WaysOf(j); len(way) > 0 {
			r.t.Fatalf("%s is resumed, and was suspended for %v in vain\n%s", id, way, r.picture())
		}
		r.moves = append(r.moves, "resume "+string(id))
		r.obey(id)
	}
	for _, x := range p.Preempts {
		r.leave(x)
	}
}

// leave has the mom of a preempted job do what it was told.
func (r *rivals) leave(x sched.Preempt) {
	if x.Method == command.PreemptSuspend || x.Method == command.PreemptCheckpoint {
		r.obey(x.Job)
	}
	if x.Method == command.PreemptSuspend {
		return
	}
	h, _ := r.store.View().Host(r.hostOf(x.Job))
	r.do(&command.JobEnded{Source: command.Source{Host: h.Name, Spool: "s", Seq: h.Acked + 1}, Job: x.Job, RunCount: x.RunCount, ExitStatus: 271, Checkpointed: x.Method == command.PreemptCheckpoint})
}

// obey has the mother superior of a job do what it was ordered about that.
func (r *rivals) obey(id pbs.JobID) {
	host := r.hostOf(id)
	for o := range r.store.View().Orders(host) {
		if o.Job == id {
			r.do(&command.OrderConfirmed{Host: host, Order: o.ID})
		}
	}
}

// settle goes on until there is nothing more to do, which must come.
func (r *rivals) settle() {
	for range 60 {
		before := len(r.moves)
		if r.cycle(); len(r.moves) == before {
			r.nobodyInVain()
			return
		}
	}
	r.t.Fatalf("it goes on and on:\n%s", r.picture())
}

// nobodyInVain fails if a job is suspended for one that waits all the same.
func (r *rivals) nobodyInVain() {
	v := r.store.View()
	for j := range v.Suspensions() {
		if ways := v.WaysOf(j); len(ways) > 0 {
			r.t.Fatalf("%s is suspended for %v, which wait\n%s", j.ID, ways, r.picture())
		}
	}
}

func (r *rivals) picture() string {
	var b strings.Builder
	for j := range r.store.View().Jobs() {
		sel, _ := j.Resources.Get("select")
		place, _ := j.Resources.Get("place")
		fmt.Fprintf(&b, "%s of %s in %s: %s %d %s %s %s %q\n", j.ID, j.Owner.Name, j.Queue, j.Letter(), j.RunCount, sel, place, j.LastRun().ExecVnode.String(), j.CommentText())
	}
	for v := range r.store.View().Vnodes() {
		fmt.Fprintf(&b, "%s %s: %v of %v\n", v.Name, v.SharingText(), v.Assigned, v.Available())
	}
	return b.String() + strings.Join(r.moves[max(0, len(r.moves)-12):], "\n")
}

// letters returns the states of all jobs in the order of their submission.
func (r *rivals) letters() string {
	var b strings.Builder
	for j := range r.store.View().Jobs() {
		b.WriteString(j.Letter())
	}
	return b.String()
}

func (r *rivals) serverSet(name, res, value string) {
	r.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: name, Resource: res, Value: value}}}})
}

// submit submits a job of a user: the queue, place, and the select.
func (r *rivals) asks(user, queue, place, request string) pbs.JobID {
	list := attr.List(nil).Set("Resource_List", "select", request).Set("Resource_List", "walltime", "100")
	if place != "" {
		list = list.Set("Resource_List", "place", place)
	}
	out := r.try(&command.SubmitJob{Owner: pbs.User{Name: user, Host: "hosta"}, Queue: pbs.QueueName(queue), Attributes: list})
	if out.Refusal != nil {
		r.t.Fatalf("submit %s: %v", request, out.Refusal)
	}
	return out.Result.Job
}

// Who is preempted makes way once, and who it makes way for runs then.
func TestPreempt_OnceAndForGood(t *testing.T) {
	for _, c := range []struct{ name, vnode, set, low, high, want string }{
		{"an exclusive job for one that shares", "ncpus=2,mem=2gb", "", "ann workq free 1:ncpus=1", "bob express excl 1:ncpus=1", "SR"},
		{"one that shares, of an exclusive one that keeps its cpus", "ncpus=2,mem=2gb", "restrict_res_to_release_on_suspend=mem", "ann workq excl 1:ncpus=1", "bob express free 1:ncpus=1", "SR"},
		{"which has too few of them", "ncpus=2,mem=2gb", "restrict_res_to_release_on_suspend=mem", "ann workq excl 1:ncpus=1", "bob express free 1:ncpus=2", "QR"},
		{"who is over a soft limit", "ncpus=4,mem=2gb", "server_softlimits max_run_soft=[u:ann=0]", "ann workq free 1:ncpus=2;bob workq free 1:ncpus=2", "bob workq free 1:ncpus=2", "SRR"},
		{"or over one of a resource", "ncpus=4,mem=2gb", "server_softlimits max_run_res_soft.ncpus=[u:ann=0]", "ann workq free 1:ncpus=2;bob workq free 1:ncpus=2", "bob workq free 1:ncpus=2", "SRR"},
		{"two who are over it only together", "ncpus=2,mem=2gb", "server_softlimits max_run_soft=[u:ann=1]", "ann workq free 1:ncpus=1;ann workq free 1:ncpus=1", "bob workq free 1:ncpus=2", "RRQ"},
		{"one of whom is enough", "ncpus=2,mem=2gb", "server_softlimits max_run_soft=[u:ann=1]", "ann workq free 1:ncpus=1;ann workq free 1:ncpus=1", "bob workq free 1:ncpus=1", "RSR"},
		{"on a vnode that is for one job", "ncpus=2,mem=2gb,sharing=force_excl", "", "ann workq free 1:ncpus=1", "bob express free 1:ncpus=1", "SR"},
		{"on a host that is for one job", "ncpus=2,mem=2gb,sharing=force_exclhost", "", "ann workq free 1:ncpus=1", "bob express free 1:ncpus=1", "SR"},
		{"on one that is by default", "ncpus=2,mem=2gb,sharing=default_exclhost", "", "ann workq free 1:ncpus=1", "bob express free 1:ncpus=1", "SR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &rivals{bench: newBench(t), t: t}
			r.host("hosta", "hosta:"+c.vnode)
			r.queue("express", "200")
			r.set(c.set)
			for _, job := range append(strings.Split(c.low, ";"), c.high) {
				words := strings.Fields(job)
				r.asks(words[0], words[1], words[2], words[3])
				r.settle()
			}
			if got := r.letters(); got != c.want {
				t.Errorf("the jobs are %s, want %s\n%s", got, c.want, r.picture())
			}
		})
	}
}

// Who others made way for starts before suspended jobs go on that would take its place, and before those that are promoted.
func TestPreempt_WhoOthersMadeWayForComesFirst(t *testing.T) {
	t.Run("a suspended job", func(t *testing.T) {
		r := &rivals{bench: newBench(t), t: t}
		r.host("hosta", "hosta[0]:ncpus=1", "hosta[1]:ncpus=1")
		r.queue("express", "200")
		r.queue("middle", "160")
		r.asks("ann", "middle", "pack:exclhost", "1:ncpus=0")
		r.settle()
		urgent := r.asks("ann", "express", "", "1:ncpus=0")
		r.settle()
		r.asks("ann", "workq", "", "1:ncpus=0")
		r.settle()
		r.do(&command.DeleteJob{Job: urgent, Force: true})
		r.settle()
		r.asks("ann", "middle", "pack:exclhost", "1:ncpus=2")
		r.settle()
		if got, want := r.letters(), "SSR"; got != want {
			t.Errorf("the jobs are %s, want %s\n%s", got, want, r.picture())
		}
	})
	t.Run("a job within its soft limit again", func(t *testing.T) {
		r := &rivals{bench: newBench(t), t: t}
		r.host("hosta", "hosta:ncpus=2")
		r.set("server_softlimits max_run_res_soft.ncpus=[u:PBS_GENERIC=1]")
		r.asks("ann", "workq", "excl", "1:ncpus=2")
		r.settle()
		r.asks("ann", "workq", "excl", "1:ncpus=1")
		r.settle()
		r.asks("bob", "workq", "excl", "1:ncpus=1")
		r.settle()
		if got, want := r.letters(), "SQR"; got != want {
			t.Errorf("the jobs are %s, want %s\n%s", got, want, r.picture())
		}
	})
}

// An array gets before all others what was made for it, and no more.
func TestPreempt_ArrayTakesWhatWasMadeForIt(t *testing.T) {
	r := &rivals{bench: newBench(t), t: t}
	r.host("hosta", "hosta:ncpus=4")
	r.queue("express", "200")
	r.queue("middle", "160")
	r.asks("ann", "workq", "", "1:ncpus=2")
	gone := r.asks("ann", "workq", "", "1:ncpus=2")
	r.settle()
	out := r.try(&command.SubmitJob{Owner: pbs.User{Name: "bob", Host: "hosta"}, Queue: "middle", Attributes: attr.List(nil).
		Set("array_indices_submitted", "", "1-4").Set("Resource_List", "select", "1:ncpus=2")})
	if out.Refusal != nil {
		t.Fatal(out.Refusal)
	}
	if r.cycle(); len(r.moves) != 3 {
		t.Fatalf("nobody makes way: %s", r.picture())
	}
	for j := range r.store.View().Suspensions() {
		if j.ID == gone {
			gone = "0.srv"
		}
	}
	r.do(&command.DeleteJob{Job: gone, Force: true})
	r.asks("ann", "express", "", "1:ncpus=2")
	r.settle()
	if got := r.letters(); strings.Count(got, "R") != 2 || !strings.HasSuffix(got, "R") {
		t.Errorf("the jobs are %s: one subjob and the last job are to run\n%s", got, r.picture())
	}
}

// set sets an attribute of the server, NAME=VALUE or NAME.RESOURCE=VALUE, and the preempt_prio of soft limits.
func (r *rivals) set(text string) {
	if rest, ok := strings.CutPrefix(text, "server_softlimits "); ok {
		r.scheduler("preempt_prio=express_queue, normal_jobs, server_softlimits")
		text = rest
	}
	if name, value, ok := strings.Cut(text, "="); ok {
		name, res, _ := strings.Cut(name, ".")
		r.serverSet(name, res, value)
	}
}

// Whatever jobs come and go, and whatever they have for themselves or give back: the scheduler comes to rest, and suspends nobody
// in vain.
func TestPreempt_ComesToRest(t *testing.T) {
	suspended := 0
	play := func(rt *rapid.T) {
		r := &rivals{bench: newBench(t), t: rt}
		r.queue("express", "200")
		r.queue("middle", "160")
		for h := range rapid.IntRange(1, 2).Draw(rt, "hosts") {
			var vnodes []string
			for n := range rapid.IntRange(1, 2).Draw(rt, "vnodes") {
				vnodes = append(vnodes, fmt.Sprintf("h%d[%d]:ncpus=%d,mem=400mb,sharing=%s", h, n, rapid.IntRange(1, 4).Draw(rt, "ncpus"),
					rapid.SampledFrom([]string{"default_shared", "default_shared", "default_excl", "default_exclhost", "force_excl", "force_exclhost", "ignore_excl"}).Draw(rt, "sharing")))
			}
			r.host(fmt.Sprintf("h%d", h), vnodes...)
		}
		r.set(rapid.SampledFrom([]string{
			"", "restrict_res_to_release_on_suspend=mem", "restrict_res_to_release_on_suspend=ncpus", "restrict_res_to_release_on_suspend=ncpus,mem",
			"server_softlimits max_run_soft=[u:ann=0]", "server_softlimits max_run_soft=[u:PBS_GENERIC=1]", "server_softlimits max_run_res_soft.ncpus=[u:PBS_GENERIC=2]",
			"max_run=[u:PBS_GENERIC=2]",
		}).Draw(rt, "set"))
		if order := rapid.SampledFrom([]string{"SCR", "S", "SR", "R"}).Draw(rt, "order"); order != "SCR" {
			r.scheduler("preempt_order=" + order)
		}
		if rapid.IntRange(0, 3).Draw(rt, "strict") == 0 {
			r.scheduler("strict_ordering=True")
		}
		for range rapid.IntRange(3, 12).Draw(rt, "steps") {
			jobs := slices.Collect(r.store.View().Jobs())
			if len(jobs) > 0 && rapid.IntRange(0, 4).Draw(rt, "end") == 0 {
				r.try(&command.DeleteJob{Job: rapid.SampledFrom(jobs).Draw(rt, "gone").ID, Force: true})
			} else {
				r.asks(rapid.SampledFrom([]string{"ann", "bob"}).Draw(rt, "user"), rapid.SampledFrom([]string{"workq", "workq", "middle", "express"}).Draw(rt, "queue"),
					rapid.SampledFrom([]string{"", "free", "excl", "pack:exclhost", "scatter", "shared", "vscatter:excl"}).Draw(rt, "place"),
					fmt.Sprintf("%d:ncpus=%d%s", rapid.IntRange(1, 2).Draw(rt, "count"), rapid.IntRange(0, 3).Draw(rt, "cpus"),
						rapid.SampledFrom([]string{"", ":mem=100mb", ":mem=300mb"}).Draw(rt, "mem")))
			}
			r.settle()
			for j := range r.store.View().Jobs() {
				if j.Substate == pbs.SubSchedSuspended {
					suspended++
				}
			}
		}
	}
	for range 3 { // among few draws there may be none, by chance
		if rapid.Check(t, play); suspended > 0 {
			return
		}
	}
	t.Error("nobody was suspended")
}
