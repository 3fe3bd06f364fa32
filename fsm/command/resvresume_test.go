package command

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// A job that was suspended ends later by as long. It does not go on where it would reach into a reservation, whoever resumes it (L15), and
// does once that is out of its way.
func TestReservation_ResumedJobs(t *testing.T) {
	for _, signal := range []string{Suspend, AdminSuspend} {
		for place, want := range map[string]string{"shared": "vnode hosta is reserved: ", "excl": "vnode hosta is reserved: "} {
			w := newReserving(t)
			id, err := w.submit("workq", "(hosta:ncpus=6)", "select", "1:ncpus=6", "place", place, "walltime", "100")
			if err != nil {
				t.Fatal(err)
			}
			h, _ := w.View().Host("hosta")
			w.do(&JobStarted{Source: Source{Host: "hosta", Spool: "hosta", Seq: h.Acked + 1}, Job: id, RunCount: 1, Session: 7})
			first := w.confirmed(110, 60, "1:ncpus=4", "", "(hosta:ncpus=4)")
			resume := func() error {
				if signal == AdminSuspend {
					_, err := w.run(&SignalJob{Job: id, Signal: AdminResume})
					return err
				}
				w.do(&SignalJob{Job: id, Signal: Resume})
				_, err := w.run(&SignalJob{Job: id, Signal: Resume, Scheduled: true})
				return err
			}
			w.do(&SignalJob{Job: id, Signal: signal})
			for o := range w.View().Orders("hosta") {
				if o.Signal == signal {
					w.do(&OrderConfirmed{Host: "hosta", Order: o.ID})
				}
			}
			w.after(30)
			if err := resume(); pbs.CodeOf(err) != pbs.ResourceBusy || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s, %s: it goes on into the reservation: %v", signal, place, err)
			}
			if j, _ := w.View().Job(id); !j.Suspended() {
				t.Errorf("%s, %s: it is not suspended any more", signal, place)
			}
			w.do(&DeleteReservation{Reservation: first})
			if err := resume(); err != nil {
				t.Errorf("%s, %s: nothing is reserved any more, and it does not go on: %v", signal, place, err)
			}
		}
	}
}
