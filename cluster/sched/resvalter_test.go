package sched_test

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// alter asks for an alteration, and says what the scheduler answers.
func (c *clock) alter(id pbs.ReservationID, a command.AlterReservation, sel string) string {
	c.t.Helper()
	a.Reservation = id
	if sel != "" {
		a.Changes = []command.AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "select", Value: sel}}}
	}
	c.must(&a)
	return why(c.decided())
}

// An alteration of one that waits may give it other vnodes, and is denied where others are in the way (RV-46 to RV-48, RV-53).
func TestDecide_AlterWaiting(t *testing.T) {
	b := newClock(t).three()
	first := b.reserve("select=1:ncpus=8:host=hosta", 60, 600)
	b.reserve("select=1:ncpus=8:host=hosta", 60, 660)
	free := b.reserve("select=1:ncpus=8", 60, 600)
	b.decided()
	r, _ := b.store.View().Reservation(first)
	for _, c := range []struct {
		name string
		id   pbs.ReservationID
		ask  command.AlterReservation
		sel  string
		why  string
		want string
	}{
		{"into the next", first, command.AlterReservation{Length: secs(90)}, "", "Insufficient amount of resource: host ", "CO (hosta:ncpus=8)"},
		{"to an earlier start", first, command.AlterReservation{Start: r.Start - secs(10)}, "", "", "CO (hosta:ncpus=8)"},
		{"the same vnodes", free, command.AlterReservation{End: r.End + secs(60)}, "", "", "CO (hostb:ncpus=8)"},
	} {
		if got := b.alter(c.id, c.ask, c.sel); got != c.why || b.given(c.id) != c.want {
			t.Errorf("%s: %q because %q, want %q because %q", c.name, b.given(c.id), got, c.want, c.why)
		}
	}
	parts := b.reserve("select=2:ncpus=2+1:ncpus=4 place=scatter", 60, 1600)
	b.decided()
	if got := b.alter(parts, command.AlterReservation{}, "1:ncpus=2+1:ncpus=4"); got != "" || b.given(parts) != "CO (hosta:ncpus=2)+(hostb:ncpus=4)" {
		t.Errorf("%s because %q", b.given(parts), got)
	}
}

// One that runs keeps its vnodes; of its chunks those go that no job of it needs (RV-51, RV-54).
func TestDecide_AlterRunning(t *testing.T) {
	b := newClock(t).three()
	id := b.reserve("select=3:ncpus=4 place=scatter", 120, 3)
	b.reserve("select=1:ncpus=6:host=hostb", 60, 200)
	b.decided()
	b.wait(3)
	b.in(id.Queue(), "select=2:ncpus=2 place=scatter")
	b.begin()
	for _, c := range []struct {
		name string
		ask  command.AlterReservation
		sel  string
		why  string
		want string
	}{
		{"until the next", command.AlterReservation{Length: secs(197)}, "", "", "RN (hosta:ncpus=4)+(hostb:ncpus=4)+(hostc:ncpus=4)"},
		{"into the next", command.AlterReservation{Length: secs(198)}, "", "No available resources on nodes", "RN (hosta:ncpus=4)+(hostb:ncpus=4)+(hostc:ncpus=4)"},
		{"less than its jobs have", command.AlterReservation{}, "1:ncpus=4", "Reservation has running jobs in it", "RN (hosta:ncpus=4)+(hostb:ncpus=4)+(hostc:ncpus=4)"},
		{"what no job has", command.AlterReservation{}, "2:ncpus=4", "", "RN (hosta:ncpus=4)+(hostb:ncpus=4)"},
		{"and back", command.AlterReservation{}, "3:ncpus=4", "", "RN (hosta:ncpus=4)+(hostb:ncpus=4)+(hostc:ncpus=4)"},
	} {
		if got := b.alter(id, c.ask, c.sel); got != c.why || b.given(id) != c.want {
			t.Errorf("%s: %q because %q, want %q because %q", c.name, b.given(id), got, c.want, c.why)
		}
	}
}

// Of chunks that are alike those go first that cannot be used.
func TestDecide_AlterRunningLeavesLostVnodes(t *testing.T) {
	b := newClock(t).three()
	id := b.reserve("select=3:ncpus=4 place=scatter", 120, 3)
	b.decided()
	b.wait(3)
	b.offline("hosta")
	if got := b.alter(id, command.AlterReservation{}, "2:ncpus=4"); got != "" || b.given(id) != "RN (hostb:ncpus=4)+(hostc:ncpus=4)" {
		t.Errorf("%s because %q", b.given(id), got)
	}
}

// One that runs empty and is to begin later may get other vnodes (RV-52).
func TestDecide_AlterToALaterStart(t *testing.T) {
	b := newClock(t).three()
	id := b.reserve("select=1:ncpus=8", 120, 3)
	b.reserve("select=1:ncpus=8:host=hosta", 60, 300)
	b.decided()
	b.wait(3)
	if got := b.alter(id, command.AlterReservation{Start: b.now + secs(290), End: b.now + secs(400)}, ""); got != "" || b.given(id) != "CO (hostb:ncpus=8)" {
		t.Errorf("%s because %q", b.given(id), got)
	}
}

// One that is degraded gets others in place of the vnodes that it has lost, when it is time (RV-42, RV-43).
func TestDecide_Degraded(t *testing.T) {
	b := newClock(t).three()
	id := b.reserve("select=2:ncpus=3 place=scatter", 60, 900)
	b.decided()
	b.offline("hosta")
	r, _ := b.store.View().Reservation(id)
	if r.State != pbs.ResvDegraded || r.Retry != b.now+secs(600) {
		t.Fatalf("%s, again at +%d", b.given(id), (r.Retry-b.now)/secs(1))
	}
	if p := b.decided(); len(p.Decisions) > 0 || p.Again != r.Retry {
		t.Errorf("decided early: %v, again at %d", p.Decisions, p.Again)
	}
	b.wait(600)
	if p := b.decided(); why(p) != "" || b.given(id) != "CO (hostb:ncpus=3)+(hostc:ncpus=3)" {
		t.Errorf("%s because %q", b.given(id), why(p))
	}
}

// While one runs, vnodes are left on which jobs of it are (RV-44, RV-45).
func TestDecide_DegradedRunning(t *testing.T) {
	b := newClock(t).three()
	id := b.reserve("select=2:ncpus=3 place=scatter", 9000, 3)
	b.decided()
	b.wait(3)
	job := b.in(id.Queue(), "select=1:ncpus=1:host=hosta")
	b.begin()
	b.offline("hosta")
	b.wait(600)
	p := b.decided()
	if why(p) != "No available resources on nodes" || b.given(id) != "RN (hosta:ncpus=3)+(hostb:ncpus=3)" {
		t.Errorf("%s because %q", b.given(id), why(p))
	}
	b.must(&command.DeleteJob{Job: job, Force: true})
	b.wait(600)
	if p := b.decided(); why(p) != "" || b.given(id) != "RN (hostb:ncpus=3)+(hostc:ncpus=3)" {
		t.Errorf("%s because %q", b.given(id), why(p))
	}
	inside := b.in(id.Queue(), "select=1:ncpus=3")
	if got := become(b.begin(), []pbs.JobID{inside}); got != "(hostb:ncpus=3)" {
		t.Errorf("a job inside: %s", got)
	}
}

// The victim of a maintenance gets others in place of what that has taken (RV-58, RV-59).
func TestDecide_Maintenance(t *testing.T) {
	b := newClock(t).three()
	id := b.reserve("select=2:ncpus=3 place=scatter", 60, 600)
	b.decided()
	m := b.must(&command.Reserve{Owner: pbs.User{Name: "root", Host: "hosta"}, Hosts: []string{"hosta"}, Starts: []pbs.Time{b.now + secs(590)}, Length: secs(30)}).Result.Reservation
	if got := b.given(m); got != "CO (hosta:ncpus=8)" {
		t.Fatalf("the maintenance is %s", got)
	}
	jobs := []pbs.JobID{b.in("", "select=1:ncpus=1:host=hosta walltime=700"), b.in("", "select=1:ncpus=1:host=hosta walltime=500")}
	p := b.decided()
	b.wait(600)
	if p := b.decided(); b.given(id) != "RN (hostb:ncpus=3)+(hostc:ncpus=3)" {
		t.Errorf("%s because %q", b.given(id), why(p))
	}
	if got, want := become(p, jobs), "Insufficient amount of resource: host \n(hosta:ncpus=1)"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
