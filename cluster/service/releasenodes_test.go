package service

import (
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// Of several reasons to refuse a release the first of the table is told (specification:
// ramp-down section 4, rows 7 to 14).
func TestReleaseNodes_Refusals(t *testing.T) {
	w := newSpreadJob(t)
	queued := w.mustSubmit("ann@hosta", set("Resource_List.select", "2:ncpus=4"))
	array := w.mustSubmit("ann@hosta", set("array_indices_submitted", "1-3"))
	for _, c := range []struct {
		what, by, job, vnodes, keep string
		want                        pbs.Code
	}{
		{"a place, of no job", "ann@hosta", "99", "", "place=scatter", pbs.InvalidRequest},
		{"a malformed select, of no job", "ann@hosta", "99", "", "select=2:", pbs.BadSelect},
		{"an unknown resource, of no job", "ann@hosta", "99", "", "select=nosuch=1", pbs.UnknownJob},
		{"no job", "ann@hosta", "99", "", "", pbs.UnknownJob},
		{"a reservation", "bob@hosta", "R1", "", "", pbs.UnknownJob},
		{"a reservation's full id", "bob@hosta", "S1.srv", "", "2", pbs.UnknownJob},
		{"another's array", "bob@hostx", array, "", "", pbs.Unauthorized},
		{"an array", "ann@hosta", array, "", "", pbs.NotSupported},
		{"a range of subjobs", "ann@hosta", "2[1-2]", "", "", pbs.NotSupported},
		{"another's queued job", "bob@hostx", queued, "", "", pbs.Unauthorized},
		{"a queued job", "ann@hosta", queued, "", "select=nosuch=1", pbs.BadState},
		{"an unknown resource", "ann@hosta", w.id, "", "select=nosuch=1", pbs.UnknownResource},
		{"names of no vnodes", "ann@hosta", w.id, "hostb+", "", pbs.SystemError},
	} {
		_, err := w.Batch.ReleaseNodes(w.as(c.by), request(&api.ReleaseNodesRequest{Job: c.job, Vnodes: c.vnodes, Keep: c.keep}, ""))
		if pbs.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want code %v", c.what, err, c.want)
		}
	}
}

// A job whose first line gives vnodes back is heard before its start is known here: the release
// waits for that, and is refused only if it does not come.
func TestReleaseNodes_WaitsForTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStartingJob(t)
		refused := w.release()
		w.waits(refused)
		time.Sleep(startedWithin)
		w.answered(refused, pbs.BadState)
		release := w.release()
		w.waits(release)
		w.started()
		w.waits(release)
		if kinds := w.open(); len(kinds) != 1 || kinds[0] != state.OrderRelease {
			t.Fatalf("open orders of kinds %v", kinds)
		}
		w.confirm()
		w.answered(release, 0)
	})
}
