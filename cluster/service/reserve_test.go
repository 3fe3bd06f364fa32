package service

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// ahead is a moment after now, as requests tell it.
func ahead(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).Unix(), 10) }

// resvBench has two hosts of 4 cpus.
func resvBench(t *testing.T) *bench {
	b := newBench(t)
	b.host("hosta", "hosta")
	b.host("hostb", "hostb")
	return b
}

func (b *bench) reserve(who string, attributes ...*api.Attribute) (*api.ReserveReply, error) {
	r, err := b.Batch.Reserve(b.as(who), request(&api.ReserveRequest{Attributes: attributes}, ""))
	if err != nil {
		return nil, err
	}
	return r.Msg, nil
}

// timed is a request for a minute in an hour.
func timed(more ...*api.Attribute) []*api.Attribute {
	return append([]*api.Attribute{set("reserve_start", ahead(time.Hour)), set("reserve_duration", "60")}, more...)
}

func (b *bench) mustReserve(who string, attributes ...*api.Attribute) pbs.ReservationID {
	b.t.Helper()
	r, err := b.reserve(who, attributes...)
	if err != nil {
		b.t.Fatal(err)
	}
	return pbs.ReservationID(r.GetReservation())
}

func (b *bench) resv(id pbs.ReservationID) *state.Reservation {
	b.t.Helper()
	r, ok := b.store.View().Reservation(id)
	if !ok {
		b.t.Fatalf("no reservation %s", id)
	}
	return r
}

// decide answers for the scheduler: with vnodes, or with none.
func (b *bench) decide(id pbs.ReservationID, nodes ...string) {
	b.t.Helper()
	b.do(&command.DecideReservation{Reservation: id, Asked: b.resv(id).Asked, Nodes: nodes})
}

func (b *bench) resvAttr(id pbs.ReservationID, name string) string {
	for _, e := range b.store.View().ReservationAttributes(b.resv(id)) { // in the order of the table
		if e.Name == name || e.Name+"."+e.Resource == name {
			return e.Value
		}
	}
	return ""
}

func TestReserve(t *testing.T) {
	b := resvBench(t)
	start, end := ahead(time.Hour), ahead(time.Hour+2*time.Minute)
	r, err := b.reserve("ann@login1", set("reserve_start", start), set("reserve_end", end), set("Reserve_Name", "one"), set("Authorized_Users", "bob@*"),
		set("Authorized_Groups", "anns"), set("Resource_List.select", "1:ncpus=2"), set("Mail_Points", "abce"), set("Mail_Users", "x@y"))
	if err != nil {
		t.Fatal(err)
	}
	id := pbs.ReservationID(r.GetReservation())
	if id.Kind() != pbs.ResvAdvance || r.GetOutcome() != unconfirmed {
		t.Errorf("%s %s", id, r.GetOutcome())
	}
	for name, want := range map[string]string{
		"Reserve_Name": "one", "Reserve_Owner": "ann@login1", "reserve_state": "RESV_UNCONFIRMED", "reserve_start": start, "reserve_end": end,
		"reserve_duration": "120", "Resource_List.ncpus": "2", "Resource_List.walltime": "00:02:00", "Authorized_Users": "bob@*,ann@login1",
		"Authorized_Groups": "anns", "Variable_List": "PBS_O_LOGNAME=ann,PBS_O_HOST=login1", "Mail_Points": "abce", "Mail_Users": "x@y", "reserve_count": "1",
		"interactive": "", "reserve_rrule": "",
	} {
		if got := b.resvAttr(id, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// Two of start, end and length tell the third; what does not agree, is past or lasts no time is refused.
func TestReserve_Times(t *testing.T) {
	b := resvBench(t)
	start, end := ahead(600*time.Second), ahead(660*time.Second)
	for _, c := range []struct {
		start, end, length, walltime string
		ok                           bool
	}{
		{start: start, end: end, ok: true},
		{start: start, length: "60", ok: true},
		{start: start, length: "00:01:00", ok: true},
		{end: end, length: "60", ok: true},
		{start: start, end: end, length: "60", ok: true},
		{start: start, walltime: "60", ok: true},
		{start: start, walltime: "60", length: "60", ok: true},
		{start: start, walltime: "61", length: "60"},
		{start: start},
		{end: end},
		{length: "60"},
		{},
		{start: start, end: end, length: "61"},
		{start: end, end: start},
		{start: start, end: start},
		{start: start, length: "0"},
		{start: start, length: "99999999999"},
		{start: ahead(-time.Hour), length: "7200"},
		{end: ahead(time.Minute), length: "7200"},
	} {
		var list []*api.Attribute
		for name, value := range map[string]string{
			"reserve_start": c.start, "reserve_end": c.end, "reserve_duration": c.length, "Resource_List.walltime": c.walltime,
		} {
			if value != "" {
				list = append(list, set(name, value))
			}
		}
		id, err := b.reserve("ann@h", list...)
		if c.ok != (err == nil) || err != nil && err.Error() != "Bad time specification(s)" {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if !c.ok {
			continue
		}
		if got := b.resvAttr(pbs.ReservationID(id.GetReservation()), "reserve_end"); got != end {
			t.Errorf("%+v ends at %s, want %s", c, got, end)
		}
	}
}

func TestReserve_Refusals(t *testing.T) {
	b := resvBench(t)
	for _, c := range []struct {
		name string
		set  []*api.Attribute
		want string
		code pbs.Code
	}{
		{"unknown attribute", timed(set("foo", "bar")), "Undefined attribute ", pbs.UndefinedAttribute},
		{"a bad length", []*api.Attribute{set("reserve_start", ahead(time.Hour)), set("reserve_duration", "xx")}, "Illegal attribute or resource value Resource_List.walltime", pbs.BadAttributeValue},
		{"a length below nothing", []*api.Attribute{set("reserve_start", ahead(time.Hour)), set("Resource_List.walltime", "-5")}, "Illegal attribute or resource value Resource_List.walltime", pbs.BadAttributeValue},
		{"bad place", timed(set("Resource_List.place", "foo")), "Illegal attribute or resource value Resource_List.place", pbs.BadAttributeValue},
		{"unknown resource", timed(set("Resource_List.nosuch", "1")), "Unknown resource Resource_List.nosuch", pbs.UnknownResource},
		{"unknown resource in a select", timed(set("Resource_List.select", "1:nosuch=1")), "Unknown resource: nosuch", pbs.UnknownResource},
		{"bounds of a walltime", timed(set("Resource_List.min_walltime", "10")), `"min_walltime" and "max_walltime" are not valid resources for a reservation`, pbs.ResvWalltimeRange},
		{"read only", timed(set("resv_nodes", "(hosta:ncpus=1)")), "Cannot set attribute, read only or insufficient permission  resv_nodes", pbs.ReadOnlyAttribute},
		{"a rule without a zone", timed(set("reserve_rrule", "FREQ=DAILY;COUNT=2")), "Unrecognized PBS_TZID environment variable", pbs.UnknownZone},
		{"a rule of nothing", timed(set("reserve_rrule", "FREQ=NEVER;COUNT=2"), set("Variable_List", "PBS_TZID=UTC")), "Undefined iCalendar syntax", pbs.BadRule},
		{"a rule without end", timed(set("reserve_rrule", "FREQ=DAILY"), set("Variable_List", "PBS_TZID=UTC")), "Undefined iCalendar syntax. A valid COUNT or UNTIL is required", pbs.UnboundRule},
		{"a rule of the past", timed(set("reserve_rrule", "FREQ=DAILY;UNTIL=19990101"), set("Variable_List", "PBS_TZID=UTC")), "Bad time specification(s)", pbs.BadTimes},
		{"an end that no time can tell", []*api.Attribute{set("reserve_start", "8589934592"), set("reserve_duration", "8589934592")}, "Bad time specification(s)", pbs.BadTimes},
		{"a start before any time", []*api.Attribute{set("reserve_end", ahead(time.Hour)), set("reserve_duration", "8589934592")}, "Bad time specification(s)", pbs.BadTimes},
		{"a job that there is not", []*api.Attribute{set("reserve_job", "99")}, "Unknown Job Id", pbs.UnknownJob},
		{"a job to move that there is not", []*api.Attribute{set("qmove", "99")}, "Unknown Job Id", pbs.UnknownJob},
	} {
		if _, err := b.reserve("ann@h", c.set...); pbs.CodeOf(err) != c.code || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	for range b.store.View().Reservations() {
		t.Error("there is a reservation")
	}
}

// The lists of the server say who may reserve, hosts first, then groups, then users; resv_enable says whether anybody may.
func TestReserve_Access(t *testing.T) {
	for _, c := range []struct {
		name, who string
		server    []*api.Attribute
		want      string
	}{
		{"no list", "ann@login1", nil, ""},
		{"lists that are not enabled", "ann@login1", []*api.Attribute{set("acl_resv_users", "bob"), set("acl_resv_hosts", "x"), set("acl_resv_groups", "y")}, ""},
		{"user", "bob@login1", []*api.Attribute{set("acl_resv_users", "bob@*"), set("acl_resv_user_enable", "True")}, ""},
		{"another user", "ann@login1", []*api.Attribute{set("acl_resv_users", "bob@*"), set("acl_resv_user_enable", "True")}, "Requestor not authorized to make reservations"},
		{"root is no better", "root@replica:s1", []*api.Attribute{set("acl_resv_users", "bob@*"), set("acl_resv_user_enable", "True")}, "Requestor not authorized to make reservations"},
		{"group", "ann@login1", []*api.Attribute{set("acl_resv_groups", "users"), set("acl_resv_group_enable", "True")}, ""},
		{"another group of the user's", "ann@login1", []*api.Attribute{set("acl_resv_groups", "anns"), set("acl_resv_group_enable", "True")}, ""},
		{
			"another group, before users", "ann@login1",
			[]*api.Attribute{set("acl_resv_groups", "wheel"), set("acl_resv_group_enable", "True"), set("acl_resv_users", "bob"), set("acl_resv_user_enable", "True")},
			"Requestor's group not authorized to submit reservations",
		},
		{
			"host, before groups", "ann@login1",
			[]*api.Attribute{set("acl_resv_groups", "wheel"), set("acl_resv_group_enable", "True"), set("acl_resv_hosts", "elsewhere"), set("acl_resv_host_enable", "True")},
			"Host machine not authorized to submit reservations",
		},
		{"none at all", "root@replica:s1", []*api.Attribute{set("resv_enable", "False")}, "reservations disallowed on srv"},
	} {
		b := resvBench(t)
		if len(c.server) > 0 {
			b.server(c.server...)
		}
		got := ""
		if _, err := b.reserve(c.who, timed()...); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Hosts are reserved by Operators and Managers, with a start, and at once.
func TestReserve_Maintenance(t *testing.T) {
	b := resvBench(t)
	ask := func(who string, hosts []string, list ...*api.Attribute) (*api.ReserveReply, error) {
		r, err := b.Batch.Reserve(b.as(who), request(&api.ReserveRequest{Attributes: list, Hosts: hosts}, ""))
		if err != nil {
			return nil, err
		}
		return r.Msg, nil
	}
	if _, err := ask("ann@h", []string{"hosta"}, timed()...); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("a user: %v", err)
	}
	if _, err := ask("op@hosta", []string{"hosta"}, set("reserve_end", ahead(time.Hour)), set("reserve_duration", "60")); pbs.CodeOf(err) != pbs.BadTimes {
		t.Errorf("without a start: %v", err)
	}
	r, err := ask("op@hosta", []string{"hosta", "hostb"}, timed()...)
	if err != nil || r.GetOutcome() != confirmed || pbs.ReservationID(r.GetReservation()).Kind() != pbs.ResvMaintenance {
		t.Fatalf("%v, %v", r, err)
	}
	if got := b.resvAttr(pbs.ReservationID(r.GetReservation()), "reserve_state"); got != "RESV_CONFIRMED" {
		t.Errorf("it is %s", got)
	}
}

// A rule with several occurrences makes a standing reservation, with one an ordinary one.
func TestReserve_Standing(t *testing.T) {
	b := resvBench(t)
	rule := func(text string) pbs.ReservationID {
		return b.mustReserve("ann@h", timed(set("reserve_rrule", text), set("Variable_List", "PBS_TZID=Europe/Berlin,HOME=/x"))...)
	}
	id := rule("FREQ=DAILY;COUNT=3")
	r := b.resv(id)
	if id.Kind() != pbs.ResvStanding || r.Count != 3 || r.Zone != "Europe/Berlin" || r.Rule != "FREQ=DAILY;COUNT=3" {
		t.Errorf("%s: %+v", id, r)
	}
	if got, want := b.resvAttr(id, "Variable_List"), "PBS_O_LOGNAME=ann,PBS_O_HOST=h,PBS_TZID=Europe/Berlin"; got != want {
		t.Errorf("Variable_List is %q, want %q", got, want)
	}
	if id := rule("FREQ=DAILY;COUNT=1"); id.Kind() != pbs.ResvAdvance || b.resv(id).Rule != "" {
		t.Errorf("%s: %+v", id, b.resv(id))
	}
}

// waiting asks and returns the answer when there is one.
func (b *bench) waiting(ctx context.Context, id pbs.RequestID, list ...*api.Attribute) <-chan string {
	answer := make(chan string, 1)
	go func() {
		r, err := b.Batch.Reserve(ctx, request(&api.ReserveRequest{Attributes: list}, id))
		if err != nil {
			answer <- err.Error()
			return
		}
		outcome := strings.TrimPrefix(r.Msg.GetOutcome().String(), "RESERVATION_OUTCOME_")
		answer <- fmt.Sprintf("%s %s", r.Msg.GetReservation(), outcome)
	}()
	return answer
}

// A client waits for the decision as long as it wants to.
func TestReserve_Waits(t *testing.T) {
	for _, c := range []struct {
		name, wait string
		meanwhile  func(b *bench)
		want       string
		after      time.Duration
		there      bool
	}{
		{"no wait", "0", nil, "R0.srv UNCONFIRMED", 0, true},
		{"confirmed", "10", func(b *bench) { b.decide("R0.srv", "(hosta:ncpus=1)") }, "R0.srv CONFIRMED", time.Second, true},
		{"denied", "10", func(b *bench) { b.decide("R0.srv") }, "R0.srv DENIED", time.Second, false},
		{"confirmed, below 0", "-10", func(b *bench) { b.decide("R0.srv", "(hosta:ncpus=1)") }, "R0.srv CONFIRMED", time.Second, true},
		{"denied, below 0", "-10", func(b *bench) { b.decide("R0.srv") }, "R0.srv DENIED", time.Second, false},
		{"over", "3", nil, "R0.srv UNCONFIRMED", 3 * time.Second, true},
		{"over, below 0", "-3", nil, "R0.srv WAIT_EXPIRED", 3 * time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := resvBench(t)
				began := time.Now()
				answer := b.waiting(b.as("ann@h"), "", timed(set("interactive", c.wait))...)
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
				if _, there := b.store.View().Reservation("R0.srv"); there != c.there {
					t.Errorf("the reservation is there: %v, want %v", there, c.there)
				}
			})
		})
	}
}

// Where the clock of the host is behind that of the log, nobody waits for longer than he has asked to.
func TestReserve_WaitsWhereTheClockIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := resvBench(t)
		b.Batch.clock = func() time.Time { return time.Now().Add(-time.Minute) }
		began := time.Now()
		id := b.mustReserve("ann@h", timed(set("interactive", "3"))...)
		if took := time.Since(began); took < 3*time.Second || took > 3100*time.Millisecond {
			t.Errorf("a wait of 3 s took %s", took)
		}
		b.decide(id, "(hosta:ncpus=1)")
		began = time.Now()
		_, err := b.Batch.AlterReservation(b.as("ann@h"), request(&api.AlterReservationRequest{
			Reservation: string(id), Changes: []*api.Attribute{set("reserve_duration", "90"), set("interactive", "3")},
		}, ""))
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 3*time.Second || took > 3100*time.Millisecond {
			t.Errorf("a wait of 3 s for an alteration took %s", took)
		}
	})
}

// A client that goes away changes nothing. One that repeats its request, at another leader too, waits for what is left of its
// time, and finds its reservation (L8).
func TestReserve_Repeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := resvBench(t)
		id, list := transport.NewRequestID(), timed(set("interactive", "-10"))
		ctx, leave := context.WithCancel(b.as("ann@h"))
		answer := b.waiting(ctx, id, list...)
		time.Sleep(4 * time.Second)
		leave()
		if got := <-answer; !strings.Contains(got, "canceled") {
			t.Errorf("who went away reads %s", got)
		}
		next := b.next()
		b.Services = next
		again := time.Now()
		answer = b.waiting(b.as("ann@h"), id, list...)
		if got := <-answer; got != "R0.srv WAIT_EXPIRED" {
			t.Errorf("the repeat: %s", got)
		}
		if took := time.Since(again); took < 5*time.Second || took > 6100*time.Millisecond {
			t.Errorf("the repeat waited for %s", took)
		}
		if n := len(slices.Collect(b.store.View().Reservations())); n != 0 {
			t.Errorf("there are %d reservations", n)
		}
		if got := <-b.waiting(b.as("ann@h"), id, list...); got != "R0.srv WAIT_EXPIRED" {
			t.Errorf("another repeat: %s", got)
		}
	})
}

// A wait of twenty minutes goes on at another leader after more than the ten within which a request may be made anew.
func TestReserve_WaitsForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := resvBench(t)
		id, list := transport.NewRequestID(), timed(set("interactive", "1200"))
		ctx, leave := context.WithCancel(b.as("ann@h"))
		answer := b.waiting(ctx, id, list...)
		for range 11 {
			time.Sleep(time.Minute)
			b.do(&command.TimeTick{})
		}
		leave()
		<-answer
		b.Services = b.next()
		answer = b.waiting(b.as("ann@h"), id, list...)
		time.Sleep(time.Minute)
		b.decide("R0.srv", "(hosta:ncpus=1)")
		if got := <-answer; got != "R0.srv CONFIRMED" {
			t.Errorf("the repeat: %s", got)
		}
		if n := len(slices.Collect(b.store.View().Reservations())); n != 1 {
			t.Errorf("there are %d reservations", n)
		}
	})
}

// A running job becomes a reservation, of its owner: by him, or by Operators.
func TestReserve_OfJob(t *testing.T) {
	b := resvBench(t)
	id := b.mustSubmit("ann@login1", set("Resource_List.select", "1:ncpus=2"), set("Resource_List.walltime", "600"))
	array := b.mustSubmit("ann@login1", set("array_indices_submitted", "1-2"))
	ofJob := func(who, job string, more ...*api.Attribute) error {
		r, err := b.reserve(who, append(more, set("reserve_job", job))...)
		if err == nil && r.GetOutcome() != confirmed {
			t.Errorf("the outcome is %s", r.GetOutcome())
		}
		return err
	}
	if err := ofJob("ann@login1", id); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("one that does not run: %v", err)
	}
	for _, name := range []string{array, "1[1]"} {
		if err := ofJob("ann@login1", name); pbs.CodeOf(err) != pbs.ResvFromArray {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.starts(id)
	b.do(&command.JobStarted{Source: command.Source{Host: "hosta", Spool: "s", Seq: 1}, Job: pbs.JobID(id), RunCount: 1, Session: 7})
	if err := ofJob("bob@login1", id); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("another user: %v", err)
	}
	if err := ofJob("ann@login1", id, timed()[0]); pbs.CodeOf(err) != pbs.BadTimes {
		t.Errorf("with a time: %v", err)
	}
	if err := ofJob("op@hosta", id); err != nil {
		t.Fatal(err)
	}
	if err := ofJob("ann@login1", id); pbs.CodeOf(err) != pbs.ResvFromResv {
		t.Errorf("again: %v", err)
	}
	resv, _ := b.store.View().ReservationOf(b.job(id).Queue)
	if resv == nil || resv.Owner.String() != "ann@login1" || b.resvAttr(resv.ID, "reserve_job") != id {
		t.Errorf("the reservation is %+v", resv)
	}
}

// A queued job goes into the reservation that was confirmed for it. If the user may not move it nobody has the reservation.
func TestReserve_QMove(t *testing.T) {
	for _, c := range []struct {
		who, want string
		moved     bool
	}{{"ann@login1", "R1.srv CONFIRMED", true}, {"bob@login1", "R1.srv FAILED", false}} {
		synctest.Test(t, func(t *testing.T) {
			b := resvBench(t)
			job := b.mustSubmit("ann@login1", set("Resource_List.select", "1:ncpus=2"), set("Resource_List.walltime", "600"))
			if _, err := b.reserve(c.who, set("qmove", job), set("interactive", "5")); pbs.CodeOf(err) != pbs.InvalidRequest {
				t.Errorf("a wait above 0: %v", err)
			}
			answer := b.waiting(b.as(c.who), "", set("qmove", job))
			time.Sleep(time.Second)
			id := pbs.ReservationID("R1.srv")
			b.do(&command.DecideReservation{
				Reservation: id, Asked: b.resv(id).Asked, Nodes: []string{"(hosta:ncpus=2)"}, Start: pbs.Time(time.Now().Add(time.Minute).UnixNano()),
			})
			if got := <-answer; got != c.want {
				t.Errorf("%s: %s, want %s", c.who, got, c.want)
			}
			if _, there := b.store.View().Reservation(id); there != c.moved || (b.job(job).Queue == "R1") != c.moved {
				t.Errorf("%s: reservation %v, the job is in %s", c.who, there, b.job(job).Queue)
			}
			if c.moved && (b.resvAttr(id, "delete_idle_time") != "00:10:00" || b.resvAttr(id, "qmove") != job) {
				t.Errorf("it has %s, %s", b.resvAttr(id, "delete_idle_time"), b.resvAttr(id, "qmove"))
			}
		})
	}
}

// The job that is moved away by somebody else stays out, and the reservation is no error of the replica.
func TestReserve_QMoveOfWhatRuns(t *testing.T) {
	b := resvBench(t)
	job := b.mustSubmit("ann@login1", set("Resource_List.select", "1:ncpus=2"))
	b.do(&command.StartJob{Job: pbs.JobID(job), ExecVnode: "(hosta:ncpus=2)"})
	if _, err := b.reserve("ann@login1", set("qmove", job)); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("a running job: %v", err)
	}
}
