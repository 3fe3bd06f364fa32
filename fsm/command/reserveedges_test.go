package command

import (
	"fmt"
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

func sec(n int) pbs.Time { return pbs.Time(time.Duration(n) * time.Second) }

// offers has a vnode offer so many cpus from now on.
func (w *reserving) offers(v pbs.VnodeName, cpus string) {
	w.t.Helper()
	w.do(&ManageVnode{Verb: VerbSet, Vnode: v, Changes: []AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "ncpus", Value: cpus}}}})
}

func (w *reserving) offline(v pbs.VnodeName, on bool) {
	w.t.Helper()
	op := OpIncrease
	if !on {
		op = OpDecrease
	}
	w.do(&ManageVnode{Verb: VerbSet, Vnode: v, Changes: []AttrChange{{Op: op, Entry: attr.Entry{Name: "state", Value: "offline"}}}})
}

// standing is a confirmed reservation of 4 cpus, 20 s long at each of some moments.
func (w *reserving) standing(nodes string, at ...int) pbs.ReservationID {
	w.t.Helper()
	var starts []pbs.Time
	var all []string
	for _, n := range at {
		starts, all = append(starts, w.in(n)), append(all, nodes)
	}
	id := w.do(&Reserve{
		Owner: ann, Starts: starts, Length: sec(20), Rule: "FREQ=MINUTELY;COUNT=9", Zone: "UTC",
		Attributes: attr.List{}.Set("Resource_List", "ncpus", "4").Set("Authorized_Users", "", "ann@login"),
	}).Reservation
	if err := w.decide(id, all...); err != nil {
		w.t.Fatal(err)
	}
	return id
}

// TestReservation_PutOffWhileAJobCame: an alteration to a later start is denied when a job has started since it was asked.
func TestReservation_PutOffWhileAJobCame(t *testing.T) {
	w := newReserving(t)
	id := w.confirmed(0, 600, "1:ncpus=4", "", "(hosta:ncpus=4)")
	w.do(&AlterReservation{Reservation: id, Start: w.in(3600), Length: sec(60)})
	if _, err := w.submit(id.Queue(), "(hosta:ncpus=4)", "select", "1:ncpus=4"); err != nil {
		t.Fatal(err)
	}
	if err := w.decide(id, "(hosta:ncpus=4)"); err != nil {
		t.Fatal(err)
	}
	w.wantState(id, pbs.ResvRunning, pbs.ResvRunning)
	if v, _ := w.View().Vnode("hosta"); len(v.Reserved) != 1 {
		t.Errorf("the job runs, and its reservation has %v of the vnode", v.Reserved)
	}
}

// TestReservation_VnodesShrink: what is promised for later, and beside one that is well again, may not fit any more; the state can
// be checked and read back all the same.
func TestReservation_VnodesShrink(t *testing.T) {
	w := newReserving(t)
	w.confirmed(1000, 20, "1:ncpus=4", "", "(hosta:ncpus=4)")
	w.standing("(hosta:ncpus=4)", 100, 1000)
	w.offers("hosta", "4")
	if err := w.View().CheckContent(); err != nil {
		t.Errorf("it cannot be read back: %v", err)
	}
	w.offers("hosta", "8")
	if v, _ := w.View().Vnode("hosta"); v.OverPromised {
		t.Error("the vnode has all that is promised, and is still over-promised")
	}
	w.confirmed(2000, 20, "2:ncpus=4", "", "(hosta:ncpus=4)+(hostb:ncpus=4)")
	last := w.confirmed(2000, 20, "1:ncpus=4", "", "(hostb:ncpus=4)")
	w.offline("hosta", true)
	w.offers("hostb", "4")
	w.wantState(last, pbs.ResvConfirmed, pbs.ResvConfirmed)
	w.offline("hosta", false)
	w.wantState(last, pbs.ResvDegraded, pbs.ResvDegraded)
}

// TestReservation_LastConfirmedGoesFirst: of two that a vnode has become too small for, the one is lost that was confirmed last,
// whichever was asked for first.
func TestReservation_LastConfirmedGoesFirst(t *testing.T) {
	w := newReserving(t)
	waited := w.reserve(1000, 20, "1:ncpus=4", "")
	first := w.confirmed(1000, 20, "1:ncpus=4", "", "(hosta:ncpus=4)")
	if err := w.decide(waited, "(hosta:ncpus=4)"); err != nil {
		t.Fatal(err)
	}
	w.offers("hosta", "4")
	w.wantState(first, pbs.ResvConfirmed, pbs.ResvConfirmed)
	w.wantState(waited, pbs.ResvDegraded, pbs.ResvDegraded)
	w.offers("hosta", "8")
	w.wantState(waited, pbs.ResvConfirmed, pbs.ResvConfirmed)
	w.do(&AlterReservation{Reservation: first, Length: sec(30)})
	if err := w.decide(first, "(hosta:ncpus=4)"); err != nil { // it was promised anew
		t.Fatal(err)
	}
	w.offers("hosta", "4")
	w.wantState(waited, pbs.ResvConfirmed, pbs.ResvConfirmed)
	w.wantState(first, pbs.ResvDegraded, pbs.ResvDegraded)
}

// TestReservation_LostWhileAltered: one that lost a vnode while its alteration was open is degraded when that is denied.
func TestReservation_LostWhileAltered(t *testing.T) {
	w := newReserving(t)
	id := w.confirmed(1000, 20, "1:ncpus=4", "", "(hosta:ncpus=4)")
	w.do(&AlterReservation{Reservation: id, Length: sec(90)})
	w.offline("hosta", true)
	if err := w.decide(id); err != nil {
		t.Fatal(err)
	}
	w.wantState(id, pbs.ResvDegraded, pbs.ResvDegraded)
}

// TestReservation_OfJobThatGrew: a job whose walltime was made longer keeps no vnodes that others are to have (L15), and starts
// though it asks for a reservation of its own.
func TestReservation_OfJobThatGrew(t *testing.T) {
	w := newReserving(t)
	job, err := w.submit("workq", "(hosta:ncpus=4)", "select", "1:ncpus=4", "walltime", "100")
	if err != nil {
		t.Fatal(err)
	}
	w.confirmed(500, 20, "1:ncpus=8", "", "(hosta:ncpus=8)")
	w.do(&AlterJob{Job: job, Changes: []AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "walltime", Value: "1000"}}}})
	if _, err = w.run(&Reserve{Owner: ann, Job: job, Attributes: attr.List{}.Set("Authorized_Users", "", "ann@login")}); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("a reservation of the job: %v", err)
	}
}

// TestReservation_LaterOccurrenceTaken: what a maintenance takes of a later occurrence is looked for when that comes next.
func TestReservation_LaterOccurrenceTaken(t *testing.T) {
	w := newReserving(t)
	id := w.standing("(hosta:ncpus=4)", 100, 1000, 3000)
	w.do(&Reserve{
		Owner: ann, Starts: []pbs.Time{w.in(990)}, Length: sec(100), Hosts: []string{"hosta"},
		Attributes: attr.List{}.Set("Authorized_Users", "", "ann@login"),
	})
	w.wantState(id, pbs.ResvConfirmed, pbs.ResvConfirmed)
	w.after(100)
	w.after(20)
	w.wantState(id, pbs.ResvDegraded, pbs.ResvDegraded)
	if w.resv(id).Retry == 0 {
		t.Error("nobody looks for other vnodes")
	}
}

// TestReservation_LongWalltimes: no number of seconds is too great to be added to a time.
func TestReservation_LongWalltimes(t *testing.T) {
	w := newReserving(t)
	w.confirmed(500, 20, "1:ncpus=8", "", "(hosta:ncpus=8)")
	for _, walltime := range []string{"1000", "9300000000", "20000000000"} {
		if _, err := w.submit("workq", "(hosta:ncpus=4)", "select", "1:ncpus=4", "walltime", walltime); err == nil {
			t.Errorf("a job of %s s walks over a reservation", walltime)
		}
	}
	if got := state.Span(1 << 62); got <= 0 || w.at+got < w.at {
		t.Errorf("so many seconds last %d", got)
	}
}

// TestReservation_OccurrencesMissed: those that were over before anybody could begin them are accounted, and cost next to nothing.
func TestReservation_OccurrencesMissed(t *testing.T) {
	w := newReserving(t)
	id := w.standing("(hosta:ncpus=4)", 100, 200, 300, 400)
	w.after(350)
	w.wantState(id, pbs.ResvConfirmed, pbs.ResvConfirmed)
	if got := w.records(id); got != "UYBBB" || w.resv(id).Index() != 4 {
		t.Errorf("records %s, the next occurrence is %d", got, w.resv(id).Index())
	}
	w.after(1000)
	w.wantGone(id)
	if got := w.records(id); got != "UYBBBBK" {
		t.Errorf("records %s, want UYBBBBK", got)
	}
}

// TestReservation_MaintenanceOnce: a maintenance has one time.
func TestReservation_MaintenanceOnce(t *testing.T) {
	w := newReserving(t)
	_, err := w.run(&Reserve{
		Owner: ann, Starts: []pbs.Time{w.in(100), w.in(1000)}, Length: sec(20), Hosts: []string{"hosta"},
		Attributes: attr.List{}.Set("Authorized_Users", "", "ann@login"),
	})
	if pbs.CodeOf(err) != pbs.BadTimes {
		t.Errorf("a maintenance that recurs: %v", err)
	}
}

// TestReservation_TooMany: a standing reservation has so many chunks at most, over all of its occurrences.
func TestReservation_TooMany(t *testing.T) {
	for _, c := range []struct {
		times, chunks int
		taken         bool
	}{{4, 25_000, true}, {4, 25_001, false}, {1, 100_001, true}, {5000, 20, true}, {5000, 21, false}} {
		w := newReserving(t)
		ask := &Reserve{Owner: ann, Length: pbs.Time(10 * time.Second), Attributes: attr.List{}.Set("Resource_List", "select", fmt.Sprintf("%d:ncpus=1", c.chunks))}
		for n := range c.times {
			ask.Starts = append(ask.Starts, w.in(100+20*n))
		}
		if _, err := w.run(ask); (err == nil) != c.taken || err != nil && pbs.CodeOf(err) != pbs.BadTimes {
			t.Errorf("%d times %d chunks: %v", c.times, c.chunks, err)
		}
	}
}

// TestReservation_NoTimeTold: an end that no time can tell is refused, not wrapped into the past or the future.
func TestReservation_NoTimeTold(t *testing.T) {
	w := newReserving(t)
	const late = pbs.Time(1 << 62)
	for _, starts := range [][]pbs.Time{{late}, {w.in(100), late}, {late + late/2}} {
		if _, err := w.run(&Reserve{Owner: ann, Starts: starts, Length: late + late/2}); pbs.CodeOf(err) != pbs.BadTimes {
			t.Errorf("starts %v: %v", starts, err)
		}
	}
	id := w.confirmed(100, 60, "1:ncpus=1", "", "(hosta:ncpus=1)")
	for _, c := range []*AlterReservation{{Start: late, Length: late}, {Start: late, Length: late + late/2}, {Start: late, End: w.in(5), Length: late + late/2}} {
		c.Reservation = id
		if _, err := w.run(c); pbs.CodeOf(err) != pbs.BadTimes {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestReservation_PostProcessing: resv_post_processing_time closes what runs so long before its end, and puts nobody who is to
// begin within that time on the list of those that are due, where he would keep others from their turn.
func TestReservation_PostProcessing(t *testing.T) {
	w := newReserving(t)
	ahead := w.confirmed(1800, 600, "1:ncpus=1", "", "(hosta:ncpus=1)")
	runs := w.confirmed(0, 4000, "1:ncpus=1", "", "(hostb:ncpus=1)")
	w.do(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "resv_post_processing_time", Value: "01:00:00"}}}})
	if at, ok := w.View().NextReservation(); !ok || at != w.resv(runs).Start+sec(400) {
		t.Errorf("the next moment is %d, want 400 s after the start", (at - w.resv(runs).Start).Unix())
	}
	var due []pbs.ReservationID
	for r := range w.View().DueReservations(w.in(401)) {
		due = append(due, r.ID)
	}
	if len(due) != 1 || due[0] != runs {
		t.Errorf("due are %v, want %s alone", due, runs)
	}
	w.after(401)
	w.wantGone(runs)
	w.wantState(ahead, pbs.ResvConfirmed, pbs.ResvConfirmed)
}

// TestReservation_HostAlone: one that is to have a whole host has its other vnodes to itself, too: nobody is confirmed there in its
// time, and no job starts that would last until then.
func TestReservation_HostAlone(t *testing.T) {
	w := newReserving(t)
	w.do(&HostUp{Host: "hostd", Address: "x:1", BootID: "b", SpoolID: "hostd", Vnodes: []ReportedVnode{
		{Name: "hostd[0]", Available: resource.List{}.Set("ncpus", "4")}, {Name: "hostd[1]", Available: resource.List{}.Set("ncpus", "4")},
	}})
	w.confirmed(100, 60, "1:ncpus=1", "exclhost", "(hostd[0]:ncpus=1)")
	for _, c := range []struct {
		from int
		fits bool
	}{{60, false}, {159, false}, {160, true}, {40, true}} {
		id := w.reserve(c.from, 60, "1:ncpus=1", "")
		if err := w.decide(id, "(hostd[1]:ncpus=1)"); (err == nil) != c.fits {
			t.Errorf("on the other vnode from %d on: %v, want fits=%t", c.from, err, c.fits)
		}
	}
	for walltime, starts := range map[string]bool{"200": false, "20": true} {
		if _, err := w.submit("workq", "(hostd[1]:ncpus=1)", "walltime", walltime); (err == nil) != starts {
			t.Errorf("a job of %s s on the other vnode: %v, want starts=%t", walltime, err, starts)
		}
	}
}

// TestReservation_ShrunkToReachIt: what a start makes of the walltime counts, shorter or longer.
func TestReservation_ShrunkToReachIt(t *testing.T) {
	w := newReserving(t)
	w.confirmed(600, 60, "1:ncpus=6", "", "(hosta:ncpus=6)")
	for _, c := range []struct {
		has, gets string
		starts    bool
	}{{"", "500", true}, {"500", "7200", false}} {
		list := []string{"select", "1:ncpus=3"}
		if c.has != "" {
			list = append(list, "walltime", c.has)
		}
		id, err := w.submit("workq", "", list...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.run(&StartJob{Job: id, ExecVnode: "(hosta:ncpus=3)", WithinLimits: true, Changes: []AttrChange{
			{Entry: attr.Entry{Name: "Resource_List", Resource: "walltime", Value: c.gets}},
		}})
		if (err == nil) != c.starts {
			t.Errorf("a walltime of %q made %s: %v, want starts=%t", c.has, c.gets, err, c.starts)
		}
	}
}

// TestReservation_RetryInit: the older name of reserve_retry_time counts where that is not set.
func TestReservation_RetryInit(t *testing.T) {
	w := newReserving(t)
	id := w.confirmed(3600, 60, "1:ncpus=8", "", "(hosta:ncpus=8)")
	for _, c := range []struct {
		name  string
		value string
		want  int
	}{{"reserve_retry_init", "5", 5}, {"reserve_retry_time", "50", 50}} {
		w.do(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: c.name, Value: c.value}}}})
		w.offline("hosta", true)
		if got, want := w.resv(id).Retry, w.in(c.want); got < want-sec(1) || got > want+sec(1) {
			t.Errorf("with %s=%s the retry is in %d s", c.name, c.value, (got-w.at)/sec(1))
		}
		w.offline("hosta", false)
	}
}
