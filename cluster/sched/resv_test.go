package sched_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// clock is a bench whose time goes on.
type clock struct {
	*bench
	now pbs.Time
}

func newClock(t testing.TB) *clock {
	b := newBench(t)
	return &clock{b, start}
}

func (c *clock) attempt(commands ...command.Command) command.Outcome {
	c.t.Helper()
	c.index++
	out, _ := command.Run(c.store, c.index, 1, command.Entry{
		Time: c.now, Proposals: []command.Proposal{{Asker: pbs.User{Name: "ann", Host: "hosta"}, Commands: commands}},
	})
	if err := c.store.Publish().Check(); err != nil {
		c.t.Fatal(err)
	}
	return out[0]
}

func (c *clock) must(commands ...command.Command) command.Outcome {
	c.t.Helper()
	out := c.attempt(commands...)
	if out.Refusal != nil {
		c.t.Fatalf("%T refused: %v", commands[0], out.Refusal)
	}
	return out
}

// wait lets time go by.
func (c *clock) wait(seconds int) {
	c.t.Helper()
	c.now += secs(seconds)
	c.must(&command.TimeTick{})
}

func secs(n int) pbs.Time { return pbs.Time(n) * pbs.Time(time.Second) }

// reserve asks for a reservation that begins so many seconds from now, once for each of the times.
func (c *clock) reserve(request string, long int, at ...int) pbs.ReservationID {
	c.t.Helper()
	r := &command.Reserve{Owner: pbs.User{Name: "ann", Host: "hosta"}, Length: secs(long)}
	for word := range strings.FieldsSeq(request) {
		name, value, _ := strings.Cut(word, "=")
		r.Attributes = r.Attributes.Set("Resource_List", name, value)
	}
	for _, s := range at {
		r.Starts = append(r.Starts, c.now+secs(s))
	}
	if len(at) > 1 {
		r.Rule, r.Zone = fmt.Sprintf("FREQ=DAILY;COUNT=%d", len(at)), "UTC"
	}
	return c.must(r).Result.Reservation
}

// decided plans, commits what was decided, and returns the plan.
func (c *clock) decided() sched.Plan {
	c.t.Helper()
	p := sched.Make(c.store.View(), c.now)
	for _, d := range p.Decisions {
		c.must(d)
	}
	return p
}

// given returns what a reservation has, or "gone".
func (c *clock) given(id pbs.ReservationID) string {
	r, ok := c.store.View().Reservation(id)
	if !ok {
		return "gone"
	}
	var all []string
	for _, o := range r.Occurrences {
		all = append(all, o.Nodes.String())
	}
	return r.State.Short() + " " + strings.Join(all, " ")
}

// why returns the reasons of a plan's denials.
func why(p sched.Plan) string {
	var all []string
	for _, d := range p.Decisions {
		all = append(all, d.Why)
	}
	return strings.Join(all, "|")
}

func (c *clock) three() *clock {
	for _, h := range []string{"hosta", "hostb", "hostc"} {
		c.host(h, h+":ncpus=8,mem=8gb")
	}
	return c
}

// in submits to a queue.
func (c *clock) in(queue pbs.QueueName, request string) pbs.JobID {
	c.t.Helper()
	list := attr.List{}
	for word := range strings.FieldsSeq(request) {
		name, value, _ := strings.Cut(word, "=")
		list = list.Set("Resource_List", name, value)
	}
	return c.must(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: queue, Attributes: list}).Result.Job
}

// start plans, and commits decisions and starts.
func (c *clock) begin() sched.Plan {
	c.t.Helper()
	p := c.decided()
	for _, s := range p.Starts {
		c.must(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode})
		h, _ := c.store.View().Host(c.hostOf(s.Job))
		j, _ := c.store.View().Job(s.Job)
		c.must(&command.JobStarted{Source: command.Source{Host: h.Name, Spool: "s", Seq: h.Acked + 1}, Job: s.Job, RunCount: j.RunCount, Session: 7})
	}
	c.tell(p)
	return p
}

// offline takes a vnode out of use.
func (c *clock) offline(vnode pbs.VnodeName) {
	c.t.Helper()
	c.must(&command.ManageVnode{Verb: command.VerbSet, Vnode: vnode, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "state", Value: "offline"}}}})
}

// A reservation is decided against runs, other reservations and the state of vnodes (RV-35 to RV-41).
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name  string
		jobs  string // that run already, by semicolons
		asked []string
		want  string
		why   string
	}{
		{"the first host", "", []string{"600 60 select=1:ncpus=2"}, "CO (hosta:ncpus=2)", ""},
		{"chunks share a vnode", "", []string{"600 60 select=2:ncpus=4"}, "CO (hosta:ncpus=4)+(hosta:ncpus=4)", ""},
		{"scatter", "", []string{"600 60 select=2:ncpus=4:mem=10mb place=scatter"}, "CO (hosta:ncpus=4:mem=10240kb)+(hostb:ncpus=4:mem=10240kb)", ""},
		{"no host has it", "", []string{"600 60 select=1:ncpus=64"}, "gone", "Insufficient amount of resource: ncpus "},
		{"all have too little", "", []string{"600 60 select=1:ncpus=10"}, "gone", "Insufficient amount of resource: ncpus "},
		{"pack", "", []string{"600 60 select=2:ncpus=5 place=pack"}, "gone", "No available resources on nodes"},
		{"a run that is over by then", "select=1:ncpus=8:host=hosta walltime=600", []string{"600 60 select=1:ncpus=8:host=hosta"}, "CO (hosta:ncpus=8)", ""},
		{"a run that lasts", "select=1:ncpus=8:host=hosta walltime=601", []string{"600 60 select=1:ncpus=8:host=hosta"}, "gone", "Insufficient amount of resource: host "},
		{"a run without an end", "select=1:ncpus=8:host=hosta", []string{"315360000 60 select=1:ncpus=8:host=hosta"}, "gone", "Insufficient amount of resource: host "},
		{"another one", "", []string{"600 60 select=1:ncpus=8:host=hosta", "630 60 select=1:ncpus=1:host=hosta"}, "CO (hosta:ncpus=8) gone", "|Insufficient amount of resource: host "},
		{"one after the other", "", []string{"600 60 select=1:ncpus=8:host=hosta", "660 60 select=1:ncpus=8:host=hosta", "540 60 select=1:ncpus=8:host=hosta"}, "CO (hosta:ncpus=8) CO (hosta:ncpus=8) CO (hosta:ncpus=8)", "||"},
		{"what does not fit stops no other", "", []string{"600 60 select=3:ncpus=6 place=scatter", "600 60 select=3:ncpus=6 place=scatter", "600 60 select=1:ncpus=2"}, "CO (hosta:ncpus=6)+(hostb:ncpus=6)+(hostc:ncpus=6) gone CO (hosta:ncpus=2)", "|No available resources on nodes|"},
		{"an exclusive one", "", []string{"600 60 select=1:ncpus=1:host=hosta place=excl", "600 60 select=1:ncpus=1:host=hosta", "600 60 select=1:ncpus=1"}, "CO (hosta:ncpus=1) gone CO (hostb:ncpus=1)", "|Insufficient amount of resource: host |"},
		{"no exclusive one beside others", "", []string{"600 60 select=3:ncpus=1 place=scatter", "600 60 select=1:ncpus=1 place=excl"}, "CO (hosta:ncpus=1)+(hostb:ncpus=1)+(hostc:ncpus=1) gone", "|Reservation is requesting an exclusive node and node is in use"},
		{"nor beside a run", "select=3:ncpus=1 place=scatter", []string{"600 60 select=1:ncpus=1 place=exclhost"}, "gone", "Reservation is requesting an exclusive node and node is in use"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newClock(t).three()
			for request := range strings.SplitSeq(c.jobs, ";") {
				if request != "" {
					b.in("", request)
				}
			}
			b.begin()
			b.in("", "select=3:ncpus=8 place=scatter walltime=1:00:00") // what waits does not stand in the way
			var ids []pbs.ReservationID
			for _, text := range c.asked {
				var at, long int
				var request string
				_, _ = fmt.Sscanf(text, "%d %d", &at, &long)
				request = strings.Join(strings.Fields(text)[2:], " ")
				ids = append(ids, b.reserve(request, long, at))
			}
			p := b.decided()
			var got []string
			for _, id := range ids {
				got = append(got, b.given(id))
			}
			if strings.Join(got, " ") != c.want || why(p) != c.why {
				t.Errorf("%q because %q, want %q because %q", got, why(p), c.want, c.why)
			}
			if p := b.decided(); len(p.Decisions) > 0 {
				t.Errorf("decided again: %v", p.Decisions)
			}
		})
	}
}

// Vnodes that are lost, or not for reservations, are left out (RV-39).
func TestDecide_Unusable(t *testing.T) {
	b := newClock(t).three()
	b.offline("hosta")
	b.must(&command.ManageVnode{Verb: command.VerbSet, Vnode: "hostb", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "resv_enable", Value: "False"}}}})
	first, second, third := b.reserve("select=1:ncpus=1", 60, 600), b.reserve("select=2:ncpus=8", 60, 600), b.reserve("select=1:ncpus=8:host=hosta", 60, 600)
	p := b.decided()
	got := []string{b.given(first), b.given(second), b.given(third), why(p)}
	want := []string{"CO (hostc:ncpus=1)", "gone", "gone", "|No available resources on nodes|Insufficient amount of resource: host "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	alone := b.reserve("select=1:ncpus=8:host=hostb", 60, 600)
	if p := b.decided(); why(p) != "Node not eligible for advance reservation" || b.given(alone) != "gone" {
		t.Errorf("denied because %q", why(p))
	}
}

// All occurrences are confirmed, or none (RV-62).
func TestDecide_Standing(t *testing.T) {
	b := newClock(t).three()
	day := 24 * 3600
	standing := b.reserve("select=1:ncpus=8", 600, 600, 600+day, 600+2*day)
	b.reserve("select=2:ncpus=8", 60, 660+day)
	full := b.reserve("select=1:ncpus=1", 60, 660, 660+day)
	p := b.decided()
	if got, want := b.given(standing), "CO (hosta:ncpus=8) (hosta:ncpus=8) (hosta:ncpus=8)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := b.given(full); got != "gone" || p.Decisions[2].Why != "No available resources on nodes" {
		t.Errorf("%s because %q", got, p.Decisions[2].Why)
	}
	var log []string
	for _, line := range p.Lines {
		if line.Class == "Resv" && line.Object == string(standing) {
			log = append(log, fmt.Sprintf("%04x %s", line.Event, line.Text))
		}
	}
	want := []string{
		"0200 Confirming 3 Occurrences", "0100 Occurrence 1/3,20261121-06:35:37", "0100 Occurrence 2/3,20261122-06:35:37", "0100 Occurrence 3/3,20261123-06:35:37",
	}
	if !slices.Equal(log, want) {
		t.Errorf("logged %q, want %q", log, want)
	}
}

// Nothing is decided while there is no scheduling.
func TestDecide_NoScheduling(t *testing.T) {
	b := newClock(t).three()
	b.reserve("select=1:ncpus=1", 60, 600)
	b.must(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "scheduling", Value: "False"}}}})
	if p := b.decided(); len(p.Decisions) > 0 {
		t.Errorf("decided %v", p.Decisions)
	}
}

// A reservation for a queued job begins as soon as that fits for its whole length (RV-67).
func TestDecide_AsSoonAsPossible(t *testing.T) {
	b := newClock(t).three()
	b.in("", "select=3:ncpus=8 place=scatter walltime=60")
	b.begin()
	b.reserve("select=1:ncpus=1:host=hostb", 100, 80)
	b.decided()
	short := b.in("", "select=3:ncpus=8 place=scatter walltime=20")
	long := b.in("", "select=3:ncpus=8 place=scatter walltime=30")
	var got []string
	for _, j := range []pbs.JobID{short, long} {
		id := b.must(&command.Reserve{Owner: pbs.User{Name: "ann", Host: "hosta"}, QMove: j}).Result.Reservation
		p := sched.Make(b.store.View(), b.now)
		for _, d := range p.Decisions {
			got = append(got, fmt.Sprint(time.Duration(d.Start-b.now), d.Nodes, d.Why))
			b.must(d)
		}
		if len(p.Decisions) != 1 || p.Decisions[0].Reservation != id {
			t.Errorf("decided %v", p.Decisions)
		}
	}
	want := []string{"1m0s [(hosta:ncpus=8)+(hostb:ncpus=8)+(hostc:ncpus=8)]", "3m0s [(hosta:ncpus=8)+(hostb:ncpus=8)+(hostc:ncpus=8)]"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
