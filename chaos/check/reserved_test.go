package check

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const nodes = "(host1:ncpus=2)"

var soon, far = Period{110, 115}, Period{4000, 4060}

// kept is a run with a reservation that was asked for, confirmed, began, had a job, and ended; one that was denied; and one that is
// far off.
func kept() *Evidence {
	const decide = "DecideReservation"
	book := strings.Join([]string{
		"01/01/2000 00:00:01;U;R1.srv;requestor=ann@c1",
		"01/01/2000 00:00:01;Y;R1.srv;requestor=Scheduler@srv start=110 end=115 nodes=(host1:ncpus=2)",
		"01/01/2000 00:00:02;U;R2.srv;requestor=ann@c1",
		"01/01/2000 00:00:02;K;R2.srv;requestor=Server@srv@srv",
		"01/01/2000 00:00:03;U;R3.srv;requestor=ann@c1",
		"01/01/2000 00:00:03;Y;R3.srv;requestor=Scheduler@srv start=4000 end=4060 nodes=(host1:ncpus=2)",
		"01/01/2000 00:00:04;Q;4.srv;user=ann",
		"01/01/2000 00:00:10;B;R1.srv;owner=ann@c1 name=one queue=R1 ctime=101 start=110 end=115 duration=5 nodes=(host1:ncpus=2)",
		"01/01/2000 00:00:11;S;4.srv;user=ann resvID=R1.srv",
		"01/01/2000 00:00:15;K;R1.srv;requestor=root@srv",
		"01/01/2000 00:00:15;E;4.srv;user=ann resvID=R1.srv",
	}, "\n") + "\n"
	e := &Evidence{
		Bookings: []Booking{
			{ID: "R1.srv", Name: "one", Stages: []Stage{
				{At: time.Second, Clock: 101, State: "UN", Period: soon, Left: 1, By: []string{"Reserve"}},
				{At: time.Second, Clock: 101, State: "CO", Period: soon, Nodes: nodes, Left: 1, By: []string{decide}},
				{At: 10 * time.Second, Clock: 110, State: "RN", Period: soon, Nodes: nodes, Left: 1},
				{At: 15 * time.Second, Clock: 115, State: "BD", Period: soon, Nodes: nodes, Left: 1},
				{At: 15 * time.Second, Clock: 115},
			}},
			{ID: "R2.srv", Name: "two", Stages: []Stage{
				{Clock: 102, State: "UN", Period: soon, Left: 1, By: []string{"Reserve"}}, {Clock: 102, By: []string{decide}},
			}},
			{ID: "R3.srv", Name: "three", Stages: []Stage{
				{Clock: 103, State: "UN", Period: far, Left: 1, By: []string{"Reserve"}}, {Clock: 103, State: "CO", Period: far, Nodes: nodes, Left: 1, By: []string{decide}},
			}},
		},
		History: History{
			{Kind: Reserve, Name: "one", Job: "R1.srv", Period: soon, Answer: "CONFIRMED", Result: Done},
			{Kind: Reserve, Name: "two", Job: "R2.srv", Period: soon, Answer: "DENIED", Result: Done},
			{Kind: Reserve, Name: "three", Job: "R3.srv", Period: far, Answer: "CONFIRMED", Result: Done},
			{Kind: SubmitInside, Name: "four", Job: "4.srv", Queue: "R1", Result: Done},
		},
		Runs: []Run{{Job: "4.srv", Count: 1, Host: "host1", Start: 11 * time.Second, End: 15 * time.Second}},
		Replicas: []Replica{{
			Name: "s1", Ledger: map[string][]byte{"20000101": []byte(book)}, Jobs: []Job{{ID: "4.srv", Name: "four", State: "F", Run: 1}},
			Holds: []Reservation{{ID: "R3.srv", Name: "three", State: "CO", Period: far, Nodes: nodes}},
		}},
	}
	return e
}

// line changes the ledger: what is replaced must be there.
func (e *Evidence) line(old, with string) {
	text := string(e.Replicas[0].Ledger["20000101"])
	if !strings.Contains(text, old) {
		panic(old)
	}
	e.Replicas[0].Ledger["20000101"] = []byte(strings.Replace(text, old, with, 1))
}

// fair are runs that are good, though they are unusual.
func fair() map[string]func(e *Evidence) {
	goOn := func(e *Evidence, with ...Stage) {
		e.Bookings[2].Stages = append(e.Bookings[2].Stages, with...)
		e.line("01/01/2000 00:00:04;Q", "01/01/2000 00:00:04;K;R3.srv;requestor=root@srv\n01/01/2000 00:00:04;Q")
		e.Replicas[0].Holds = nil
	}
	passed := Period{50, 104}
	return map[string]func(e *Evidence){
		"an alteration to an end that has passed ends it": func(e *Evidence) {
			goOn(e, Stage{Clock: 104, State: "AL", Period: far, Want: passed, Nodes: nodes, Left: 1, By: []string{"AlterReservation"}},
				Stage{Clock: 104, By: []string{"DecideReservation"}})
			e.History = append(e.History, Op{Kind: AlterReservation, Job: "R3.srv", Attr: "reserve_duration", Value: "54", Answer: "CONFIRMED", Result: Done})
		},
		"so does one by force": func(e *Evidence) {
			goOn(e, Stage{Clock: 104, By: []string{"AlterReservation"}, Made: []Period{passed}})
			e.History = append(e.History, Op{Kind: AlterReservation, Job: "R3.srv", Attr: "reserve_duration", Value: "54", Answer: "CONFIRMED", Result: Done})
		},
		"the clock of the log goes over its start and its end at once": func(e *Evidence) {
			goOn(e, Stage{At: time.Hour, Clock: 9000})
			e.line("01/01/2000 00:00:04;K;R3", "01/01/2000 02:00:00;B;R3.srv;name=three start=4000 end=4060 nodes=(host1:ncpus=2)\n01/01/2000 00:00:04;K;R3")
		},
		"a maintenance takes its vnode": func(e *Evidence) {
			e.Bookings[2].Stages = append(e.Bookings[2].Stages, Stage{Clock: 104, State: "DG", Period: far, Left: 1, Taken: true})
			e.Replicas[0].Holds[0].Nodes, e.Replicas[0].Holds[0].Taken = "", true
		},
		"and gives it back": func(e *Evidence) {
			e.Bookings[2].Stages = append(e.Bookings[2].Stages, Stage{Clock: 104, State: "DG", Period: far, Left: 1, Taken: true},
				Stage{Clock: 105, State: "CO", Period: far, Nodes: nodes, Left: 1})
		},
		"a job runs already when one is made of it": func(e *Evidence) {
			e.History[3].Queue, e.Runs[0].Start = "", 9*time.Second
			e.History = append(e.History, Op{Kind: Reserve, Name: "one", Job: "R1.srv", Attr: OfRunning, Value: "4.srv", Answer: "CONFIRMED", Result: Done, End: 10 * time.Second})
		},
	}
}

func TestReservations(t *testing.T) {
	for _, law := range append(Reservations(), LegalMoves) {
		if got := law.Judge(kept()); len(got) > 0 {
			t.Errorf("%s: %q of a good run", law.Name, got)
		}
	}
	for name, edit := range fair() {
		e := kept()
		edit(e)
		for _, law := range Reservations() {
			if got := law.Judge(e); len(got) > 0 {
				t.Errorf("%s, %s: %q of a good run", name, law.Name, got)
			}
		}
	}
	stages := func(e *Evidence, n int) []Stage { return e.Bookings[n].Stages }
	for _, c := range []struct {
		name string
		law  Law
		edit func(e *Evidence)
	}{
		{"it moved by itself", ReservationsKept, func(e *Evidence) { stages(e, 0)[2].Nodes = "(host2:ncpus=2)" }},
		{"it was shortened by itself", ReservationsKept, func(e *Evidence) { stages(e, 0)[2].End = 112 }},
		{"it went before its end", ReservationsKept, func(e *Evidence) { stages(e, 0)[3] = Stage{Clock: 113} }},
		{"a confirmed one was denied", ReservationsKept, func(e *Evidence) { stages(e, 0)[2] = Stage{Clock: 105, By: []string{"DecideReservation"}} }},
		{"it began anew", LegalReservationMoves, func(e *Evidence) { stages(e, 0)[3].State = "UN" }},
		{"it ended and goes on", LegalReservationMoves, func(e *Evidence) { stages(e, 0)[4].State = "RN" }},
		{"it was denied after its start", LegalReservationMoves, func(e *Evidence) { stages(e, 0)[1].State, stages(e, 0)[2].State = "RN", "UN" }},
		{"it came back", ReservationsKept, func(e *Evidence) { stages(e, 0)[3].State = "" }},
		{"an occurrence was left out", ReservationsKept, func(e *Evidence) {
			for i := range stages(e, 0)[:3] {
				stages(e, 0)[i].Left = 3
			}
			stages(e, 0)[3].Clock = 112
		}},
		{"it began late", ReservationsOnTime, func(e *Evidence) { stages(e, 0)[1].Due, stages(e, 0)[2].At = 1, latest+2 }},
		{"it began early", ReservationsOnTime, func(e *Evidence) { stages(e, 0)[2].Clock = 109 }},
		{"it ended late", ReservationsOnTime, func(e *Evidence) { stages(e, 0)[2].Due, stages(e, 0)[3].At = 1, latest+2 }},
		{"it never began", ReservationsOnTime, func(e *Evidence) { stages(e, 2)[1].Due, e.Bookings[2].Seen = 1, latest+2 }},
		{"it has other times than an alteration asked for", ReservationsKept, func(e *Evidence) {
			e.Bookings[2].Stages = append(stages(e, 2),
				Stage{Clock: 104, State: "AL", Period: far, Want: Period{4000, 4070}, Nodes: nodes, Left: 1, By: []string{"AlterReservation"}},
				Stage{Clock: 104, State: "CO", Period: Period{4000, 4080}, Nodes: nodes, Left: 1, By: []string{"DecideReservation"}})
		}},
		{"it was altered to an end ahead, and ended", ReservationsKept, func(e *Evidence) {
			e.Bookings[2].Stages = append(stages(e, 2), Stage{Clock: 104, By: []string{"AlterReservation"}, Made: []Period{{4000, 4070}}})
		}},
		{"its jobs were ended before it was over", ReservationsKept, func(e *Evidence) {
			e.Bookings[2].Stages = append(stages(e, 2), Stage{Clock: 104, State: "BD", Period: far, Nodes: nodes, Left: 1})
		}},
		{"it has more than a maintenance has left", ReservationsKept, func(e *Evidence) {
			e.Bookings[2].Stages = append(stages(e, 2), Stage{Clock: 104, State: "DG", Period: far, Nodes: "(host1:ncpus=2)+(host2:ncpus=2)", Left: 1, Taken: true})
		}},
		{"it was said to be removed", ReservationsTold, func(e *Evidence) { e.History[2].Answer = "FAILED" }},
		{"a job was said to be moved", ReservationsTold, func(e *Evidence) {
			e.History = append(e.History, Op{Kind: MoveInside, Job: "4.srv", Queue: "R1", Result: Done})
		}},
		{"a job was said to be in the one that waited for it", ReservationsTold, func(e *Evidence) {
			e.History[2].Attr, e.History[2].Value = OfQueued, "4.srv"
		}},
		{"it was made twice", ReservationsTold, func(e *Evidence) { e.Bookings[1].Name = "one" }},
		{"it was refused and made", ReservationsTold, func(e *Evidence) { e.History[1].Result = Refused }},
		{"it has other times than were asked for", ReservationsTold, func(e *Evidence) { e.History[0].Period.End = 120 }},
		{"it was said to be confirmed", ReservationsTold, func(e *Evidence) { e.History[1].Answer = "CONFIRMED" }},
		{"it was said to be deleted", ReservationsTold, func(e *Evidence) {
			e.History = append(e.History, Op{Kind: DeleteReservation, Job: "R3.srv", Result: Done})
		}},
		{"it was said to be altered", ReservationsTold, func(e *Evidence) {
			e.History = append(e.History, Op{Kind: AlterReservation, Job: "R1.srv", Attr: "reserve_duration", Value: "7", Answer: "CONFIRMED", Result: Done})
		}},
		{"there is no U", ReservationsAccounted, func(e *Evidence) { e.line("01/01/2000 00:00:01;U;R1.srv;requestor=ann@c1\n", "") }},
		{"there are two U", ReservationsAccounted, func(e *Evidence) { e.line(";Y;R1.srv", ";U;R1.srv") }},
		{"there is no Y", ReservationsAccounted, func(e *Evidence) {
			e.line("01/01/2000 00:00:01;Y;R1.srv;requestor=Scheduler@srv start=110 end=115 nodes=(host1:ncpus=2)\n", "")
		}},
		{"there is no K", ReservationsAccounted, func(e *Evidence) { e.line("01/01/2000 00:00:15;K;R1.srv;requestor=root@srv\n", "") }},
		{"there are two K", ReservationsAccounted, func(e *Evidence) {
			e.line("01/01/2000 00:00:15;K;", "01/01/2000 00:00:15;k;R1.srv;requestor=ann@c1\n01/01/2000 00:00:15;K;")
		}},
		{"there are two B", ReservationsAccounted, func(e *Evidence) {
			b := "01/01/2000 00:00:10;B;R1.srv;owner=ann@c1 name=one queue=R1 ctime=101 start=110 end=115 duration=5 nodes=(host1:ncpus=2)\n"
			e.line(b, b+b)
		}},
		{"one that began has none", ReservationsAccounted, func(e *Evidence) {
			e.line("01/01/2000 00:00:10;B;R1.srv;owner=ann@c1 name=one queue=R1 ctime=101 start=110 end=115 duration=5 nodes=(host1:ncpus=2)\n", "")
		}},
		{"it began elsewhere", ReservationsAccounted, func(e *Evidence) { e.line("duration=5 nodes=(host1", "duration=5 nodes=(host2") }},
		{"it began at another time", ReservationsAccounted, func(e *Evidence) { e.line("ctime=101 start=110", "ctime=101 start=111") }},
		{"K of one that is left", ReservationsAccounted, func(e *Evidence) {
			e.line("01/01/2000 00:00:04;Q", "01/01/2000 00:00:03;k;R3.srv;requestor=ann@c1\n01/01/2000 00:00:04;Q")
		}},
		{"a confirmed one is missing at the end", ReservationsAccounted, func(e *Evidence) { e.Replicas[0].Holds = nil }},
		{"one has other vnodes at the end", ReservationsAccounted, func(e *Evidence) { e.Replicas[0].Holds[0].Nodes = "(host2:ncpus=2)" }},
		{"a job is lost", InsideJobs, func(e *Evidence) { e.Replicas[0].Jobs = nil }},
		{"a job is there twice", InsideJobs, func(e *Evidence) {
			e.Replicas[0].Jobs = append(e.Replicas[0].Jobs, Job{ID: "5.srv", Name: "four", State: "F"})
		}},
		{"a job stays", InsideJobs, func(e *Evidence) { e.Replicas[0].Jobs[0].State = "Q" }},
		{"a job was not accounted for", InsideJobs, func(e *Evidence) { e.line(";E;4.srv", ";S;4.srv") }},
		{"a job ran early", InsideTheirTime, func(e *Evidence) { e.Runs[0].Start = 9 * time.Second }},
		{"a job ran on", InsideTheirTime, func(e *Evidence) { e.Runs[0].End = 45 * time.Second }},
		{"a job runs for ever", InsideTheirTime, func(e *Evidence) { e.Runs[0].End = Never }},
		{"a job that came in ran early", InsideTheirTime, func(e *Evidence) {
			e.History[3].Queue, e.Runs[0].Start = "", 9*time.Second
			e.History = append(e.History, Op{Kind: MoveInside, Job: "4.srv", Queue: "R1", Result: Done, End: 8 * time.Second})
		}},
		{"a job that came in ran on", InsideTheirTime, func(e *Evidence) {
			e.History[3].Queue, e.Runs[0].Start, e.Runs[0].End = "", 9*time.Second, 45*time.Second
			e.History = append(e.History, Op{Kind: Reserve, Job: "R1.srv", Attr: OfRunning, Value: "4.srv", Answer: "CONFIRMED", Result: Done, End: 10 * time.Second})
		}},
		{"a job ran in none", InsideTheirTime, func(e *Evidence) { e.Bookings = slices.Delete(e.Bookings, 0, 1) }},
		{"no job ran", Reserved, func(e *Evidence) { e.Runs = nil }},
		{"none was denied", Denied, func(e *Evidence) { e.Bookings = slices.Delete(e.Bookings, 1, 2) }},
		{"nothing was late", MadeGood, func(*Evidence) {}},
	} {
		e := kept()
		c.edit(e)
		if got := c.law.Judge(e); len(got) == 0 {
			t.Errorf("%s: nothing is said", c.name)
		}
	}
}
