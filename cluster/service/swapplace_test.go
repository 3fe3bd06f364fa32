package service

import (
	"strings"
	"testing"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// A user gives his jobs places that his jobs have, so that nobody else's moves; an operator those of all jobs of the queue (btop, bbot).
func TestSwap_Places(t *testing.T) {
	b := newBench(t)
	b.do(&command.ManageQueue{Verb: command.VerbCreate, Queue: "q2", Changes: []command.AttrChange{
		{Entry: entry("queue_type", "Execution")}, {Entry: entry("enabled", "True")},
	}})
	const operator = "root@replica:s1"
	for _, who := range []string{"ann@h", "bob@h", "ann@h", "bob@h", "ann@h"} {
		b.mustSubmit(who)
	}
	if _, err := b.submit("ann@h", &api.Attribute{Name: "Priority", Value: "5"}); err != nil {
		t.Fatal(err)
	}
	order := func() string {
		v := b.store.Publish()
		out := ""
		for class, j := range v.Classes() {
			for ok := true; ok; j, ok = v.NextOf(class, j) {
				out += j.ID.Number()
			}
		}
		return out
	}
	place := func(who, job string, top, bottom uint32) error {
		_, err := b.Batch.Swap(b.as(who), request(&api.SwapRequest{Job: job + ".srv", FromTop: top, FromBottom: bottom}, ""))
		return err
	}
	for _, c := range []struct {
		who, job    string
		top, bottom uint32
		want        string
	}{
		{"ann@h", "4", 1, 0, "541032"}, // 5 has a priority of its own
		{"ann@h", "4", 1, 0, "541032"},
		{"ann@h", "4", 0, 1, "501234"},
		{"ann@h", "0", 2, 0, "521034"},
		{"ann@h", "0", 0, 2, "521034"},
		{"ann@h", "2", 4000000000, 0, "501432"},
		{"bob@h", "3", 0, 4000000000, "503412"},
		{operator, "2", 1, 0, "520341"},
		{operator, "2", 0, 2, "503421"},
		{operator, "5", 0, 1, "503421"},
	} {
		if err := place(c.who, c.job, c.top, c.bottom); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if got := order(); got != c.want {
			t.Fatalf("%+v: %s", c, got)
		}
	}
	for name, c := range map[string]struct {
		who, job    string
		top, bottom uint32
		code        pbs.Code
	}{
		"somebody else's":  {"bob@h", "0", 1, 0, pbs.Unauthorized},
		"from nowhere":     {"ann@h", "0", 0, 0, pbs.InvalidRequest},
		"from both ends":   {"ann@h", "0", 1, 1, pbs.InvalidRequest},
		"one that is none": {"ann@h", "99", 1, 0, pbs.UnknownJob},
	} {
		if err := place(c.who, c.job, c.top, c.bottom); pbs.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.Batch.Move(b.as("ann@h"), request(&api.MoveRequest{Job: "4.srv", Destination: "q2"}, "")); err != nil {
		t.Fatal(err)
	}
	b.host("hosta", "hosta")
	b.do(&command.StartJob{Job: "0.srv", ExecVnode: "(hosta:ncpus=1)"})
	if err := place("ann@h", "0", 1, 0); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("one that runs: %v", err)
	}
	if err := place("ann@h", "2", 1, 0); err != nil || !strings.Contains(order(), "5321") {
		t.Errorf("its only one there: %v, %s", err, order())
	}
	if err := b.store.Publish().Check(); err != nil {
		t.Error(err)
	}
}
