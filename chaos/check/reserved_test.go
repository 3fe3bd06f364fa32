package check

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// kept is a run with a reservation that was asked for, confirmed, began, had a job, and ended; one that was denied; and one that is
// far off.
func kept() *Evidence {
	const (
		decide = "DecideReservation"
		nodes  = "(host1:ncpus=2)"
	)
	soon, far := Period{110, 115}, Period{4000, 4060}
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

func TestReservations(t *testing.T) {
	for _, law := range append(Reservations(), LegalMoves) {
		if got := law.Judge(kept()); len(got) > 0 {
			t.Errorf("%s: %q of a good run", law.Name, got)
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
		{"it began late", ReservationsOnTime, func(e *Evidence) { stages(e, 0)[2].Clock = 160 }},
		{"it began early", ReservationsOnTime, func(e *Evidence) { stages(e, 0)[2].Clock = 109 }},
		{"it ended late", ReservationsOnTime, func(e *Evidence) { stages(e, 0)[3].Clock = 160 }},
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
		{"a job ran in none", InsideTheirTime, func(e *Evidence) { e.Bookings = slices.Delete(e.Bookings, 0, 1) }},
		{"no job ran", Reserved, func(e *Evidence) { e.Runs = nil }},
		{"none was denied", Reserved, func(e *Evidence) { e.Bookings = slices.Delete(e.Bookings, 1, 2) }},
		{"nothing was late", MadeGood, func(*Evidence) {}},
	} {
		e := kept()
		c.edit(e)
		if got := c.law.Judge(e); len(got) == 0 {
			t.Errorf("%s: nothing is said", c.name)
		}
	}
}
