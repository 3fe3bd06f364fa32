package service

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

func (b *bench) ralter(who string, r *api.AlterReservationRequest) (string, error) {
	got, err := b.Batch.AlterReservation(b.as(who), request(r, ""))
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(got.Msg.GetOutcome().String(), "RESERVATION_OUTCOME_"), nil
}

func (b *bench) rdel(who, id string) error {
	_, err := b.Batch.DeleteReservation(b.as(who), request(&api.DeleteReservationRequest{Reservation: id}, ""))
	return err
}

// Its owner, Operators and Managers change and remove a reservation; others are told no, and the log of them.
func TestReservation_Permissions(t *testing.T) {
	b := resvBench(t)
	id := b.mustReserve("ann@login1", timed()...)
	longer := &api.AlterReservationRequest{Reservation: string(id), Changes: []*api.Attribute{set("reserve_duration", "70")}}
	for who, want := range map[string]pbs.Code{
		"bob@login1": pbs.Unauthorized, "ann@login2": pbs.Unauthorized, "ann@login1": 0, "op@hosta": 0, "op@login1": pbs.Unauthorized, "boss@login1": 0,
	} {
		if _, err := b.ralter(who, longer); pbs.CodeOf(err) != want {
			t.Errorf("%s alters: %v, want %d", who, err, want)
		}
	}
	forced := &api.AlterReservationRequest{Reservation: string(id), Changes: longer.Changes, Force: true}
	for who, want := range map[string]pbs.Code{"ann@login1": pbs.Unauthorized, "op@hosta": pbs.Unauthorized, "boss@login1": 0} {
		if _, err := b.ralter(who, forced); pbs.CodeOf(err) != want {
			t.Errorf("%s forces: %v, want %d", who, err, want)
		}
	}
	b.log = nil
	if _, err := b.ralter("bob@login1", longer); err == nil {
		t.Error("bob alters")
	}
	if err := b.rdel("bob@login1", string(id)); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("bob deletes: %v", err)
	}
	want := "Resv;R0.srv;Unauthorized Request, request type: 91, Object: RESCRESV, Name: R0.srv, request from: bob@login1\n" +
		"Resv;R0.srv;Unauthorized Request, request type: 72, Object: RESCRESV, Name: R0.srv, request from: bob@login1"
	if got := strings.Join(b.log, "\n"); got != want {
		t.Errorf("the log has\n%s\nwant\n%s", got, want)
	}
	b.server(set("flatuid", "True"))
	if err := b.rdel("ann@login2", string(id)); err != nil {
		t.Errorf("the owner elsewhere, with flatuid: %v", err)
	}
	for name, want := range map[string]pbs.Code{
		"R0": pbs.UnknownReservation, "R99999": pbs.UnknownReservation, "R0@nosuch": pbs.UnknownReservation, "xyz": pbs.BadJobID, "7": pbs.BadJobID,
	} {
		if err := b.rdel("boss@login1", name); pbs.CodeOf(err) != want {
			t.Errorf("delete of %s: %v, want %d", name, err, want)
		}
	}
}

// A server in an identifier may go by any of its names; the letter counts.
func TestReservation_Names(t *testing.T) {
	b := resvBench(t)
	for _, name := range []string{"R0", "R1.srv", "R2@srv", "R3.s1host", "R4.srv@default"} {
		b.mustReserve("ann@login1", timed()...)
		if err := b.rdel("ann@login1", name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.mustReserve("ann@login1", timed()...)
	if err := b.rdel("ann@login1", "S5"); pbs.CodeOf(err) != pbs.UnknownReservation {
		t.Errorf("another kind: %v", err)
	}
}

// One that would reach into its next occurrence is told so, and the log, too.
func TestAlterReservation_Interferes(t *testing.T) {
	b := resvBench(t)
	id := b.mustReserve("ann@login1", timed(set("reserve_rrule", "FREQ=HOURLY;COUNT=2"), set("Variable_List", "PBS_TZID=UTC"))...)
	b.decide(id, "(hosta:ncpus=1)", "(hosta:ncpus=1)")
	b.log = nil
	_, err := b.ralter("ann@login1", &api.AlterReservationRequest{Reservation: string(id), Changes: []*api.Attribute{set("reserve_duration", "3700")}})
	if pbs.CodeOf(err) != pbs.ResvInterferes {
		t.Errorf("it says %v", err)
	}
	want := "Resv;" + string(id) + ";Requested time(s) will interfere with a later occurrence"
	if got := strings.Join(b.log, "\n"); got != want {
		t.Errorf("the log has\n%s\nwant\n%s", got, want)
	}
}

func TestAlterReservation_Refusals(t *testing.T) {
	b := resvBench(t)
	id := b.mustReserve("ann@login1", timed(set("Resource_List.select", "2:ncpus=2"))...)
	b.decide(id, "(hosta:ncpus=2)+(hostb:ncpus=2)")
	before := *b.resv(id)
	more := set("Authorized_Users", "bob")
	more.Op = api.Op_OP_INCREASE
	for _, c := range []struct {
		name   string
		change *api.Attribute
		force  bool
		want   pbs.Code
	}{
		{"another resource", set("Resource_List.ncpus", "2"), false, pbs.NotSupported},
		{"more chunks", set("Resource_List.select", "3:ncpus=2"), false, pbs.ResvNotSubset},
		{"the past", set("reserve_start", ahead(-time.Hour)), false, pbs.BadTimes},
		{"the epoch", set("reserve_start", "0"), false, pbs.BadTimes},
		{"after the end", set("reserve_start", ahead(5*time.Hour)), false, pbs.BadTimes},
		{"a length that ends at no time", set("reserve_duration", "8589934592"), false, pbs.BadTimes},
		{"no length", set("reserve_duration", "0"), false, pbs.BadTimes},
		{"what it was made with", set("delete_idle_time", "5"), false, pbs.ReadOnlyAttribute},
		{"what it is", set("reserve_state", "RESV_RUNNING"), false, pbs.ReadOnlyAttribute},
		{"an addition", more, false, pbs.InvalidRequest},
		{"force without times", set("Reserve_Name", "x"), true, pbs.NotSupported},
		{"nothing known", set("foo", "bar"), false, pbs.UndefinedAttribute},
	} {
		r := &api.AlterReservationRequest{Reservation: string(id), Changes: []*api.Attribute{c.change}, Force: c.force}
		if _, err := b.ralter("boss@login1", r); pbs.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %d", c.name, err, c.want)
		}
	}
	if r := b.resv(id); r.Modified != before.Modified {
		t.Errorf("it was changed: %+v", r)
	}
}

// A client waits for the decision of a change if it wants to, of its own call alone.
func TestAlterReservation_Waits(t *testing.T) {
	end := func() *api.Attribute { return set("reserve_end", ahead(2*time.Hour)) }
	for _, c := range []struct {
		name      string
		changes   func() []*api.Attribute
		meanwhile func(b *bench)
		want      string
		after     time.Duration
		length    string
	}{
		{"no wait", func() []*api.Attribute { return []*api.Attribute{set("reserve_duration", "70")} }, nil, "UNSPECIFIED", 0, "60"},
		{"nothing to decide", func() []*api.Attribute { return []*api.Attribute{set("Reserve_Name", "x"), set("interactive", "10")} }, nil, "CONFIRMED", 0, "60"},
		{
			"confirmed", func() []*api.Attribute {
				return []*api.Attribute{set("reserve_duration", "70"), set("interactive", "10")}
			},
			func(b *bench) { b.decide("R0.srv", "(hosta:ncpus=1)") }, "CONFIRMED", time.Second, "70",
		},
		{
			"denied", func() []*api.Attribute { return []*api.Attribute{end(), set("interactive", "10")} },
			func(b *bench) { b.decide("R0.srv") }, "DENIED", time.Second, "60",
		},
		{"over", func() []*api.Attribute { return []*api.Attribute{end(), set("interactive", "3")} }, nil, "UNCONFIRMED", 3 * time.Second, "60"},
		{
			"deleted meanwhile", func() []*api.Attribute { return []*api.Attribute{end(), set("interactive", "3")} },
			func(b *bench) { _ = b.rdel("boss@login1", "R0") }, "DENIED", time.Second, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := resvBench(t)
				id := b.mustReserve("ann@login1", timed()...)
				b.decide(id, "(hosta:ncpus=1)")
				began, answer := time.Now(), make(chan string, 1)
				go func() {
					got, err := b.ralter("ann@login1", &api.AlterReservationRequest{Reservation: "R0", Changes: c.changes()})
					if err != nil {
						got = err.Error()
					}
					answer <- got
				}()
				synctest.Wait()
				if c.meanwhile != nil {
					time.Sleep(time.Second)
					c.meanwhile(b)
				}
				if got := <-answer; got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
				if took := time.Since(began); took < c.after || took > c.after+100*time.Millisecond {
					t.Errorf("it took %s, want %s", took, c.after)
				}
				if c.length != "" && b.resvAttr(id, "reserve_duration") != c.length {
					t.Errorf("it lasts %s s", b.resvAttr(id, "reserve_duration"))
				}
			})
		})
	}
}

// What is asked of an undecided one is decided with it; who forces does not wait; an end that has passed ends it.
func TestAlterReservation_AtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := resvBench(t)
		b.mustReserve("ann@login1", timed()...)
		answer := make(chan string, 1)
		ask := func(who, id string, force bool, changes ...*api.Attribute) {
			got, err := b.ralter(who, &api.AlterReservationRequest{Reservation: id, Changes: append(changes, set("interactive", "10")), Force: force})
			if err != nil {
				got = err.Error()
			}
			answer <- got
		}
		go ask("ann@login1", "R0", false, set("reserve_duration", "90"))
		time.Sleep(time.Second)
		b.decide("R0.srv", "(hosta:ncpus=1)")
		if got := <-answer; got != "CONFIRMED" || b.resvAttr("R0.srv", "reserve_duration") != "90" {
			t.Errorf("an undecided one: %s, %s s", got, b.resvAttr("R0.srv", "reserve_duration"))
		}
		ask("boss@login1", "R0", true, set("reserve_duration", "95"))
		if got := <-answer; got != "CONFIRMED" || b.resvAttr("R0.srv", "reserve_duration") != "95" {
			t.Errorf("by force: %s", got)
		}
		id := b.mustReserve("ann@login1", set("reserve_start", ahead(0)), set("reserve_duration", "600"))
		b.decide(id, "(hosta:ncpus=1)")
		time.Sleep(10 * time.Second)
		go ask("ann@login1", string(id), false, set("reserve_duration", "5"))
		synctest.Wait()
		if r, there := b.store.View().Reservation(id); there && r.State == pbs.ResvBeingAltered {
			b.decide(id, "(hosta:ncpus=1)")
		}
		if got := <-answer; got != "CONFIRMED" {
			t.Errorf("an end that has passed: %s", got)
		}
	})
}

// Everybody sees all, in the order of their creation; unknown ones and ones of another form are told of.
func TestList_Reservations(t *testing.T) {
	b := resvBench(t)
	b.mustReserve("bob@login1", timed(set("Reserve_Name", "first"))...)
	b.mustReserve("ann@login1", timed(set("reserve_rrule", "FREQ=DAILY;COUNT=2"), set("Variable_List", "PBS_TZID=UTC"))...)
	b.mustReserve("ann@login1", timed()...)
	ask := func(names ...string) (out []string) {
		got, err := b.list("carl@login1", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_RESERVATION, Names: names, Attributes: []string{"Reserve_Name", "reserve_state"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range got {
			text := o.GetName()
			for _, a := range o.GetAttributes() {
				text += " " + a.GetValue()
			}
			out = append(out, text+o.GetRefusal().GetMessage())
		}
		return out
	}
	if got, want := strings.Join(ask(), "\n"), "R0.srv first RESV_UNCONFIRMED\nS1.srv NULL RESV_UNCONFIRMED\nR2.srv NULL RESV_UNCONFIRMED"; got != want {
		t.Errorf("all:\n%s\nwant\n%s", got, want)
	}
	want := "S1.srv NULL RESV_UNCONFIRMED\nR99Unknown Reservation Id\nxyzillegally formed reservation identifier: xyz\nR0.srv first RESV_UNCONFIRMED"
	if got := strings.Join(ask("S1", "R99", "xyz", "R0.srv@srv"), "\n"); got != want {
		t.Errorf("some:\n%s\nwant\n%s", got, want)
	}
}

// The queue of a reservation goes with it, and starts with it; lists show it after the others.
func TestManage_QueuesOfReservations(t *testing.T) {
	b := resvBench(t)
	id := b.mustReserve("ann@login1", timed()...)
	b.queue("later", set("queue_type", "Execution"))
	queue := func(verb api.Verb, name string, changes ...*api.Attribute) error {
		return b.manage(verb, api.ObjectKind_OBJECT_KIND_QUEUE, name, changes...)
	}
	if err := queue(api.Verb_VERB_DELETE, "R0"); pbs.CodeOf(err) != pbs.BusyObject {
		t.Errorf("delete: %v", err)
	}
	for _, change := range []*api.Attribute{set("started", "True"), set("queue_type", "Route")} {
		if err := queue(api.Verb_VERB_SET, "R0", change); pbs.CodeOf(err) != pbs.ReadOnlyAttribute {
			t.Errorf("set of %s: %v", change.GetName(), err)
		}
	}
	b.decide(id, "(hosta:ncpus=1)")
	for _, change := range []*api.Attribute{set("enabled", "False"), set("enabled", "True"), set("started", "False"), set("Priority", "3")} {
		if err := queue(api.Verb_VERB_SET, "R0", change); err != nil {
			t.Errorf("set of %s: %v", change.GetName(), err)
		}
	}
	got, err := b.list("ann@login1", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_QUEUE})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range got {
		names = append(names, o.GetName())
	}
	if text := strings.Join(names, " "); text != "workq later R0" {
		t.Errorf("queues are listed as %s", text)
	}
	job := b.mustSubmit("ann@login1")
	if _, err := b.Batch.Move(b.as("ann@login1"), request(&api.MoveRequest{Job: job, Destination: "R0"}, "")); err != nil {
		t.Fatal(err)
	}
	if err := b.run("boss@login1", job, "(hosta:ncpus=1)"); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("qrun before the start: %v", err)
	}
	if err := queue(api.Verb_VERB_SET, "@default", set("started", "True")); err != nil {
		t.Errorf("all others: %v", err)
	}
	if q, _ := b.store.View().Queue("R0"); q.Started {
		t.Error("it is started")
	}
}

// A queue of the site that has the name of a reservation's queue stays what it is.
func TestReserve_TakenQueue(t *testing.T) {
	b := resvBench(t)
	b.queue("R0", set("queue_type", "Execution"), set("Priority", "7"))
	if id := b.mustReserve("ann@login1", timed()...); id != "R1.srv" {
		t.Errorf("it is %s", id)
	}
	if q, ok := b.store.View().Queue("R0"); !ok || q.Reservation != "" || q.Int("Priority") != 7 {
		t.Errorf("the queue is %+v", q)
	}
}

// Later occurrences of a standing one are told as far as they are asked for, with the vnodes of each.
func TestList_Occurrences(t *testing.T) {
	b := resvBench(t)
	id := b.mustReserve("ann@login1", timed(set("reserve_rrule", "FREQ=DAILY;COUNT=3"), set("Variable_List", "PBS_TZID=UTC"))...)
	b.decide(id, "(hosta:ncpus=1)", "(hosta:ncpus=1)", "(hosta:ncpus=1)")
	first, length := b.resv(id).Start.Unix(), b.resv(id).Length.Unix()
	const day = 24 * 60 * 60
	for until, want := range map[int64]int{0: 0, first + day: 0, first + day + 1: 1, first + 9*day: 2} {
		got, err := b.list("ann@login1", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_RESERVATION, OccurrencesUntil: until})
		if err != nil || len(got) != 1 || len(got[0].GetOccurrences()) != want {
			t.Fatalf("until %d: %v, %v; want %d", until-first, got, err, want)
		}
		for n, o := range got[0].GetOccurrences() {
			if start := first + int64(n+1)*day; o.GetStart() != start || o.GetEnd() != start+length || o.GetNodes() != "(hosta:ncpus=1)" {
				t.Errorf("occurrence %d: %v, want it at %d", n+2, o, start)
			}
		}
	}
}
