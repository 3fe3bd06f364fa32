package cluster_test

import (
	"strconv"
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
	"rampart/transport/build"
)

// A job that waits for a time is queued at that time, not at the next tick, by whoever
// leads then.
func TestWake_AtItsTime(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		w.until("the feature level", time.Minute, func() bool {
			return w.leader() != nil
		})
		due := time.Now().Truncate(time.Second).Add(14 * time.Second)
		id := submitFor(t, w.leader(), due)
		submitFor(t, w.leader(), due.Add(time.Hour))
		w.leader().kill()
		w.until("another leader", 10*time.Second, func() bool { return w.leader() != nil })
		state := func() pbs.JobState {
			j, _ := w.leader().machine.View().Job(id)
			return j.State
		}
		<-time.After(time.Until(due) - 10*time.Millisecond)
		if s := state(); s != pbs.Waiting {
			t.Errorf("before its time the job is %s", s)
		}
		<-time.After(150 * time.Millisecond)
		if s := state(); s != pbs.Queued {
			t.Errorf("after its time the job is %s", s)
		}
	})
}

// A reservation that has lost a vnode looks for another at its time, not at the next tick.
func TestWake_ReservationLooksForOthers(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("an hour of heartbeats: short tests play it without the race detector")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		w.until("the feature level", time.Minute, func() bool {
			return w.leader() != nil
		})
		m := w.leader()
		start := pbs.Time(time.Now().Add(time.Hour).UnixNano())
		do := func(c command.Command) {
			t.Helper()
			if out, err := m.replica.Propose(t.Context(), command.Proposal{ID: request(), Asker: pbs.User{Name: "ann", Host: "h"}, Commands: []command.Command{c}}); err != nil || out.Refusal != nil {
				t.Fatalf("%T: %v, %v", c, err, out.Refusal)
			}
		}
		offline := &command.ManageVnode{Verb: command.VerbSet, Vnode: "hosta", Changes: []command.AttrChange{{Op: command.OpIncrease, Entry: attr.Entry{Name: "state", Value: "offline"}}}}
		do(&command.HostUp{Host: "hosta", Address: "x:1", BootID: "b", SpoolID: "hosta", Vnodes: []command.ReportedVnode{
			{Name: "hosta", Available: resource.List{}.Set("ncpus", "8")},
		}})
		do(&command.Reserve{Owner: pbs.User{Name: "ann", Host: "h"}, Starts: []pbs.Time{start}, Length: pbs.Time(time.Minute), Attributes: attr.List{}.Set("Resource_List", "select", "1:ncpus=8")})
		get := func() *state.Reservation {
			for r := range m.machine.View().Reservations() {
				return r
			}
			t.Fatal("there is no reservation")
			return nil
		}
		do(&command.DecideReservation{Reservation: get().ID, Asked: get().Asked, Nodes: []string{"(hosta:ncpus=8)"}})
		do(offline)
		retry := get().Retry
		if retry == 0 {
			t.Fatalf("it is %d", get().State)
		}
		<-time.After(time.Until(time.Unix(0, int64(retry))) - 10*time.Millisecond)
		if get().Undecided(m.machine.View().Now()) {
			t.Error("before its time others are looked for")
		}
		<-time.After(150 * time.Millisecond)
		if !get().Undecided(m.machine.View().Now()) {
			t.Error("after its time nothing is looked for")
		}
	})
}

func submitFor(t *testing.T, m *server, at time.Time) pbs.JobID {
	t.Helper()
	list := attr.List(nil).Set("Execution_Time", "", strconv.FormatInt(at.Unix(), 10))
	out, err := m.replica.Propose(t.Context(), command.Proposal{
		ID: request(), Asker: pbs.User{Name: "ann", Host: "h"},
		Commands: []command.Command{&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: list}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Result.Job
}
