package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// BenchmarkReservation_Standing is the life of a standing reservation of 2,000 times and 20 vnodes, beside another such.
func BenchmarkReservation_Standing(b *testing.B) {
	const times, vnodes = 2000, 20
	w := newWriter(b)
	w.at = pbs.Time(1e18)
	run := func(c Command) state.Result {
		w.index++
		out, _ := Run(w.Store, w.index, 1, Entry{Time: w.at, Proposals: []Proposal{{Asker: ann, Commands: []Command{c}}}})
		w.Publish()
		if err := out[0].Err(); err != nil {
			b.Fatalf("%T: %v", c, err)
		}
		return out[0].Result
	}
	run(&TermStarted{Leader: "s1"})
	var nodes []string
	for n := range vnodes {
		run(&HostUp{Host: host(n), Address: string(host(n)) + ":1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{
			{Name: pbs.VnodeName(host(n)), Available: resource.List{}.Set("ncpus", "64")},
		}})
		nodes = append(nodes, fmt.Sprintf("(%s:ncpus=8)", host(n)))
	}
	ask := func() pbs.ReservationID {
		c := &Reserve{
			Owner: ann, Length: pbs.Time(time.Hour), Rule: "FREQ=DAILY;COUNT=2000", Zone: "UTC",
			Attributes: attr.List{}.Set("Resource_List", "select", fmt.Sprintf("%d:ncpus=8", vnodes)).Set("Authorized_Users", "", "ann@login"),
		}
		for n := range times {
			c.Starts = append(c.Starts, w.at+pbs.Time(time.Hour)+pbs.Time(n)*pbs.Time(24*time.Hour))
		}
		return run(c).Reservation
	}
	confirm := func(id pbs.ReservationID) {
		r, _ := w.View().Reservation(id)
		c := &DecideReservation{Reservation: id, Asked: r.Asked}
		for range times {
			c.Nodes = append(c.Nodes, strings.Join(nodes, "+"))
		}
		run(c)
	}
	confirm(ask())
	b.Run("confirm", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			id := ask()
			b.StartTimer()
			confirm(id)
			b.StopTimer()
			run(&DeleteReservation{Reservation: id})
			b.StartTimer()
		}
	})
	confirm(ask())
	b.Run("occurrence", func(b *testing.B) { // both begin and end once
		for b.Loop() {
			w.at += pbs.Time(12 * time.Hour)
			run(&TermStarted{Leader: "s1"}) // which may move the clock far
			run(&TimeTick{})
		}
	})
	b.Run("name", func(b *testing.B) {
		var id pbs.ReservationID
		for r := range w.View().Reservations() {
			id = r.ID
		}
		for b.Loop() {
			run(&AlterReservation{Reservation: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "Reserve_Name", Value: "other"}}}})
		}
	})
}
