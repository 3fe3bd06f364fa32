package sched_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/cluster/sched/calendar"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// holds writes who has what of a vnode and when, in seconds from now.
func (c *clock) holds(vnode pbs.VnodeName) string {
	var all []string
	for _, h := range sched.NewOutlook(c.store.View(), c.now).Holds(vnode) {
		until := "forever"
		if h.Until != calendar.Forever {
			until = fmt.Sprint((h.Until - c.now) / secs(1))
		}
		text := fmt.Sprintf("%s %s %d..%s", h.Kind, h.By, max(0, (h.From-c.now)/secs(1)), until)
		for _, it := range h.Items {
			text += fmt.Sprintf(" %s=%d", it.Resource, it.Amount)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// fit writes when a job fits, in seconds from now, and where.
func (c *clock) fit(id pbs.JobID, without string) string {
	j, _ := c.store.View().Job(id)
	o := sched.NewOutlook(c.store.View(), c.now)
	f, ok := o.Earliest(j)
	if without != "" {
		f, ok = o.Without(j, without)
	}
	if !ok {
		return "never"
	}
	return fmt.Sprintf("%d %s", (f.Start-c.now)/secs(1), f.ExecVnode)
}

// Each hold tells who has it, and for what reason.
func TestOutlook_Holds(t *testing.T) {
	c := newClock(t)
	at := func(seconds int) string {
		return time.Unix(0, int64(c.now+secs(seconds))).UTC().Truncate(time.Minute).Format("01/02/2006 15:04")
	}
	c.scheduler("strict_ordering=True", "dedicated_time="+at(7200)+" "+at(10800))
	c.host("hosta", "hosta:ncpus=8")
	run := c.submit("select=1:ncpus=6 walltime=600")
	c.begin()
	top := c.submit("select=1:ncpus=8 walltime=300")
	resv := c.reserve("select=1:ncpus=4", 100, 1000)
	c.begin()
	c.offline("hosta")
	want := fmt.Sprintf("running job %s 0..600 ncpus=6; vnode offline offline 0..forever; top job %s 600..900 ncpus=8; reservation %s 1000..1100 ncpus=4; dedicated time  7163..10763", run, top, resv)
	if got := c.holds("hosta"); got != want {
		t.Errorf("holds\n%s\nwant\n%s", got, want)
	}
	if got := c.holds("nosuch"); got != "" {
		t.Errorf("a vnode that there is not: %s", got)
	}
}

// A job fits when what is in its way is over, and sooner without that.
func TestOutlook_Fits(t *testing.T) {
	c := newClock(t)
	c.host("hosta", "hosta:ncpus=8")
	run := c.submit("select=1:ncpus=8 walltime=3600")
	c.begin()
	resv := c.reserve("select=1:ncpus=8", 3600, 3600)
	c.begin()
	id := c.submit("select=1:ncpus=8 walltime=3600")
	short := c.submit("select=1:ncpus=9 walltime=3600")
	for _, ask := range []struct {
		job           pbs.JobID
		without, want string
	}{
		{id, "", "7200 (hosta:ncpus=8)"},
		{id, string(run), "0 (hosta:ncpus=8)"},
		{id, string(resv), "3600 (hosta:ncpus=8)"},
		{id, "99.srv", "7200 (hosta:ncpus=8)"},
		{short, "", "never"},
		{short, string(run), "never"},
	} {
		if got := c.fit(ask.job, ask.without); got != ask.want {
			t.Errorf("%s without %q: %s, want %s", ask.job, ask.without, got, ask.want)
		}
	}
	c.wait(3600)
	c.must(&command.DeleteJob{Job: run, Force: true})
	c.wait(1)
	if got := c.fit(id, ""); got != "3599 (hosta:ncpus=8)" {
		t.Errorf("while the reservation runs: %s", got)
	}
	if got := c.fit(id, string(resv)); got != "0 (hosta:ncpus=8)" {
		t.Errorf("without the reservation that runs: %s", got)
	}
}

// What was foretold of a job that is no top job any more is shown still, and kept by nobody: others are not told of it.
func TestOutlook_NoTopJobAnyMore(t *testing.T) {
	c := newClock(t)
	c.host("hosta", "hosta:ncpus=8")
	c.scheduler("strict_ordering=True")
	c.submit("select=1:ncpus=8 walltime=3600")
	c.begin()
	wide := c.submit("select=1:ncpus=8 walltime=3600")
	c.begin()
	id := c.submit("select=1:ncpus=1 walltime=3600")
	if got := c.fit(id, ""); got != "7200 (hosta:ncpus=1)" {
		t.Errorf("behind the top job: %s", got)
	}
	c.must(&command.AlterJob{Job: wide, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "topjob_ineligible", Value: "True"}}}})
	c.begin()
	if j, _ := c.store.View().Job(wide); j.IsTop() || j.EstimatedStart() == 0 {
		t.Fatalf("top %v, start %v", j.IsTop(), j.EstimatedStart())
	}
	if got := c.fit(id, ""); got != "3600 (hosta:ncpus=1)" {
		t.Errorf("when it is none: %s", got)
	}
}

// The next subjob of an array that is a top job has its place kept, as a job has.
func TestOutlook_TopArray(t *testing.T) {
	c := newClock(t)
	c.host("hosta", "hosta:ncpus=8")
	c.scheduler("strict_ordering=True")
	run := c.submit("select=1:ncpus=4 walltime=600")
	c.begin()
	array := c.submit("select=1:ncpus=8 walltime=300 array=1-3")
	c.begin()
	id := c.submit("select=1:ncpus=4 walltime=3600")
	short := c.submit("select=1:ncpus=4 walltime=600")
	if j, _ := c.store.View().Job(array); !j.IsTop() {
		t.Fatal("the array is no top job")
	}
	want := fmt.Sprintf("running job %s 0..600 ncpus=4; top job %s 600..900 ncpus=8", run, array)
	if got := c.holds("hosta"); got != want {
		t.Errorf("holds\n%s\nwant\n%s", got, want)
	}
	if got := c.fit(id, ""); got != "900 (hosta:ncpus=4)" {
		t.Errorf("behind the array: %s", got)
	}
	if got := c.fit(short, ""); got != "0 (hosta:ncpus=4)" {
		t.Errorf("before the array: %s", got)
	}
	if got := c.fit(array, ""); got != "600 (hosta:ncpus=8)" {
		t.Errorf("of the array: %s", got)
	}
	if got := c.told(id); !strings.HasPrefix(got, "Job would conflict with reservation or top job| starts 900 on (hosta:ncpus=4)") {
		t.Errorf("why: %s", got)
	}
}

// What is told of an early end is what comes of it.
func TestProperty_Outlook(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := newClock(t)
		for i := range 2 {
			name := fmt.Sprintf("host%c", 'a'+i)
			c.host(name, fmt.Sprintf("%s:ncpus=%d", name, rapid.IntRange(2, 6).Draw(r, "ncpus")))
		}
		for range rapid.IntRange(1, 8).Draw(r, "jobs") {
			c.drawJob(r)
			if rapid.IntRange(0, 2).Draw(r, "reserve") == 0 {
				c.drawReservation(r)
			}
			c.begin()
			c.wait(rapid.IntRange(1, 20).Draw(r, "seconds"))
			for j := range c.store.View().Running() {
				if j.Lasts(j.Started, j.Started) <= c.now {
					c.must(&command.DeleteJob{Job: j.ID, Force: true})
				}
			}
		}
		v := c.store.View()
		var ends []string
		for j := range v.Running() {
			if _, inside := v.ReservationOf(j.Queue); !inside {
				ends = append(ends, string(j.ID))
			}
		}
		for resv := range v.Reservations() {
			if !slices.ContainsFunc(slices.Collect(v.Insiders(resv.ID)), (*state.Job).Live) {
				ends = append(ends, string(resv.ID))
			}
		}
		id := c.submit(fmt.Sprintf("select=%d:ncpus=%d walltime=%d", rapid.IntRange(1, 2).Draw(r, "chunks"), rapid.IntRange(1, 5).Draw(r, "ncpus"), rapid.IntRange(1, 100).Draw(r, "walltime")))
		if len(ends) == 0 {
			return
		}
		by := rapid.SampledFrom(ends).Draw(r, "ends")
		told := c.fit(id, by)
		if _, ok := v.Job(pbs.JobID(by)); ok {
			c.must(&command.DeleteJob{Job: pbs.JobID(by), Force: true})
		} else {
			c.must(&command.DeleteReservation{Reservation: pbs.ReservationID(by)})
		}
		if got := c.fit(id, ""); got != told {
			r.Fatalf("%s without %s: %s was told, it is %s", id, by, told, got)
		}
	})
}

// A vnode of which more is promised than it has by then takes nothing of what other vnodes of its host have.
func TestOutlook_BesideAVnodeWithTooMuch(t *testing.T) {
	c := newClock(t)
	c.host("hosta", "hosta:ncpus=1", "hosta[0]:ncpus=2")
	c.scheduler("strict_ordering=True")
	late := c.in("", "select=1:ncpus=2:vnode=hosta[0] walltime=10")
	c.in("", "select=1:ncpus=1:vnode=hosta walltime=10")
	c.in("", "select=1:ncpus=2:vnode=hosta[0] walltime=20")
	c.begin()
	c.must(&command.SignalJob{Job: late, Signal: command.Suspend})
	c.confirm(late)
	c.wait(5)
	c.must(&command.SignalJob{Job: late, Signal: command.Resume})
	c.must(sched.Resumption(c.store.View(), late))
	asks := c.in("", "select=1:ncpus=1 walltime=5")
	j, _ := c.store.View().Job(asks)
	if f, ok := sched.NewOutlook(c.store.View(), c.now).Earliest(j); !ok || f.Start != c.now+secs(5) {
		t.Errorf("there is room in %d s, want 5", (f.Start-c.now)/secs(1))
	}
}
