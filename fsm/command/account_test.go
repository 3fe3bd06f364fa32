package command

import (
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// What the directory told of owners of jobs is kept while they have jobs; what is forgotten
// counts no more, whoever still believes it.
func TestAccounts_KnownAndForgotten(t *testing.T) {
	w := newWriter(t)
	submit := func(name string, told pbs.Time) pbs.JobID {
		id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
		w.must(&SubmitJob{Owner: pbs.User{Name: name, Host: "login1"}, Account: &state.Account{
			Name: name, UID: 1000, GID: 100, Groups: []string{"users"}, GIDs: []uint32{100}, Told: told,
		}})
		return id
	}
	told := func(name string) pbs.Time {
		a, ok := w.View().Account(name)
		if !ok {
			return -1
		}
		return a.Told
	}
	day := pbs.Time(24 * time.Hour)
	pass := func(days pbs.Time) {
		for range 48 * days {
			w.at += day / 48
			w.must(&TimeTick{})
		}
	}
	pass(2)
	first := submit("ann", w.at)
	if told("ann") != w.at || !w.View().OwnsJobs("ann") || w.View().OwnsJobs("an") {
		t.Fatalf("ann is known since %d, now %d", told("ann"), w.at)
	}
	submit("ann", w.at-day) // a replica that knows an older answer
	if told("ann") != w.at {
		t.Errorf("an older answer counts: %d", told("ann"))
	}
	w.must(&ForgetAccount{Name: "ann"})
	submit("ann", w.at-1) // by a replica that was told before
	if a, ok := w.View().Account("ann"); !ok || a.Told != 0 || a.Forgotten <= w.at {
		t.Errorf("forgotten: %+v", a)
	}
	pass(1)
	submit("ann", w.at)
	if a, _ := w.View().Account("ann"); a.Told != w.at || a.Forgotten == 0 {
		t.Errorf("told again: %+v", a)
	}
	w.must(&DeleteJob{Job: submit("bob", w.at)})
	pass(3)
	submit("eve", w.at)
	if told("bob") != -1 || told("ann") == -1 || first == "" {
		t.Errorf("after three days: bob, who has no jobs, %d; ann, who has, %d", told("bob"), told("ann"))
	}
}
