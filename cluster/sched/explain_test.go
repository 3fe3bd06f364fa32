package sched_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/pbs"
)

// told writes an explanation down, with times in seconds from now.
func (c *clock) told(id pbs.JobID) string {
	c.t.Helper()
	v := c.store.Publish()
	j, ok := v.Named(id)
	if !ok {
		c.t.Fatalf("there is no job %s", id)
	}
	e := sched.Explain(v, j, nil)
	at := func(t pbs.Time) string {
		if t == 0 {
			return "?"
		}
		return fmt.Sprint(int((t - c.now) / pbs.Time(time.Second)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s|", e.Reason)
	if e.Never {
		b.WriteString(" never")
	}
	if e.Start != 0 || e.ExecVnode != "" {
		fmt.Fprintf(&b, " starts %s on %s", at(e.Start), e.ExecVnode)
	}
	if e.Promised {
		b.WriteString(" promised")
	}
	if e.Shut != nil {
		fmt.Fprintf(&b, " shut by %s %s from %s until %s", e.Shut.Kind, e.Shut.By, at(e.Shut.From), at(e.Shut.Until))
	}
	if e.Chunk != "" {
		fmt.Fprintf(&b, "\n%d of %s, room on %v, %d more, %d ineligible", e.Chunks, e.Chunk, e.Room, e.More, e.Ineligible)
	}
	for _, n := range e.Near {
		fmt.Fprintf(&b, "\n%s %s at %s", strings.Join(n.Vnodes, "+"), n.Closed, at(n.At))
		for _, l := range n.Lacks {
			fmt.Fprintf(&b, " %s %s of %s has %s", l.Resource, l.Wants, l.Total, l.Free)
		}
		for _, h := range n.Holds {
			fmt.Fprintf(&b, "; %s %s has %s from %s until %s", h.Kind, h.By, h.What, at(h.From), at(h.Until))
			if h.Without != 0 {
				fmt.Fprintf(&b, ", without it %s", at(h.Without))
			}
		}
	}
	return b.String()
}

// Explain tells what a job lacks, of whom, until when; and what it says at a time comes true then.
func TestExplain(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(c *clock)
		asks string
		want string
	}{
		{"free", func(*clock) {}, "select=1:ncpus=8", "| starts ? on (hosta:ncpus=8)"},
		{
			"runs", func(c *clock) {
				c.in("workq", "select=1:ncpus=6:host=hosta walltime=100")
				c.in("workq", "select=1:ncpus=6:host=hostb walltime=50")
				c.in("workq", "select=1:ncpus=8:host=hostc")
				c.begin()
			}, "select=1:ncpus=4:mem=1gb walltime=10",
			`Insufficient amount of resource: ncpus (R: 4 A: 2 T: 8)| starts 50 on (hostb:ncpus=4:mem=1048576kb)
1 of mem=1048576kb:ncpus=4, room on [], 0 more, 0 ineligible
hostb  at 50 ncpus 4 of 8 has 2; running job 1.srv has ncpus=6 from 0 until 50, without it 0
hosta  at 100 ncpus 4 of 8 has 2; running job 0.srv has ncpus=6 from 0 until 100, without it 0
hostc  at ? ncpus 4 of 8 has 0; running job 2.srv has ncpus=8 from 0 until ?, without it 0`,
		},
		{
			"reservation and offline", func(c *clock) {
				c.reserve("select=1:ncpus=8:host=hosta", 60, 30)
				c.decided()
				c.offline("hostb")
				c.offline("hostc")
			}, "select=1:ncpus=2 walltime=100",
			`Job would conflict with reservation or top job| starts 90 on (hosta:ncpus=2)
1 of ncpus=2, room on [], 0 more, 0 ineligible
hosta  at 90 ncpus 2 of 8 has 0; reservation R0.srv has ncpus=8 from 30 until 90, without it 0
hostb offline at ?
hostc offline at ?`,
		},
		{
			"several chunks", func(c *clock) {
				c.in("workq", "select=1:ncpus=6:host=hosta walltime=100")
				c.begin()
			}, "select=3:ncpus=4 place=scatter walltime=10",
			`Not enough free nodes available| starts 100 on (hosta:ncpus=4)+(hostb:ncpus=4)+(hostc:ncpus=4)
3 of ncpus=4, room on [hostb hostc], 0 more, 0 ineligible
hosta  at 100 ncpus 4 of 8 has 2; running job 0.srv has ncpus=6 from 0 until 100, without it 0`,
		},
		{
			"alone", func(c *clock) {
				c.offline("hostb")
				c.offline("hostc")
				c.in("workq", "select=1:ncpus=1 walltime=40")
				c.begin()
			}, "select=1:ncpus=1 place=excl walltime=10",
			`Not enough free nodes available| starts 40 on (hosta:ncpus=1)
1 of ncpus=1, room on [], 0 more, 0 ineligible
hosta  at 40; running job 0.srv has ncpus=1 from 0 until 40, without it 0
hostb offline at ?
hostc offline at ?`,
		},
		{
			"never", func(*clock) {}, "select=1:ncpus=9",
			`Insufficient amount of resource: ncpus (R: 9 A: 8 T: 8)| never
1 of ncpus=9, room on [], 0 more, 3 ineligible`,
		},
		{
			"no walltime", func(c *clock) {
				c.in("workq", "select=1:ncpus=8:host=hosta")
				c.begin()
			}, "select=3:ncpus=8 walltime=10",
			`Insufficient amount of resource: ncpus (R: 24 A: 16 T: 24)|
3 of ncpus=8, room on [hostb hostc], 0 more, 0 ineligible
hosta  at ? ncpus 8 of 8 has 0; running job 0.srv has ncpus=8 from 0 until ?, without it 0`,
		},
		{
			"top job", func(c *clock) {
				c.scheduler("strict_ordering=True")
				c.in("workq", "select=3:ncpus=6 place=scatter walltime=100")
				c.begin()
				c.in("workq", "select=3:ncpus=8 place=scatter walltime=100")
				c.begin()
			}, "select=1:ncpus=2 walltime=200",
			`Job would conflict with reservation or top job| starts 200 on (hosta:ncpus=2)
1 of ncpus=2, room on [], 0 more, 0 ineligible
hosta  at 200 ncpus 2 of 8 has 0; running job 0.srv has ncpus=6 from 0 until 100; top job 1.srv has ncpus=8 from 100 until 200
hostb  at 200 ncpus 2 of 8 has 0; running job 0.srv has ncpus=6 from 0 until 100; top job 1.srv has ncpus=8 from 100 until 200
hostc  at 200 ncpus 2 of 8 has 0; running job 0.srv has ncpus=6 from 0 until 100; top job 1.srv has ncpus=8 from 100 until 200`,
		},
	} {
		b := newClock(t).three()
		c.set(b)
		id := b.in("workq", c.asks)
		if got := b.told(id); got != c.want {
			t.Errorf("%s: told\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// A top job is told of the time that the scheduler keeps for it.
func TestExplain_Promised(t *testing.T) {
	c := newClock(t).three()
	c.scheduler("strict_ordering=True")
	c.in("workq", "select=3:ncpus=6 place=scatter walltime=100")
	c.begin()
	id := c.in("workq", "select=1:ncpus=8 walltime=100")
	c.begin()
	if got, want := c.told(id), " starts 100 on (hosta:ncpus=8) promised\n"; !strings.Contains(got, want) {
		t.Errorf("told\n%s\nwant %q in it", got, want)
	}
}

// A job of a reservation is told of its reservation alone.
func TestExplain_Inside(t *testing.T) {
	c := newClock(t).three()
	r := c.reserve("select=1:ncpus=8:host=hosta", 600, 10)
	c.decided()
	id := c.in(r.Queue(), "select=1:ncpus=4 walltime=9000")
	if got, want := c.told(id), "Queue not started.| starts 10 on "; got != want {
		t.Errorf("before it begins: %q, want %q", got, want)
	}
	c.wait(10)
	c.in(r.Queue(), "select=1:ncpus=2 walltime=30")
	c.begin()
	id = c.in(r.Queue(), "select=1:ncpus=4 walltime=10")
	want := `Not enough free nodes available| starts 30 on 
1 of ncpus=4, room on [], 0 more, 0 ineligible
hosta  at 30 ncpus 4 of 8 has 2; running job 2.srv has ncpus=2 from 0 until 30; running job 1.srv has ncpus=4 from 0 until 9000`
	if got := c.told(id); got != want {
		t.Errorf("while it runs:\n%s\nwant\n%s", got, want)
	}
}

// An array of which as many subjobs run as may is told that, and its subjobs are.
func TestExplain_Array(t *testing.T) {
	c := newClock(t).three()
	id := c.submit("select=1:ncpus=1 array=1-9 most=1")
	c.begin()
	for _, of := range []pbs.JobID{id, id.Subjob(5)} {
		if got, want := c.told(of), "Number of concurrent running subjobs limit reached|"; got != want {
			t.Errorf("of %s: told %q, want %q", of, got, want)
		}
	}
}

// Dedicated time keeps jobs waiting that would run into it.
func TestExplain_DedicatedTime(t *testing.T) {
	c := newClock(t).three()
	day := func(at int) string {
		return time.Unix(0, int64(c.now+secs(at))).UTC().Format("01/02/2006 15:04")
	}
	c.scheduler("dedicated_time=" + day(600) + " " + day(1200))
	id := c.in("workq", "select=1:ncpus=1 walltime=900")
	if got, want := c.told(id), " shut by dedicated time  from "; !strings.Contains(got, want) {
		t.Errorf("told %q, want %q in it", got, want)
	}
}

// With strict ordering and no backfill the first job that waits keeps all that come after it waiting, and those before it not.
func TestExplain_StrictOrder(t *testing.T) {
	for _, set := range []string{"strict_ordering=True backfill=False", "help_starving_jobs=True max_starve=60 backfill=False"} {
		c := newClock(t).three()
		c.scheduler(strings.Fields(set)...)
		c.in("workq", "select=3:ncpus=8 place=scatter walltime=100")
		c.begin()
		first := c.in("workq", "select=1:ncpus=8 walltime=100")
		c.wait(70)
		second, third := c.in("workq", "select=1:ncpus=1 walltime=100"), c.in("workq", "select=1:ncpus=2 walltime=100")
		c.begin()
		if got := c.told(first); strings.Contains(got, "shut by") {
			t.Errorf("%s: of the first is told %q", set, got)
		}
		for _, id := range []pbs.JobID{second, third} {
			want := "Job would break strict sorted order| shut by nothing may pass the job before it " + string(first) + " from ? until ?"
			if got := c.told(id); !strings.HasPrefix(got, want) {
				t.Errorf("%s: of %s is told %q, want %q", set, id, got, want)
			}
		}
	}
}
