package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// reserving is a cluster of three hosts with 8 cpus each, whose clock stands still but for after.
type reserving struct {
	writer
	events []state.Event
}

var ann = pbs.User{Name: "ann", Host: "login"}

func newReserving(t testing.TB) *reserving {
	w := &reserving{writer: *newWriter(t)}
	w.at = pbs.Time(1e18)
	w.do(&TermStarted{Leader: "s1"}) // which may move the clock far
	for _, h := range []pbs.HostName{"hosta", "hostb", "hostc"} {
		w.do(&HostUp{Host: h, Address: "x:1", BootID: "b", SpoolID: string(h), Vnodes: []ReportedVnode{
			{Name: pbs.VnodeName(h), Available: resource.List{}.Set("ncpus", "8").Set("mem", "8gb")},
		}})
	}
	return w
}

// run applies a command of ann's, keeps its events and judges the state.
func (w *reserving) run(c Command) (state.Result, error) {
	w.t.Helper()
	w.index++
	out, events := Run(w.Store, w.index, 1, Entry{Time: w.at + pbs.Time(w.index), Proposals: []Proposal{{Asker: ann, Commands: []Command{c}}}})
	w.events = append(w.events, events...)
	if err := w.Publish().Check(); err != nil {
		w.t.Fatalf("after %T: %v", c, err)
	}
	return out[0].Result, out[0].Err()
}

func (w *reserving) do(c Command) state.Result {
	w.t.Helper()
	res, err := w.run(c)
	if err != nil {
		w.t.Fatalf("%T: %v", c, err)
	}
	return res
}

// after moves the clock on.
func (w *reserving) after(seconds int) {
	w.t.Helper()
	w.at += pbs.Time(time.Duration(seconds) * time.Second)
	w.do(&TermStarted{Leader: "s1"})
	w.do(&TimeTick{})
}

// reserve asks for cpus from so many seconds on.
func (w *reserving) reserve(from, length int, sel, place string) pbs.ReservationID {
	w.t.Helper()
	c := &Reserve{
		Owner: ann, Starts: []pbs.Time{w.in(from)}, Length: pbs.Time(time.Duration(length) * time.Second),
		Attributes: attr.List{}.Set("Resource_List", "select", sel).Set("Authorized_Users", "", "ann@login"),
	}
	if place != "" {
		c.Attributes = c.Attributes.Set("Resource_List", "place", place)
	}
	return w.do(c).Reservation
}

func (w *reserving) in(seconds int) pbs.Time {
	return w.at + pbs.Time(time.Duration(seconds)*time.Second)
}

// decide answers the open question about a reservation.
func (w *reserving) decide(id pbs.ReservationID, nodes ...string) error {
	w.t.Helper()
	r := w.resv(id)
	_, err := w.run(&DecideReservation{Reservation: id, Asked: r.Asked, Nodes: nodes})
	return err
}

func (w *reserving) confirmed(from, length int, sel, place, nodes string) pbs.ReservationID {
	w.t.Helper()
	id := w.reserve(from, length, sel, place)
	if err := w.decide(id, nodes); err != nil {
		w.t.Fatalf("confirm %s: %v", id, err)
	}
	return id
}

func (w *reserving) resv(id pbs.ReservationID) *state.Reservation {
	w.t.Helper()
	r, ok := w.View().Reservation(id)
	if !ok {
		w.t.Fatalf("there is no reservation %s", id)
	}
	return r
}

func (w *reserving) wantState(id pbs.ReservationID, s, sub pbs.ReservationState) {
	w.t.Helper()
	if r := w.resv(id); r.State != s || r.Substate != sub {
		w.t.Errorf("%s is %s, substate %d, want %s, %d", id, r.State, r.Substate, s, sub)
	}
}

func (w *reserving) wantGone(id pbs.ReservationID) {
	w.t.Helper()
	if r, ok := w.View().Reservation(id); ok {
		w.t.Errorf("%s is still there: %s", id, r.State)
	}
	if _, ok := w.View().Queue(id.Queue()); ok {
		w.t.Errorf("the queue of %s is still there", id)
	}
}

// records lists what accounting writes, by letter, of a reservation.
func (w *reserving) records(id pbs.ReservationID) string {
	letters := map[state.EventKind]string{
		state.ReservationAsked: "U", state.ReservationConfirmed: "Y", state.ReservationBegan: "B", state.ReservationRemoved: "K",
	}
	var all []string
	for _, e := range w.events {
		if l := letters[e.Kind]; l != "" && e.Reservation.ID == id {
			if e.Kind == state.ReservationRemoved && e.By == e.Reservation.Owner {
				l = "k"
			}
			all = append(all, l)
		}
	}
	return strings.Join(all, "")
}

// submit queues a job of ann's and starts it, if nodes are given.
func (w *reserving) submit(queue pbs.QueueName, nodes string, list ...string) (pbs.JobID, error) {
	w.t.Helper()
	c := &SubmitJob{Owner: ann, Queue: queue}
	for i := 0; i < len(list); i += 2 {
		c.Attributes = c.Attributes.Set("Resource_List", list[i], list[i+1])
	}
	res, err := w.run(c)
	if err != nil || nodes == "" {
		return res.Job, err
	}
	_, err = w.run(&StartJob{Job: res.Job, ExecVnode: nodes, WithinLimits: true}) // as the scheduler does
	return res.Job, err
}

func (w *reserving) end(id pbs.JobID, status int32) {
	w.t.Helper()
	j, _ := w.View().Job(id)
	h, _ := w.View().Host(j.Run.MS)
	w.do(&JobEnded{Source: Source{Host: h.Name, Spool: string(h.Name), Seq: h.Acked + 1}, Job: id, RunCount: j.RunCount, ExitStatus: status})
}

func (w *reserving) queueOf(id pbs.ReservationID) string {
	q, _ := w.View().Queue(id.Queue())
	return fmt.Sprintf("enabled %t started %t", q.Enabled, q.Started)
}

// TestReservation_Life: asked, confirmed, begun, ended, with its queue, its amounts and its records (RV-31, RV-34).
func TestReservation_Life(t *testing.T) {
	w := newReserving(t)
	id := w.reserve(100, 60, "2:ncpus=4", "scatter")
	w.wantState(id, pbs.ResvUnconfirmed, pbs.ResvUnconfirmed)
	if got := w.queueOf(id); got != "enabled false started false" {
		t.Errorf("the queue of an unconfirmed one is %s", got)
	}
	if err := w.decide(id, "(hosta:ncpus=4)+(hostb:ncpus=4)"); err != nil {
		t.Fatal(err)
	}
	w.wantState(id, pbs.ResvConfirmed, pbs.ResvConfirmed)
	inside, err := w.submit(id.Queue(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.run(&StartJob{Job: inside, ExecVnode: "(hosta:ncpus=1)"}); err == nil {
		t.Error("a job started in a reservation that has not begun")
	}
	w.after(100)
	w.wantState(id, pbs.ResvRunning, pbs.ResvRunning)
	if got := w.queueOf(id); got != "enabled true started true" {
		t.Errorf("the queue of a running one is %s", got)
	}
	v, _ := w.View().Vnode("hosta")
	if got, _ := v.Assigned.Get("ncpus"); got != "4" {
		t.Errorf("hosta has %s cpus assigned, want the 4 of the reservation", got)
	}
	w.do(&StartJob{Job: inside, ExecVnode: "(hosta:ncpus=1)"})
	if again, _ := w.View().Vnode("hosta"); !resource.Equal(again.Assigned, v.Assigned, w.View()) {
		t.Errorf("a job inside adds to what is assigned: %v", again.Assigned)
	}
	if _, err := w.submit(id.Queue(), "(hosta:ncpus=4)", "select", "1:ncpus=4"); err == nil {
		t.Error("jobs inside have more than the reservation")
	}
	if _, err := w.submit("workq", "(hosta:ncpus=5)", "select", "1:ncpus=5"); err == nil {
		t.Error("a job outside has what is reserved")
	}
	w.after(60)
	w.wantState(id, pbs.ResvBeingDeleted, pbs.ResvDeletingJobs)
	w.end(inside, 271)
	w.wantGone(id)
	if j, _ := w.View().Job(inside); j != nil && !strings.HasSuffix(j.Comment, "and terminated by root@srv") {
		t.Errorf("the job's comment is %q", j.Comment)
	}
	if v, _ := w.View().Vnode("hosta"); len(v.Reserved) > 0 || len(v.Jobs) > 0 {
		t.Errorf("hosta has still %v %v", v.Reserved, v.Jobs)
	}
	if got := w.records(id); got != "UYBK" {
		t.Errorf("records %s, want UYBK", got)
	}
}

// TestReservation_EndsSuspendedJobs: a job that is suspended is ended with its reservation, too, at its end and by pbs_rdel.
func TestReservation_EndsSuspendedJobs(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		w := newReserving(t)
		id := w.confirmed(10, 60, "1:ncpus=4", "", "(hosta:ncpus=4)")
		w.after(10)
		inside, err := w.submit(id.Queue(), "(hosta:ncpus=2)", "select", "1:ncpus=2")
		if err != nil {
			t.Fatal(err)
		}
		h, _ := w.View().Host("hosta")
		w.do(&JobStarted{Source: Source{Host: "hosta", Spool: "hosta", Seq: h.Acked + 1}, Job: inside, RunCount: 1, Session: 7})
		w.do(&SignalJob{Job: inside, Signal: Suspend})
		h, _ = w.View().Host("hosta")
		w.do(&OrderConfirmed{Host: "hosta", Order: h.NextOrder})
		if j, _ := w.View().Job(inside); !j.Suspended() {
			t.Fatalf("the job is in state %s, substate %d", j.State, j.Substate)
		}
		if deleted {
			w.do(&DeleteReservation{Reservation: id})
		} else {
			w.after(60)
		}
		w.wantState(id, pbs.ResvBeingDeleted, pbs.ResvDeletingJobs)
		w.end(inside, 271)
		w.wantGone(id)
		if v, _ := w.View().Vnode("hosta"); len(v.Reserved) > 0 || len(v.Jobs) > 0 {
			t.Errorf("hosta has still %v %v", v.Reserved, v.Jobs)
		}
	}
}

// TestReservation_NothingTwice: nothing is promised twice at any time (L15), and periods that touch do not overlap (RV-38).
func TestReservation_NothingTwice(t *testing.T) {
	w := newReserving(t)
	w.confirmed(100, 60, "1:ncpus=6", "", "(hosta:ncpus=6)")
	for _, c := range []struct {
		from, length int
		sel, place   string
		fits         bool
	}{
		{159, 10, "1:ncpus=3", "", false},
		{160, 10, "1:ncpus=8", "", true},
		{40, 61, "1:ncpus=3", "", false},
		{40, 60, "1:ncpus=3", "", true},
		{120, 5, "1:ncpus=2", "", true},
		{120, 5, "1:ncpus=1", "", false},
		{100, 5, "1:ncpus=1", "excl", false},
		{200, 5, "1:ncpus=1", "excl", true},
		{201, 1, "1:ncpus=1", "", false},
	} {
		id := w.reserve(c.from, c.length, c.sel, c.place)
		if err := w.decide(id, "(hosta:"+strings.TrimPrefix(c.sel, "1:")+")"); (err == nil) != c.fits {
			t.Errorf("%s from %d for %d: %v, want fits=%t", c.sel, c.from, c.length, err, c.fits)
		}
	}
}

// TestReservation_NothingOfTheServerTwice: what the server has as a whole is promised once at any time, too (L15).
func TestReservation_NothingOfTheServerTwice(t *testing.T) {
	w := newReserving(t)
	w.do(&ManageResource{Verb: VerbCreate, Name: "lic", Changes: []AttrChange{{Entry: attr.Entry{Name: "type", Value: "long"}}, {Entry: attr.Entry{Name: "flag", Value: "q"}}}})
	w.do(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "lic", Value: "4"}}}})
	ask := func(from, length, lic int) error {
		t.Helper()
		id := w.do(&Reserve{
			Owner: ann, Starts: []pbs.Time{w.in(from)}, Length: pbs.Time(time.Duration(length) * time.Second),
			Attributes: attr.List{}.Set("Resource_List", "select", "1:ncpus=1").Set("Resource_List", "lic", strconv.Itoa(lic)).Set("Authorized_Users", "", "ann@login"),
		}).Reservation
		return w.decide(id, "(hosta:ncpus=1)")
	}
	if _, err := w.submit("workq", "(hostb:ncpus=1)", "select", "1:ncpus=1", "lic", "2", "walltime", "1000"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, length, lic int
		fits              bool
	}{
		{100, 60, 2, true},
		{159, 10, 1, false},
		{40, 61, 1, false},
		{40, 60, 2, true},
		{160, 10, 3, false}, // the job has two
		{2000, 60, 5, false},
		{2000, 60, 4, true},
		{2010, 10, 1, false},
		{2010, 10, 0, true},
	} {
		if err := ask(c.from, c.length, c.lic); (err == nil) != c.fits {
			t.Errorf("lic=%d from %d for %d: %v, want fits=%t", c.lic, c.from, c.length, err, c.fits)
		}
	}
}

// TestReservation_JobsOutside: a run may not reach into a reservation, one without a walltime never (RV-35); one that
// is expected to last forbids a reservation (RV-37).
func TestReservation_JobsOutside(t *testing.T) {
	w := newReserving(t)
	w.confirmed(100, 60, "1:ncpus=6", "", "(hosta:ncpus=6)")
	for _, c := range []struct {
		cpus, walltime string
		starts         bool
	}{{"3", "200", false}, {"3", "", false}, {"3", "50", true}, {"2", "7200", true}} {
		list := []string{"select", "1:ncpus=" + c.cpus}
		if c.walltime != "" {
			list = append(list, "walltime", c.walltime)
		}
		if _, err := w.submit("workq", "(hosta:ncpus="+c.cpus+")", list...); (err == nil) != c.starts {
			t.Errorf("%s cpus for %q s: %v, want starts=%t", c.cpus, c.walltime, err, c.starts)
		}
	}
	if _, err := w.submit("workq", "(hostb:ncpus=8)", "select", "1:ncpus=8", "walltime", "3600"); err != nil {
		t.Fatal(err)
	}
	early, late := w.reserve(60, 60, "1:ncpus=8", ""), w.reserve(7200, 60, "1:ncpus=8", "")
	if err := w.decide(early, "(hostb:ncpus=8)"); err == nil {
		t.Error("a reservation has what a job is to have until later")
	}
	if err := w.decide(late, "(hostb:ncpus=8)"); err != nil {
		t.Errorf("a reservation after the job: %v", err)
	}
}

// TestReservation_Denied: what does not fit is gone, with U and K; an answer to an older question is void.
func TestReservation_Denied(t *testing.T) {
	w := newReserving(t)
	id := w.reserve(100, 60, "1:ncpus=9", "")
	if _, err := w.run(&DecideReservation{Reservation: id, Asked: w.resv(id).Asked + 1}); err == nil {
		t.Error("an answer to another question counts")
	}
	if err := w.decide(id); err != nil {
		t.Fatal(err)
	}
	w.wantGone(id)
	if got := w.records(id); got != "UK" {
		t.Errorf("records %s, want UK", got)
	}
}

// TestReservation_Undecided: one whose start passes undecided never begins, and is gone at its end (RV-14).
func TestReservation_Undecided(t *testing.T) {
	w := newReserving(t)
	id := w.reserve(10, 20, "1:ncpus=1", "")
	w.after(11)
	w.wantState(id, pbs.ResvUnconfirmed, pbs.ResvUnconfirmed)
	if w.resv(id).Undecided(w.View().Cluster().Time) {
		t.Error("it is still to be decided")
	}
	w.after(20)
	w.wantGone(id)
	if got := w.records(id); got != "UK" {
		t.Errorf("records %s, want UK", got)
	}
}

// TestReservation_Outage: what began and ended while nobody led is accounted as that (RV-79).
func TestReservation_Outage(t *testing.T) {
	w := newReserving(t)
	id := w.confirmed(10, 20, "1:ncpus=1", "", "(hosta:ncpus=1)")
	w.after(3600)
	w.wantGone(id)
	if got := w.records(id); got != "UYBK" {
		t.Errorf("records %s, want UYBK", got)
	}
}

// TestReservation_Degraded: a lost vnode degrades it until the vnode is back or another is found (RV-42, RV-43, RV-44).
func TestReservation_Degraded(t *testing.T) {
	w := newReserving(t)
	offline := func(on bool) {
		t.Helper()
		c := &ManageVnode{Verb: VerbSet, Vnode: "hosta", Changes: []AttrChange{{Op: OpIncrease, Entry: attr.Entry{Name: "state", Value: "offline"}}}}
		if !on {
			c.Changes[0].Op = OpDecrease
		}
		w.do(c)
	}
	id := w.confirmed(1000, 60, "1:ncpus=8", "", "(hosta:ncpus=8)")
	offline(true)
	w.wantState(id, pbs.ResvDegraded, pbs.ResvDegraded)
	if got := w.resv(id).Retry - w.at; got < pbs.Time(599*time.Second) || got > pbs.Time(601*time.Second) {
		t.Errorf("tried again after %d, want 600 s", got)
	}
	offline(false)
	w.wantState(id, pbs.ResvConfirmed, pbs.ResvConfirmed)
	if w.resv(id).Retry != 0 {
		t.Error("it is well, and yet other vnodes are looked for")
	}
	offline(true)
	w.after(601)
	if err := w.decide(id, "(hostb:ncpus=8)"); err != nil {
		t.Fatal(err)
	}
	w.wantState(id, pbs.ResvConfirmed, pbs.ResvConfirmed)
	if got := w.records(id); got != "UYY" {
		t.Errorf("records %s, want UYY", got)
	}
	if _, err := w.run(&ManageVnode{Verb: VerbDelete, Vnode: "hostb"}); pbs.CodeOf(err) != pbs.BusyObject {
		t.Errorf("delete a promised vnode: %v", err)
	}
	w.do(&ManageVnode{Verb: VerbSet, Vnode: "hostb", Changes: []AttrChange{{Op: OpIncrease, Entry: attr.Entry{Name: "state", Value: "offline"}}}})
	w.after(410)
	w.wantState(id, pbs.ResvRunning, pbs.ResvDegraded)
	if err := w.decide(id); err != nil { // not found
		t.Fatal(err)
	}
	w.do(&ManageVnode{Verb: VerbSet, Vnode: "hostb", Changes: []AttrChange{{Op: OpDecrease, Entry: attr.Entry{Name: "state", Value: "offline"}}}})
	w.wantState(id, pbs.ResvRunning, pbs.ResvRunning)
}

// TestReservation_Delete: with its jobs, and once (RV-25, RV-77).
func TestReservation_Delete(t *testing.T) {
	w := newReserving(t)
	id := w.confirmed(0, 600, "1:ncpus=2", "", "(hosta:ncpus=2)")
	w.wantState(id, pbs.ResvRunning, pbs.ResvRunning)
	runs, _ := w.submit(id.Queue(), "(hosta:ncpus=1)")
	waits, _ := w.submit(id.Queue(), "")
	w.do(&DeleteReservation{Reservation: id})
	w.wantState(id, pbs.ResvBeingDeleted, pbs.ResvDeletingJobs)
	if j, ok := w.View().Job(waits); ok && j.State != pbs.Finished {
		t.Errorf("the waiting job is %s", j.State)
	}
	w.do(&DeleteReservation{Reservation: id})
	w.end(runs, 271)
	w.wantGone(id)
	if _, err := w.run(&DeleteReservation{Reservation: id}); pbs.CodeOf(err) != pbs.UnknownReservation {
		t.Errorf("deleted again: %v", err)
	}
	if got := w.records(id); got != "UYBk" {
		t.Errorf("records %s, want UYBk", got)
	}
}

// TestReservation_DeleteUnstarted: a job whose start nobody has told of by the end of its reservation has a D record, as one that
// waited there; one that was deleted before has that one only.
func TestReservation_DeleteUnstarted(t *testing.T) {
	w := newReserving(t)
	id := w.confirmed(0, 600, "1:ncpus=2", "", "(hosta:ncpus=2)")
	unstarted, _ := w.submit(id.Queue(), "(hosta:ncpus=1)")
	deleted, _ := w.submit(id.Queue(), "(hosta:ncpus=1)")
	w.do(&DeleteJob{Job: deleted})
	w.do(&DeleteReservation{Reservation: id})
	w.do(&DeleteJob{Job: unstarted})
	w.end(unstarted, 271)
	w.end(deleted, 271)
	w.wantGone(id)
	requestors := map[pbs.JobID]string{}
	for _, e := range w.events {
		switch e.Kind {
		case state.JobDeleteAsked:
			requestors[e.Job.ID] += e.By.String()
		case state.JobEnded, state.JobAborted:
			t.Errorf("%s has a record of kind %d", e.Job.ID, e.Kind)
		}
	}
	if requestors[unstarted] != "ann@login" || requestors[deleted] != "ann@login" {
		t.Errorf("the requestors of deletions are %v", requestors)
	}
}

// TestReservation_Standing: an occurrence ends its running jobs and leaves the waiting ones to the next (RV-61).
func TestReservation_Standing(t *testing.T) {
	w := newReserving(t)
	id := w.do(&Reserve{
		Owner: ann, Starts: []pbs.Time{w.in(10), w.in(70)}, Length: pbs.Time(20 * time.Second), Rule: "FREQ=MINUTELY;COUNT=2", Zone: "UTC",
		Attributes: attr.List{}.Set("Resource_List", "ncpus", "4").Set("Authorized_Users", "", "ann@login"),
	}).Reservation
	if id.Kind() != pbs.ResvStanding {
		t.Errorf("its id is %s", id)
	}
	if err := w.decide(id, "(hosta:ncpus=4)"); err == nil {
		t.Error("confirmed with vnodes for one occurrence of two")
	}
	if err := w.decide(id, "(hosta:ncpus=4)", "(hostb:ncpus=4)"); err != nil {
		t.Fatal(err)
	}
	w.after(10)
	first, err := w.submit(id.Queue(), "(hosta:ncpus=4)", "select", "1:ncpus=4")
	if err != nil {
		t.Fatal(err)
	}
	second, _ := w.submit(id.Queue(), "", "select", "1:ncpus=4")
	w.after(20)
	w.wantState(id, pbs.ResvDeletingJobs, pbs.ResvDeletingJobs)
	w.end(first, 265)
	w.wantState(id, pbs.ResvConfirmed, pbs.ResvConfirmed)
	if r := w.resv(id); r.Index() != 2 || r.Nodes().String() != "(hostb:ncpus=4)" {
		t.Errorf("the next occurrence is %d on %s", r.Index(), r.Nodes())
	}
	w.after(40)
	w.wantState(id, pbs.ResvRunning, pbs.ResvRunning)
	w.do(&StartJob{Job: second, ExecVnode: "(hostb:ncpus=4)"})
	w.after(20)
	w.end(second, 271)
	w.wantGone(id)
	if got := w.records(id); got != "UYBBK" {
		t.Errorf("records %s, want UYBBK", got)
	}
}

// TestReservation_Alter: times and lists (RV-46 to RV-49, RV-51, RV-52, RV-55, RV-63).
func TestReservation_Alter(t *testing.T) {
	w := newReserving(t)
	id := w.confirmed(100, 60, "1:ncpus=8", "", "(hosta:ncpus=8)")
	start := w.resv(id).Start
	seconds := func(n int) pbs.Time { return pbs.Time(time.Duration(n) * time.Second) }
	w.confirmed(180, 60, "1:ncpus=8", "", "(hosta:ncpus=8)")
	w.do(&AlterReservation{Reservation: id, End: start + seconds(70), Changes: []AttrChange{{Entry: attr.Entry{Name: "Reserve_Name", Value: "new"}}}})
	w.wantState(id, pbs.ResvBeingAltered, pbs.ResvConfirmed)
	if err := w.decide(id, "(hosta:ncpus=8)"); err != nil {
		t.Fatal(err)
	}
	if r := w.resv(id); r.End != start+seconds(70) || r.Name() != "new" {
		t.Errorf("altered to %d s, name %s", (r.End - r.Start).Unix(), r.Name())
	}
	w.do(&AlterReservation{Reservation: id, Length: seconds(90), Changes: []AttrChange{{Entry: attr.Entry{Name: "Reserve_Name", Value: "other"}}}})
	if err := w.decide(id, "(hosta:ncpus=8)"); err == nil {
		t.Error("an alteration takes what another has")
	}
	if err := w.decide(id); err != nil { // does not fit
		t.Fatal(err)
	}
	if r := w.resv(id); r.End != start+seconds(70) || r.Name() != "new" || r.State != pbs.ResvConfirmed {
		t.Errorf("denied, and yet %d s, name %s, %s", (r.End - r.Start).Unix(), r.Name(), r.State)
	}
	w.do(&AlterReservation{Reservation: id, Length: seconds(90), Force: true})
	if r := w.resv(id); r.End != start+seconds(90) {
		t.Errorf("forced to %d s", (r.End - r.Start).Unix())
	}
	w.do(&AlterReservation{Reservation: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "Authorized_Users", Value: "bob"}}}})
	if q, _ := w.View().Queue(id.Queue()); !slices.Equal(q.List("acl_users"), []string{"bob"}) {
		t.Errorf("the queue lets in %v", q.List("acl_users"))
	}
	if _, err := w.run(&AlterReservation{Reservation: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "select", Value: "1:ncpus=4"}}}}); pbs.CodeOf(err) != pbs.ResvNotSubset {
		t.Errorf("another chunk: %v", err)
	}
	for _, c := range []*AlterReservation{{Start: w.at - seconds(5)}, {Start: start + seconds(5), End: start}, {Start: start, End: start + seconds(9), Length: seconds(8)}} {
		c.Reservation = id
		if _, err := w.run(c); pbs.CodeOf(err) != pbs.BadTimes {
			t.Errorf("%+v: %v", c, err)
		}
	}
	w.after(100)
	w.wantState(id, pbs.ResvRunning, pbs.ResvRunning)
	w.do(&AlterReservation{Reservation: id, Start: w.in(3600), Length: seconds(60)})
	if err := w.decide(id, "(hosta:ncpus=8)"); err != nil {
		t.Fatal(err)
	}
	w.wantState(id, pbs.ResvConfirmed, pbs.ResvConfirmed)
	if got := w.queueOf(id); got != "enabled true started false" {
		t.Errorf("put off, its queue is %s", got)
	}
	if v, _ := w.View().Vnode("hosta"); len(v.Reserved) > 0 {
		t.Errorf("put off, it still holds %v", v.Reserved)
	}
}

// TestReservation_Maintenance: it takes hosts whatever runs there, and from other reservations (RV-58, RV-59).
func TestReservation_Maintenance(t *testing.T) {
	w := newReserving(t)
	victim := w.confirmed(100, 60, "1:ncpus=8", "", "(hosta:ncpus=8)")
	if _, err := w.submit("workq", "(hosta:ncpus=2)", "select", "1:ncpus=2", "walltime", "50"); err != nil {
		t.Fatal(err)
	}
	res, err := w.run(&Reserve{
		Owner: ann, Starts: []pbs.Time{w.in(20)}, Length: pbs.Time(200 * time.Second), Hosts: []string{"hosta"},
		Attributes: attr.List{}.Set("Authorized_Users", "", "ann@login"),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.wantState(res.Reservation, pbs.ResvConfirmed, pbs.ResvConfirmed)
	w.wantState(victim, pbs.ResvDegraded, pbs.ResvInConflict)
	if got := w.resv(victim).Nodes(); len(got) > 0 {
		t.Errorf("the victim has still %s", got)
	}
	w.after(20)
	w.wantState(res.Reservation, pbs.ResvRunning, pbs.ResvRunning)
	v, _ := w.View().Vnode("hosta")
	if got := v.State(); got != "resv-exclusive" {
		t.Errorf("hosta is %s", got)
	}
	if _, err := w.submit("workq", "(hosta:ncpus=1)", "walltime", "1"); err == nil {
		t.Error("a job starts on a host in maintenance")
	}
	w.do(&DeleteReservation{Reservation: res.Reservation})
	if r := w.resv(victim); !r.Undecided(w.View().Cluster().Time) {
		t.Error("the victim is not looked at again")
	}
	if err := w.decide(victim, "(hosta:ncpus=8)"); err != nil {
		t.Fatal(err)
	}
	w.wantState(victim, pbs.ResvConfirmed, pbs.ResvConfirmed)
}

// A victim of a maintenance that is on its way out when that is over is not looked at again: it would begin after its end.
func TestReservation_MaintenanceOutlivesVictim(t *testing.T) {
	w := newReserving(t)
	victim := w.confirmed(100, 600, "2:ncpus=4", "", "(hosta:ncpus=4)+(hostb:ncpus=4)")
	w.after(100)
	if _, err := w.submit(victim.Queue(), "(hostb:ncpus=2)", "select", "1:ncpus=2", "walltime", "500"); err != nil {
		t.Fatal(err)
	}
	over := w.do(&Reserve{
		Owner: ann, Starts: []pbs.Time{w.in(1)}, Length: pbs.Time(200 * time.Second), Hosts: []string{"hosta"},
		Attributes: attr.List{}.Set("Authorized_Users", "", "ann@login"),
	}).Reservation
	w.after(2)
	w.do(&DeleteReservation{Reservation: victim})
	w.wantState(victim, pbs.ResvBeingDeleted, pbs.ResvDeletingJobs)
	w.do(&DeleteReservation{Reservation: over})
	if r := w.resv(victim); r.Undecided(w.View().Cluster().Time) {
		t.Error("the victim is looked at again")
	}
	if err := w.decide(victim, "(hosta:ncpus=4)+(hostb:ncpus=4)"); err == nil {
		t.Error("the victim has vnodes again")
	}
}

// TestReservation_OfJob: made of a running job, it has that one's vnodes at once (RV-64).
func TestReservation_OfJob(t *testing.T) {
	w := newReserving(t)
	job, err := w.submit("workq", "(hosta:ncpus=3)+(hostb:ncpus=3)", "select", "2:ncpus=3", "walltime", "600")
	if err != nil {
		t.Fatal(err)
	}
	id := w.do(&Reserve{Owner: ann, Job: job, Attributes: attr.List{}.Set("Authorized_Users", "", "ann@login")}).Reservation
	w.wantState(id, pbs.ResvRunning, pbs.ResvRunning)
	j, _ := w.View().Job(job)
	if j.Queue != id.Queue() || j.Reservation != id {
		t.Errorf("the job is in queue %s of %s", j.Queue, j.Reservation)
	}
	if _, err := w.run(&Reserve{Owner: ann, Job: job}); pbs.CodeOf(err) != pbs.ResvFromResv {
		t.Errorf("again: %v", err)
	}
	w.end(job, 0)
	w.wantState(id, pbs.ResvRunning, pbs.ResvRunning)
	if got := w.records(id); got != "YB" {
		t.Errorf("records %s, want YB", got)
	}
	w.after(700)
	w.wantGone(id)
}

// TestReservation_Idle: one without a job is removed after delete_idle_time (RV-69).
func TestReservation_Idle(t *testing.T) {
	w := newReserving(t)
	id := w.do(&Reserve{
		Owner: ann, Starts: []pbs.Time{w.in(0)}, Length: pbs.Time(600 * time.Second),
		Attributes: attr.List{}.Set("Resource_List", "ncpus", "1").Set("delete_idle_time", "", "00:00:05").Set("Authorized_Users", "", "ann@login"),
	}).Reservation
	if err := w.decide(id, "(hosta:ncpus=1)"); err != nil {
		t.Fatal(err)
	}
	w.after(3)
	job, _ := w.submit(id.Queue(), "(hosta:ncpus=1)")
	w.after(10)
	w.wantState(id, pbs.ResvRunning, pbs.ResvRunning)
	w.end(job, 0)
	w.after(4)
	w.wantState(id, pbs.ResvRunning, pbs.ResvRunning)
	w.after(2)
	w.wantGone(id)
}

// A resource that a reservation names stays as it is until the reservation has gone.
func TestManageResource_InReservation(t *testing.T) {
	w := newReserving(t)
	w.do(&ManageResource{Verb: VerbCreate, Name: "foo", Changes: []AttrChange{
		{Entry: attr.Entry{Name: "type", Value: "long"}}, {Entry: attr.Entry{Name: "flag", Value: "nh"}},
	}})
	id := w.reserve(3600, 600, "1:ncpus=1:foo=1", "")
	for _, c := range []*ManageResource{
		{Verb: VerbDelete, Name: "foo"},
		{Verb: VerbSet, Name: "foo", Changes: []AttrChange{{Entry: attr.Entry{Name: "type", Value: "string"}}}},
	} {
		if _, err := w.run(c); pbs.CodeOf(err) != pbs.ResourceBusy || c.Verb == VerbDelete && err.Error() != "Resource busy on reservation" {
			t.Errorf("%v: %v", c.Verb, err)
		}
	}
	w.do(&DeleteReservation{Reservation: id})
	w.do(&ManageResource{Verb: VerbDelete, Name: "foo"})
}

// TestReservation_Unnamed: of what a reservation does not name its jobs take what the vnode has left, and what nobody else is
// promised before it ends (L3, L15); it is charged to vnode and server, and forgotten with the resource.
func TestReservation_Unnamed(t *testing.T) {
	w := newReserving(t)
	w.do(&ManageResource{Verb: VerbCreate, Name: "foo", Changes: []AttrChange{
		{Entry: attr.Entry{Name: "type", Value: "long"}}, {Entry: attr.Entry{Name: "flag", Value: "nh"}},
	}})
	w.do(&ManageVnode{Verb: VerbSet, Vnode: "hosta", Changes: []AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "foo", Value: "4"}}}})
	id := w.confirmed(10, 1000, "1:ncpus=4", "", "(hosta:ncpus=4)")
	w.confirmed(500, 100, "1:ncpus=1:mem=6gb", "", "(hosta:ncpus=1:mem=6gb)")
	w.after(10)
	if _, err := w.submit("workq", "(hosta:ncpus=1:mem=1gb)", "select", "1:ncpus=1:mem=1gb", "walltime", "60"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		chunk, walltime string
		starts          bool
	}{
		{"ncpus=1:mem=8gb", "60", false},      // the vnode has 7gb left
		{"ncpus=1:mem=3gb", "9:00:00", false}, // and 2gb from 500 on
		{"ncpus=1:foo=5", "60", false},
		{"ncpus=5:foo=1", "60", false},
	} {
		if _, err := w.submit(id.Queue(), "(hosta:"+c.chunk+")", "select", "1:"+c.chunk, "walltime", c.walltime); err == nil {
			t.Errorf("%s for %s starts", c.chunk, c.walltime)
		}
	}
	job, err := w.submit(id.Queue(), "(hosta:ncpus=1:mem=2gb:foo=3)", "select", "1:ncpus=1:mem=2gb:foo=3", "walltime", "9:00:00")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.submit("workq", "(hosta:ncpus=1:foo=2)", "select", "1:ncpus=1:foo=2", "walltime", "60"); err == nil {
		t.Error("a job outside has what one inside uses")
	}
	v, _ := w.View().Vnode("hosta")
	shown := func(list attr.List) string {
		var all []string
		for _, e := range list {
			if e.Name == "resources_assigned" && slices.Contains([]string{"foo", "mem", "ncpus"}, e.Resource) {
				all = append(all, e.Value)
			}
		}
		return strings.Join(all, " ")
	}
	if got, want := shown(w.View().VnodeAttributes(v)), "3 3gb 5"; got != want {
		t.Errorf("the vnode shows %s, want %s", got, want)
	}
	w.end(job, 0)
	v, _ = w.View().Vnode("hosta")
	if got, want := shown(w.View().VnodeAttributes(v)), "0 1gb 5"; got != want {
		t.Errorf("afterwards the vnode shows %s, want %s", got, want)
	}
	for j := range w.View().Jobs() {
		if _, err := w.run(&DeleteJob{Job: j.ID, Force: true}); err != nil {
			t.Fatal(err)
		}
	}
	w.do(&ManageResource{Verb: VerbDelete, Name: "foo"})
	v, _ = w.View().Vnode("hosta")
	for _, r := range v.Reserved {
		if _, ok := r.Used.Get("foo"); ok {
			t.Errorf("%s still counts foo: %v", r.Reservation, r.Used)
		}
	}
}
