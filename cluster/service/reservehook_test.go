package service

import (
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/hook"
	"rampart/transport/api"
)

func edited(set map[string]string) *hook.Outcome {
	out := accepted(set)
	out.Resv, out.Job = out.Job, nil
	return out
}

// RV-70: hooks of resvsub see the request, refuse it, or change it.
func TestHooks_Resvsub(t *testing.T) {
	b, s := hookedBench(t, "resvsub", func(e *hook.Event) *hook.Outcome {
		if e.Resv.Get("Reserve_Name", "") == "no" {
			return rejected("not you")
		}
		return edited(map[string]string{"Reserve_Name": "changed", "Resource_List.walltime": "90", "Authorized_Users": "bob"})
	})
	b.host("hosta", "hosta")
	if _, err := b.reserve("ann@login1", timed(set("Reserve_Name", "no"))...); pbs.CodeOf(err) != pbs.HookError || err.Error() != "not you" {
		t.Errorf("a rejection: %v", err)
	}
	for range b.store.View().Reservations() {
		t.Error("what was rejected is there")
	}
	start := ahead(time.Hour)
	id := b.mustReserve("ann@login1", set("reserve_start", start), set("reserve_duration", "60"), set("Reserve_Name", "x"), set("interactive", "0"))
	for name, want := range map[string]string{"Reserve_Name": "changed", "reserve_duration": "90", "Authorized_Users": "bob,ann@login1"} {
		if got := b.resvAttr(id, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	e := s.last()
	for name, want := range map[string]string{
		"Reserve_Name": "x", "reserve_start": start, "reserve_end": "", "reserve_state": "", "Variable_List": "PBS_O_LOGNAME=ann,PBS_O_HOST=login1",
	} {
		if got := e.Resv.Get(name, ""); got != want {
			t.Errorf("the hook saw %s = %q, want %q", name, got, want)
		}
	}
	if e.Resv.Name != "" || e.Resv.Get("Resource_List", "walltime") != "60" || e.Requestor != "ann" || e.RequestorHost != "login1" {
		t.Errorf("the hook saw %+v", e.Resv)
	}
}

// RV-71: hooks of modifyresv see what is asked for and what there is; what they set is one change with it, all of it or none.
func TestHooks_Modifyresv(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answer *hook.Outcome
		b, s := hookedBench(t, "modifyresv", func(*hook.Event) *hook.Outcome { return answer })
		b.host("hosta", "hosta")
		id := b.mustReserve("ann@login1", timed()...)
		b.decide(id, "(hosta:ncpus=1)")
		before := b.resv(id).Modified
		ask := func(changes ...*api.Attribute) (string, error) {
			return b.ralter("ann@login1", &api.AlterReservationRequest{Reservation: string(id), Changes: changes})
		}
		answer = rejected("no modification")
		if _, err := ask(set("reserve_duration", "70")); err == nil || err.Error() != "no modification" || b.resv(id).Modified != before {
			t.Errorf("a rejection: %v", err)
		}
		e := s.last()
		if e.Resv.Name != string(id) || e.Resv.Get("reserve_duration", "") != "70" || e.Resv.Get("Reserve_Name", "") != "" ||
			e.ResvBefore.Get("reserve_duration", "") != "60" || e.ResvBefore.Get("reserve_state", "") != "2" || e.ResvBefore.Get("schedselect", "") != "1:ncpus=1" {
			t.Errorf("the hook saw %+v, %+v", e.Resv, e.ResvBefore)
		}
		answer = edited(map[string]string{"Reserve_Name": "x", "reserve_start": ahead(-time.Hour)})
		if _, err := ask(set("reserve_duration", "70")); pbs.CodeOf(err) != pbs.BadTimes || b.resv(id).Modified != before {
			t.Errorf("a start in the past: %v", err)
		}
		answer = edited(map[string]string{"Reserve_Name": "x", "reserve_duration": "80"})
		done := make(chan string)
		go func() {
			got, err := ask(set("reserve_duration", "70"), set("interactive", "10"))
			if err != nil {
				got = err.Error()
			}
			done <- got
		}()
		time.Sleep(time.Second)
		b.decide(id, "(hosta:ncpus=1)")
		if got := <-done; got != "CONFIRMED" || b.resvAttr(id, "reserve_duration") != "80" || b.resvAttr(id, "Reserve_Name") != "x" {
			t.Errorf("%s: it lasts %s, %s", got, b.resvAttr(id, "reserve_duration"), b.resvAttr(id, "Reserve_Name"))
		}
	})
}

// What scripts see of a reservation beside what is shown to users.
func TestHookSource_Reservations(t *testing.T) {
	b := resvBench(t)
	b.mustReserve("ann@login1", timed()...)
	id := b.mustReserve("ann@login1", timed(set("reserve_rrule", "FREQ=DAILY;COUNT=3"), set("Variable_List", "PBS_TZID=UTC"))...)
	b.decide(id, "(hosta:ncpus=1)", "(hosta:ncpus=1)", "(hostb:ncpus=1)")
	var all []hook.Object
	ask := func(name string) []hook.Object {
		all = nil
		err := HookSource{b.store.View()}.Objects(t.Context(), "resv", name, func(o hook.Object) error {
			all = append(all, o)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got := ask(""); len(got) != 2 || got[0].Name != "R0.srv" || got[1].Name != "S1.srv" {
		t.Errorf("all are %v", got)
	}
	if got := ask("R9"); len(got) != 0 {
		t.Errorf("an unknown one is %v", got)
	}
	one := ask("S1")[0]
	for name, want := range map[string]string{
		"schedselect": "1:ncpus=1", "schedselect_orig": "", "euser": "ann", "reserve_standing": "1", "reserve_timezone": "UTC",
		"reserve_execvnodes": "3#(hosta:ncpus=1){0-1}(hostb:ncpus=1){2}", "reserve_count": "3",
	} {
		if got := one.Get(name, ""); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
