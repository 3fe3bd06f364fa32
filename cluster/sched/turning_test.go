package sched_test

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// half is a day 22 at 15:00:00 UTC, as T0 of the cases of docs/spec/reservation.md.
const half = pbs.Time(1795359600) * 1e9

// A turning bench is one on which time passes: jobs that have a walltime end with it, events are followed by a cycle, and dispatch turns
// come when they are due. A planner belongs to one leader.
type turning struct {
	*bench
	now     pbs.Time
	planner *sched.Planner
	turn    pbs.Time
	names   map[string]pbs.JobID

	heard   *sched.Loads                           // what hosts say, for other planners; nil: nothing
	planned func(before *state.View, p sched.Plan) // is told what a plan has made of a view; nil: nobody is
}

func newTurning(t rapid.TB) *turning {
	b := newBench(t)
	c := &turning{bench: b, now: half, planner: sched.NewPlanner(), names: map[string]pbs.JobID{}}
	for name, attrs := range map[string]string{
		"normal": "Priority=30", "reservation": "Priority=40 resource_reserve=20", "slots": "Priority=40 slot_reserve=20 backfill=False",
		"slotsbf": "Priority=40 slot_reserve=20", "backfill": "Priority=30",
	} {
		if name == "normal" || name == "reservation" {
			attrs += " backfill=False"
		}
		c.making(pbs.QueueName(name), attrs)
	}
	return c
}

// making makes a queue, or sets attributes of it.
func (c *turning) making(name pbs.QueueName, attrs string) {
	c.t.Helper()
	verb := command.VerbCreate
	changes := []command.AttrChange{
		{Entry: attr.Entry{Name: "queue_type", Value: "Execution"}}, {Entry: attr.Entry{Name: "enabled", Value: "True"}}, {Entry: attr.Entry{Name: "started", Value: "True"}},
	}
	if _, ok := c.store.View().Queue(name); ok {
		verb, changes = command.VerbSet, nil
	}
	for word := range strings.FieldsSeq(attrs) {
		n, v, _ := strings.Cut(word, "=")
		n, resource, _ := strings.Cut(n, ".")
		changes = append(changes, command.AttrChange{Entry: attr.Entry{Name: n, Resource: resource, Value: v}})
	}
	c.at(0, &command.ManageQueue{Verb: verb, Queue: name, Changes: changes})
}

// commit commits commands now.
func (c *turning) commit(commands ...command.Command) command.Outcome {
	c.t.Helper()
	run := func(at pbs.Time, commands ...command.Command) command.Outcome {
		c.index++
		out, _ := command.Run(c.store, c.index, 1, command.Entry{Time: at, Proposals: []command.Proposal{{Asker: pbs.User{Name: "root", Host: "hosta"}, Commands: commands}}})
		return out[0]
	}
	for at := c.store.View().Now(); at+pbs.Time(time.Hour) < c.now; { // no entry is later than that
		at += pbs.Time(time.Hour)
		run(at, &command.TimeTick{})
		c.store.Publish()
	}
	out := run(c.now, commands...)
	if err := c.store.Publish().Check(); err != nil {
		c.t.Fatal(err)
	}
	return out
}

// cycle plans, and what was planned happens.
func (c *turning) cycle() {
	c.t.Helper()
	for range 10 {
		v := c.store.View()
		p := c.planner.Plan(v, c.now)
		for _, s := range p.Starts {
			if out := c.commit(s.Command(v)); out.Refusal != nil {
				c.t.Fatalf("start %s: %v", s.Job, out.Refusal)
			}
			c.begin(s.Job)
		}
		for _, id := range p.Resumes {
			if out := c.commit(sched.Resumption(c.store.View(), id)); out.Refusal != nil {
				c.t.Fatalf("resume %s: %v", id, out.Refusal)
			}
		}
		if p.Pending != nil {
			c.commit(p.Pending)
		}
		set := &command.SetWaits{}
		for _, w := range p.Comments {
			set.Add(command.JobWait{Job: w.Job, Start: w.Start, ExecVnode: w.ExecVnode, Top: w.Top, Forget: w.Forget}, w.Why)
		}
		c.commit(set)
		if c.planned != nil {
			c.planned(v, p)
		}
		if c.turn = p.Turn; len(p.Starts)+len(p.Resumes) == 0 && (p.Turn == 0 || p.Turn > c.now) {
			return
		}
	}
	c.t.Fatal("the scheduler does not come to rest")
}

// until lets time pass until so long after T0.
func (c *turning) until(after time.Duration) {
	c.t.Helper()
	end := half + pbs.Time(after)
	for {
		next := end + 1
		var over *state.Job
		for j := range c.store.View().Jobs() {
			if w, ok := j.Resources.Get("walltime"); ok && j.State == pbs.Running && !j.Suspended() {
				var h, m, s int
				_, _ = fmt.Sscanf(w, "%d:%d:%d", &h, &m, &s)
				if at := j.Started + pbs.Time(time.Duration(h*3600+m*60+s)*time.Second) + j.LastRun().Stopped(c.now); at < next {
					next, over = at, j
				}
			}
		}
		if c.turn != 0 && c.turn < next {
			next, over = c.turn, nil
		}
		if next > end {
			break
		}
		c.now = max(c.now, next)
		if over != nil {
			c.kill(over.ID)
			continue
		}
		c.commit(&command.TimeTick{})
		c.cycle()
	}
	c.now = end
	c.commit(&command.TimeTick{})
}

// kill ends a job, which a cycle follows.
func (c *turning) kill(id pbs.JobID) {
	c.t.Helper()
	c.end(id)
	c.cycle()
}

func (c *turning) end(id pbs.JobID) {
	c.t.Helper()
	j, _ := c.store.View().Job(id)
	host := j.LastRun().MS
	h, _ := c.store.View().Host(host)
	if out := c.commit(&command.JobEnded{Source: command.Source{Host: host, Spool: "s", Seq: h.Acked + 1}, Job: id, RunCount: j.RunCount}); out.Refusal != nil {
		c.t.Fatal(out.Refusal)
	}
}

// job submits a job of u1 by a name: a queue, and resources as in -l, and attributes of LSF.
func (c *turning) job(name string, queue pbs.QueueName, request string) {
	c.t.Helper()
	c.jobOf("u1", name, queue, request)
}

func (c *turning) jobOf(user, name string, queue pbs.QueueName, request string) {
	c.t.Helper()
	c.submit(user, name, queue, request)
	c.cycle()
}

// submit submits a job that the next cycle looks at.
func (c *turning) submit(user, name string, queue pbs.QueueName, request string) {
	c.t.Helper()
	list := attr.List{}
	for word := range strings.FieldsSeq(request) {
		n, v, _ := strings.Cut(word, "=")
		if strings.HasPrefix(n, "lsf_") {
			list = list.Set(n, "", v)
			continue
		}
		list = list.Set("Resource_List", n, v)
	}
	out := c.commit(&command.SubmitJob{Owner: pbs.User{Name: user, Host: "hosta"}, Queue: queue, Attributes: list})
	if out.Refusal != nil {
		c.t.Fatalf("submit %s: %v", request, out.Refusal)
	}
	c.names[name] = out.Result.Job
}

// shows tells of a job where it runs, or else what it keeps and when it is to start, and where.
func (c *turning) shows(name string) string {
	j, ok := c.store.View().Job(c.names[name])
	switch {
	case !ok, j.State == pbs.Finished:
		return "over"
	case j.State == pbs.Running:
		return "runs " + j.LastRun().ExecVnode.String()
	}
	text := "nothing"
	if j.Pending != nil && len(j.Pending.Held) > 0 {
		text = ""
		for _, k := range j.Pending.Held {
			text += fmt.Sprintf("%d/%d*%s ", k.Slots, k.Mem/1024, k.Vnode)
		}
	}
	text = strings.TrimSpace(text)
	if at := j.EstimatedStart(); at != 0 {
		where, _ := j.Attrs.Get("estimated", "exec_vnode")
		text = strings.TrimSpace(text + ", " + time.Unix(at.Unix(), 0).UTC().Format("02 15:04:05") + " " + where)
	}
	return text
}

func (c *turning) want(what string, wants ...string) {
	c.t.Helper()
	for _, w := range wants {
		name, want, _ := strings.Cut(w, ": ")
		if got := c.shows(name); got != want {
			c.t.Errorf("%s, %s: %q, want %q", what, name, got, want)
		}
	}
}

func passed(n int) time.Duration { return time.Duration(n) * time.Second }
