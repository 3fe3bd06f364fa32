package sched_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// Reservations are decided before jobs start, and logged as in PBS. None is denied for another one that is gone since.
func TestLoop_DecidesReservations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newClock(t).three()
		b.scheduler("log_events=4095")
		l := &leader{bench: b.bench, changed: make(chan struct{})}
		gone := b.reserve("select=1:ncpus=1", 60, 600)
		first := b.reserve("select=3:ncpus=8 place=scatter", 60, 600)
		second := b.reserve("select=1:ncpus=9", 60, 600)
		old := stale{l, l.View()}
		b.must(&command.DeleteReservation{Reservation: gone})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		job := b.in("", "select=1:ncpus=1 walltime=3600")
		for _, source := range []sched.Source{old, l} {
			loop := sched.New(sched.Options{Source: source, Proposer: l, Log: l, Asker: pbs.User{Name: "Scheduler", Host: "hosta"}, Logger: slog.New(slog.DiscardHandler)})
			if err := loop.Run(ctx); err != nil {
				t.Error(err)
			}
		}
		if b.given(first) != "CO (hosta:ncpus=8)+(hostb:ncpus=8)+(hostc:ncpus=8)" || b.given(second) != "gone" {
			t.Errorf("%s, %s", b.given(first), b.given(second))
		}
		if got := l.state(job); got != "Q" { // it would still run when the first begins
			t.Errorf("the job is %s", got)
		}
		for _, want := range []string{
			"Resv;R0.srv;Confirming 1 Occurrences", "Resv;R0.srv;Not decided: Unknown Reservation Id",
			"Resv;R1.srv;Reservation Confirmed",
			"Node;R2.srv;Failed to satisfy subchunk: 1:ncpus=9", "Resv;R2.srv;PBS Failed to confirm resv: Insufficient amount of resource: ncpus ",
		} {
			if !slices.Contains(l.lines, want) {
				t.Errorf("no %q in\n%s", want, strings.Join(l.lines, "\n"))
			}
		}
	})
}
