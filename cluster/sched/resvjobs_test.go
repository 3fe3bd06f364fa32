package sched_test

import (
	"fmt"
	"strings"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// become says what a plan does with jobs, in their order: where they start, or why not.
func become(p sched.Plan, ids []pbs.JobID) string {
	var all []string
	for _, id := range ids {
		what := "-"
		for _, s := range p.Starts {
			if s.Job == id {
				what = s.ExecVnode
			}
		}
		for _, c := range p.Comments {
			if c.Job == id && c.Start == 0 {
				what = strings.TrimPrefix(c.Why.Comment(), "Not Running: ")
			}
		}
		all = append(all, what)
	}
	return strings.Join(all, "\n")
}

// Jobs outside leave reservations their amounts until they are over (RV-35, RV-36).
func TestReservation_JobsOutside(t *testing.T) {
	const conflict = "Job would conflict with reservation or top job"
	const busy, host, cpus = "Not enough free nodes available", "Insufficient amount of resource: host ", "Insufficient amount of resource: ncpus "
	for _, c := range []struct {
		name  string
		asked []string
		jobs  []string
		want  []string
	}{
		{
			"all hosts",
			[]string{"60 600 select=3:ncpus=8 place=scatter"},
			[]string{"select=1:ncpus=1 walltime=1:00:00", "select=1:ncpus=1", "select=1:ncpus=1 walltime=20", "select=1:ncpus=1 walltime=60", "select=1:ncpus=1 walltime=61"},
			[]string{conflict, conflict, "(hosta:ncpus=1)", "(hosta:ncpus=1)", conflict},
		},
		{
			"all hosts, and jobs whose chunks are scattered",
			[]string{"60 600 select=3:ncpus=8 place=scatter"},
			[]string{"select=1:ncpus=1 walltime=1:00:00 place=scatter", "select=1:ncpus=1:host=hosta walltime=61 place=scatter", "select=2:ncpus=1 walltime=61 place=pack"},
			[]string{busy, busy, conflict},
		},
		{
			"all hosts, and jobs that want a vnode for each chunk",
			[]string{"60 600 select=3:ncpus=8 place=scatter"},
			[]string{"select=1:ncpus=1 walltime=1:00:00 place=vscatter", "select=2:ncpus=1 walltime=61 place=vscatter", "select=1:ncpus=1 walltime=60 place=vscatter"},
			[]string{conflict, conflict, "(hosta:ncpus=1)"},
		},
		{
			"a part of a host",
			[]string{"60 600 select=1:ncpus=6:host=hosta"},
			[]string{
				"select=1:ncpus=3:host=hosta walltime=100", "select=1:ncpus=2:host=hosta walltime=1:00:00", "select=1:ncpus=6:host=hosta walltime=20",
				"select=1:ncpus=1:host=hosta walltime=20",
			},
			[]string{host, "(hosta:ncpus=2)", "(hosta:ncpus=6)", cpus + "(R: 1 A: 0 T: 8)"},
		},
		{
			"two after each other take no more than the greater",
			[]string{"60 60 select=1:ncpus=6:host=hosta", "120 60 select=1:ncpus=4:host=hosta"},
			[]string{"select=1:ncpus=3:host=hosta walltime=130", "select=1:ncpus=2:host=hosta walltime=130"},
			[]string{host, "(hosta:ncpus=2)"},
		},
		{
			"other hosts",
			[]string{"60 60 select=1:ncpus=8:host=hosta"},
			[]string{"select=2:ncpus=8", "select=1:ncpus=1"},
			[]string{"(hostb:ncpus=8)+(hostc:ncpus=8)", conflict},
		},
		{
			"an exclusive one",
			[]string{"60 60 select=1:ncpus=1:host=hosta place=excl"},
			[]string{"select=1:ncpus=1:host=hosta walltime=100", "select=1:ncpus=8:host=hosta walltime=60"},
			[]string{host, "(hosta:ncpus=8)"},
		},
		{
			"an exclusive job",
			[]string{"60 60 select=1:ncpus=1:host=hosta"},
			[]string{"select=1:ncpus=1:host=hosta walltime=100 place=excl", "select=1:ncpus=1:host=hosta walltime=60 place=exclhost"},
			[]string{host, "(hosta:ncpus=1)"},
		},
		{
			"far away",
			[]string{"315360000 60 select=1:ncpus=8:host=hosta"},
			[]string{"select=1:ncpus=8:host=hosta", "select=1:ncpus=8:host=hosta walltime=1000:00:00"},
			[]string{host, "(hosta:ncpus=8)"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newClock(t).three()
			for _, text := range c.asked {
				var at, long int
				_, _ = fmt.Sscanf(text, "%d %d", &at, &long)
				b.reserve(strings.Join(strings.Fields(text)[2:], " "), long, at)
			}
			b.decided()
			var ids []pbs.JobID
			for _, request := range c.jobs {
				ids = append(ids, b.in("", request))
			}
			p := b.decided()
			if got, want := become(p, ids), strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for _, s := range p.Starts {
				b.must(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode})
			}
		})
	}
}

// What is decided in a cycle is kept from the jobs that start in it.
func TestReservation_DecidedBeforeJobsStart(t *testing.T) {
	b := newClock(t).three()
	b.reserve("select=3:ncpus=8 place=scatter", 600, 60)
	id := b.in("", "select=1:ncpus=1 walltime=100")
	if got := become(b.decided(), []pbs.JobID{id}); got != "Job would conflict with reservation or top job" {
		t.Error(got)
	}
}

// While a reservation runs jobs outside have what it leaves, and jobs inside what it has (RV-31, RV-32).
func TestReservation_JobsInside(t *testing.T) {
	b := newClock(t).three()
	r := b.reserve("select=2:ncpus=4 place=scatter", 120, 3)
	b.decided()
	early := b.in(r.Queue(), "select=1:ncpus=2")
	if got := become(b.begin(), []pbs.JobID{early}); got != "Queue not started." {
		t.Errorf("before the start: %s", got)
	}
	b.wait(3)
	jobs := []pbs.JobID{
		early, b.in(r.Queue(), "select=1:ncpus=7"), b.in(r.Queue(), "select=2:ncpus=2 place=scatter walltime=9:00:00"),
		b.in("", "select=3:ncpus=4 place=scatter walltime=600"), b.in("", "select=3:ncpus=5 place=scatter walltime=600"),
		b.in("", "select=1:ncpus=5:host=hosta walltime=10"),
	}
	want := `(hosta:ncpus=2)
Insufficient amount of queue resource: ncpus (R: 7 A: 6 T: 8)
(hosta:ncpus=2)+(hostb:ncpus=2)
(hosta:ncpus=4)+(hostb:ncpus=4)+(hostc:ncpus=4)
Insufficient amount of resource: ncpus (R: 15 A: 4 T: 24)
Insufficient amount of resource: ncpus (R: 5 A: 4 T: 24)`
	p := b.begin()
	if got := become(p, jobs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	spread := b.in(r.Queue(), "select=1:ncpus=4")
	_ = spread
	b.offline("hosta")
	lost := b.in(r.Queue(), "select=1:ncpus=1:host=hosta")
	if got := become(b.decided(), []pbs.JobID{lost}); got != "No available resources on nodes" {
		t.Errorf("on a vnode that is lost: %s", got)
	}
}

// Of what a reservation does not name its jobs have what its vnodes have left until it ends; of what it names they have what it has.
func TestReservation_JobsInsideTakeWhatItDoesNotName(t *testing.T) {
	const none = "Not enough free nodes available"
	for _, c := range []struct {
		name  string
		asked []string // at, length, request
		first string   // runs outside
		jobs  []string // inside, or after "out " outside
		want  []string
	}{
		{
			"all of it",
			[]string{"3 120 select=1:ncpus=4:host=hosta"},
			"",
			[]string{"select=1:ncpus=1:mem=6gb", "select=1:ncpus=1:mem=2gb", "select=1:ncpus=1:mem=1gb", "select=1:ncpus=2:mem=0"},
			[]string{"(hosta:ncpus=1:mem=6291456kb)", "(hosta:ncpus=1:mem=2097152kb)", none, "(hosta:ncpus=2:mem=0kb)"},
		},
		{
			"beside others",
			[]string{"3 120 select=1:ncpus=4:host=hosta"},
			"select=1:ncpus=1:mem=3gb:host=hosta",
			[]string{"select=1:ncpus=1:mem=6gb", "select=1:ncpus=1:mem=5gb", "out select=1:ncpus=1:mem=1gb:host=hosta"},
			[]string{none, "(hosta:ncpus=1:mem=5242880kb)", "Insufficient amount of resource: mem (R: 1048576kb A: 0kb T: 8388608kb)"},
		},
		{
			"who comes first in a cycle",
			[]string{"3 120 select=1:ncpus=4:host=hosta"},
			"",
			[]string{"out select=1:ncpus=1:mem=5gb:host=hosta", "select=1:ncpus=1:mem=4gb", "select=1:ncpus=1:mem=3gb", "out select=1:ncpus=1:mem=1gb:host=hosta"},
			[]string{"(hosta:ncpus=1:mem=5242880kb)", none, "(hosta:ncpus=1:mem=3145728kb)", "Insufficient amount of resource: mem (R: 1048576kb A: 0kb T: 8388608kb)"},
		},
		{
			"what it names",
			[]string{"3 120 select=1:ncpus=4:mem=2gb:host=hosta"},
			"",
			[]string{"select=1:ncpus=1:mem=1gb", "select=1:ncpus=1:mem=2gb", "select=1:ncpus=1:mem=1gb"},
			[]string{"(hosta:ncpus=1:mem=1048576kb)", "Insufficient amount of queue resource: mem (R: 2097152kb A: 1048576kb T: 2097152kb)", "(hosta:ncpus=1:mem=1048576kb)"},
		},
		{
			"what another is to have while it runs",
			[]string{"3 120 select=1:ncpus=4:host=hosta", "100 60 select=1:ncpus=1:mem=6gb:host=hosta"},
			"",
			[]string{"select=1:ncpus=1:mem=3gb", "select=1:ncpus=1:mem=2gb walltime=9:00:00"},
			[]string{none, "(hosta:ncpus=1:mem=2097152kb)"},
		},
		{
			"what another is to have after it",
			[]string{"3 120 select=1:ncpus=4:host=hosta", "123 60 select=1:ncpus=1:mem=6gb:host=hosta"},
			"",
			[]string{"select=1:ncpus=1:mem=3gb walltime=9:00:00"},
			[]string{"(hosta:ncpus=1:mem=3145728kb)"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newClock(t).three()
			if c.first != "" {
				b.in("", c.first)
				b.begin()
			}
			var first pbs.ReservationID
			for i, text := range c.asked {
				var at, long int
				_, _ = fmt.Sscanf(text, "%d %d", &at, &long)
				if id := b.reserve(strings.Join(strings.Fields(text)[2:], " "), long, at); i == 0 {
					first = id
				}
			}
			b.decided()
			b.wait(3)
			var ids []pbs.JobID
			for _, request := range c.jobs {
				queue := first.Queue()
				request, outside := strings.CutPrefix(request, "out ")
				if outside {
					queue, request = "", request+" walltime=60"
				}
				ids = append(ids, b.in(queue, request))
			}
			p := b.begin()
			if got, want := become(p, ids), strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// What its jobs have of that nobody else is promised, and a reservation is not made longer than they can keep it (L15).
func TestReservation_UnnamedIsPromisedOnce(t *testing.T) {
	b := newClock(t).three()
	r := b.reserve("select=1:ncpus=4:host=hosta", 100, 3)
	b.decided()
	b.wait(3)
	b.in(r.Queue(), "select=1:ncpus=1:mem=6gb walltime=9:00:00")
	b.begin()
	for _, c := range []struct {
		at   int
		want string
	}{{50, "gone"}, {100, "CO (hosta:ncpus=1:mem=3145728kb)"}} {
		id := b.reserve("select=1:ncpus=1:mem=3gb:host=hosta", 60, c.at)
		b.decided()
		if got := b.given(id); got != c.want {
			t.Errorf("from %d: %s", c.at, got)
		}
	}
	if got := b.alter(r, command.AlterReservation{Length: secs(101)}, ""); got != "No available resources on nodes" {
		t.Errorf("it is made longer: %q", got)
	}
	if got := b.alter(r, command.AlterReservation{Length: secs(99)}, ""); got != "" {
		t.Errorf("it is not made shorter: %q", got)
	}
}

// Who asks for a vnode alone gets none that a reservation has a part of, and nobody gets one that a reservation has alone (RV-41).
func TestReservation_Exclusive(t *testing.T) {
	b := newClock(t).three()
	alone := b.reserve("select=1:ncpus=1:host=hostb place=excl", 30, 5)
	part := b.reserve("select=1:ncpus=1:host=hosta", 30, 5)
	b.decided()
	b.wait(5)
	jobs := []pbs.JobID{
		b.in(alone.Queue(), "select=1:ncpus=1"), b.in(part.Queue(), "select=1:ncpus=1"),
		b.in("", "select=1:ncpus=1:host=hostb walltime=10"), b.in("", "select=1:ncpus=1:host=hosta walltime=10 place=excl"),
		b.in("", "select=1:ncpus=1:host=hosta walltime=10"), b.in("", "select=1:ncpus=1 walltime=10 place=excl"),
	}
	want := "(hostb:ncpus=1)\n(hosta:ncpus=1)\nInsufficient amount of resource: ncpus (R: 1 A: 0 T: 8)\nNot enough free nodes available\n(hosta:ncpus=1)\n(hostc:ncpus=1)"
	if got := become(b.begin(), jobs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A job that is to begin at an operator's wish leaves reservations what is theirs, and one inside stays inside.
func TestReservation_PlaceOne(t *testing.T) {
	b := newClock(t).three()
	r := b.reserve("select=3:ncpus=6 place=scatter", 100, 10)
	b.decided()
	ask := func(id pbs.JobID) string {
		j, _ := b.store.View().Job(id)
		where, _, why := sched.PlaceOne(b.store.View(), j, nil)
		return where + why
	}
	long, short, inside := b.in("", "select=1:ncpus=3"), b.in("", "select=1:ncpus=3 walltime=10"), b.in(r.Queue(), "select=1:ncpus=6")
	got := []string{ask(long), ask(short), ask(inside)}
	b.wait(10)
	got = append(got, ask(short), ask(inside))
	want := []string{"Job would conflict with reservation or top job", "(hosta:ncpus=3)", "Queue not started.", "Insufficient amount of resource: ncpus (R: 3 A: 2 T: 8)", "(hosta:ncpus=6)"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A job that comes next gets a time at which no reservation is in its way, and nobody delays it.
func TestReservation_TopJob(t *testing.T) {
	b := newClock(t)
	b.scheduler("strict_ordering=True")
	b.host("hosta", "hosta:ncpus=8")
	b.in("", "select=1:ncpus=6 walltime=100")
	b.begin()
	b.reserve("select=1:ncpus=4", 300, 200)
	b.decided()
	jobs := []pbs.JobID{
		b.in("", "select=1:ncpus=6 walltime=200"), // not between 100 and 200
		b.in("", "select=1:ncpus=2 walltime=200"), b.in("", "select=1:ncpus=2 walltime=600"),
	}
	p := b.decided()
	want := "0 start +8m20s on (hosta:ncpus=6)\n1 (hosta:ncpus=2)"
	var got []string
	for i, id := range jobs {
		for _, c := range p.Comments {
			if c.Job == id && c.Start != 0 {
				got = append(got, strings.Replace(told(sched.Plan{Comments: []sched.Comment{c}}), string(id.Number()), fmt.Sprint(i), 1))
			}
		}
		for _, s := range p.Starts {
			if s.Job == id {
				got = append(got, fmt.Sprint(i, " ", s.ExecVnode))
			}
		}
	}
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s\n%s", strings.Join(got, "\n"), want, told(p))
	}
}

// Backfill goes by top jobs and reservations together.
func TestReservation_Backfill(t *testing.T) {
	b := newClock(t)
	b.scheduler("strict_ordering=True")
	b.host("hosta", "hosta:ncpus=8")
	b.in("", "select=1:ncpus=4 walltime=100")
	b.begin()
	b.reserve("select=1:ncpus=3", 300, 1000)
	b.decided()
	jobs := []pbs.JobID{
		b.in("", "select=1:ncpus=8 walltime=500"), // from 100 to 600
		b.in("", "select=1:ncpus=1 walltime=100"), b.in("", "select=1:ncpus=1 walltime=200"),
	}
	want := "Insufficient amount of resource: ncpus (R: 8 A: 4 T: 8)\n(hosta:ncpus=1)\nJob would conflict with reservation or top job"
	if got := become(b.decided(), jobs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Others are preempted only where that gives a job room for as long as it runs; jobs of reservations are not.
func TestReservation_Preemption(t *testing.T) {
	for _, c := range []struct{ name, preemptor, want string }{
		{"it is over before", "select=1:ncpus=8 walltime=50", "0:S"},
		{"it would take what is promised", "select=1:ncpus=8 walltime=200", ""},
		{"it fits beside", "select=1:ncpus=4 walltime=200", "0:S"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newClock(t)
			b.host("hosta", "hosta:ncpus=8")
			b.queue("express", "200")
			b.in("", "select=1:ncpus=4 walltime=8:00:00")
			b.begin()
			b.reserve("select=1:ncpus=4", 300, 100)
			b.decided()
			b.in("express", c.preemptor)
			p := b.decided()
			var got []string
			for _, x := range p.Preempts {
				got = append(got, fmt.Sprintf("%s:%s", x.Job.Number(), x.Method))
			}
			if strings.Join(got, " ") != c.want || len(p.Starts) > 0 {
				t.Errorf("preempted %q, started %q, want %q", got, started(p), c.want)
			}
		})
	}
	t.Run("a job inside is no victim", func(t *testing.T) {
		b := newClock(t)
		b.host("hosta", "hosta:ncpus=8")
		b.queue("express", "200")
		r := b.reserve("select=1:ncpus=8", 300, 10)
		b.decided()
		b.wait(10)
		b.in(r.Queue(), "select=1:ncpus=8")
		b.begin()
		b.in("express", "select=1:ncpus=8 walltime=10")
		if p := b.decided(); len(p.Preempts) > 0 {
			t.Errorf("preempted %v", p.Preempts)
		}
	})
}

// Of the only host it is no other host that is missing, even if a job names it.
func TestReservation_OnlyHost(t *testing.T) {
	b := newClock(t)
	b.host("hosta", "hosta:ncpus=8")
	b.reserve("select=1:ncpus=8", 100, 60)
	b.decided()
	jobs := []pbs.JobID{b.in("", "select=1:ncpus=1 walltime=61"), b.in("", "select=1:ncpus=1:host=hosta walltime=61")}
	const conflict = "Job would conflict with reservation or top job"
	if got, want := become(b.decided(), jobs), conflict+"\n"+conflict; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A job that shrinks to fit ends when a reservation begins that is in its way.
func TestReservation_ShrinkToFit(t *testing.T) {
	b := newClock(t)
	b.host("hosta", "hosta:ncpus=8")
	b.reserve("select=1:ncpus=1", 100, 100)
	b.reserve("select=1:ncpus=8", 100, 300)
	b.decided()
	jobs := []pbs.JobID{b.in("", "select=1:ncpus=7 min_walltime=50 max_walltime=1:00:00"), b.in("", "select=1:ncpus=1 min_walltime=301 max_walltime=1:00:00")}
	p := b.decided()
	if got, want := become(p, jobs), "(hosta:ncpus=7)\nJob would conflict with reservation or top job"; got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	if got := sched.Changes(p.Starts[0]); len(got) != 1 || got[0].Entry != (attr.Entry{Name: "Resource_List", Resource: "walltime", Value: "00:05:00"}) {
		t.Errorf("changes %v", got)
	}
}

// A suspended job goes on only where it leaves reservations what is theirs.
func TestReservation_Resume(t *testing.T) {
	for _, c := range []struct {
		asked string
		want  int
	}{{"select=1:ncpus=4", 1}, {"select=1:ncpus=5", 0}} {
		b := newClock(t)
		b.host("hosta", "hosta:ncpus=8")
		id := b.in("", "select=1:ncpus=4 walltime=600")
		b.begin()
		b.must(&command.SignalJob{Job: id, Signal: command.Suspend})
		b.confirm(id)
		r := b.reserve(c.asked, 300, 100)
		b.decided()
		if got := b.given(r); !strings.HasPrefix(got, "CO ") {
			t.Fatalf("the reservation is %s", got)
		}
		other := b.in("", "select=1:ncpus=8 walltime=10")
		b.begin()
		b.must(&command.SignalJob{Job: id, Signal: command.Resume})
		b.must(&command.DeleteJob{Job: other, Force: true})
		if j, _ := b.store.View().Job(id); !j.Suspended() {
			t.Fatal("it goes on at once")
		}
		if p := b.decided(); len(p.Resumes) != c.want {
			t.Errorf("%s: resumed %v", c.asked, p.Resumes)
		}
	}
}

// A job that starts in a reservation counts for the limits of the server, which do not hold it, in the same cycle as later.
func TestReservation_JobsInsideCountForOthers(t *testing.T) {
	b := newClock(t).three()
	r := b.reserve("select=1:ncpus=4:host=hosta", 600, 3)
	b.decided()
	b.wait(3)
	b.limit("max_run=[u:PBS_GENERIC=1]")
	inside := b.in(r.Queue(), "select=1:ncpus=1")
	outside := b.in("", "select=1:ncpus=1")
	p := b.begin()
	if got := become(p, []pbs.JobID{inside, outside}); len(p.Starts) != 1 || p.Starts[0].Job != inside {
		t.Errorf("got %s", got)
	}
	b.in(r.Queue(), "select=1:ncpus=2")
	if p := b.begin(); len(p.Starts) != 1 {
		t.Errorf("of the next two %v start", p.Starts)
	}
}

// A suspended job of a reservation takes back what that does not name of what is left of its vnodes, and nobody outside is given it.
func TestReservation_ResumesBesideOthers(t *testing.T) {
	b := newClock(t)
	b.host("hosta", "hosta:ncpus=8,mem=8gb")
	r := b.reserve("select=1:ncpus=4", 600, 3)
	b.decided()
	b.wait(3)
	first := b.in(r.Queue(), "select=1:ncpus=1:mem=5gb")
	b.begin()
	b.must(&command.SignalJob{Job: first, Signal: command.Suspend})
	b.confirm(first)
	b.must(&command.SignalJob{Job: first, Signal: command.Resume})
	b.in("", "select=1:ncpus=1:mem=4gb walltime=60")
	p := sched.Make(b.store.View(), b.now)
	for _, s := range p.Starts {
		b.must(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode})
	}
	for _, id := range p.Resumes {
		b.must(sched.Resumption(b.store.View(), id))
	}
	if len(p.Starts)+len(p.Resumes) != 1 {
		t.Errorf("%v start, %v go on", p.Starts, p.Resumes)
	}
}

// A run that was suspended ends later by as long, whatever its mom says of the time that it has used: it does not go on into a reservation.
func TestReservation_WhoWasSuspendedEndsLater(t *testing.T) {
	b := newClock(t)
	b.host("hosta", "hosta:ncpus=8,mem=8gb")
	first := b.in("", "select=1:ncpus=8 walltime=100")
	b.begin()
	b.wait(10)
	b.must(&command.SignalJob{Job: first, Signal: command.Suspend})
	b.confirm(first)
	r := b.reserve("select=1:ncpus=8", 60, 95)
	b.decided()
	b.must(&command.SignalJob{Job: first, Signal: command.Resume})
	b.must(&command.UsageSample{Host: "hosta", Jobs: []command.JobUsage{{Job: first, RunCount: 1, Used: resource.List{}.Set("walltime", "00:00:50")}}})
	if p := sched.Make(b.store.View(), b.now); len(p.Resumes) != 1 {
		t.Errorf("it would be over in time, and goes on: %v", p.Resumes)
	}
	b.wait(6)
	if p := sched.Make(b.store.View(), b.now); len(p.Resumes) != 0 {
		t.Errorf("it would reach into %s, and goes on", r)
	}
}
