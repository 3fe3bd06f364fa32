package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// += and -= count from what is in force, and end where = may end (specification: cli-contract
// section 5).
func TestManage_AddsToWhatIsInForce(t *testing.T) {
	w := newWriter(t)
	for _, c := range []struct {
		name, res string
		op        Op
		value     string
		want      string // refused if empty
	}{
		{"max_array_size", "", OpIncrease, "5", "10005"},
		{"max_array_size", "", OpDecrease, "5", "10000"},
		{"node_fail_requeue", "", OpDecrease, "10", "300"},
		{"scheduler_iteration", "", OpDecrease, "600", ""},
		{"max_running", "", OpIncrease, "2", "2"},
		{"max_running", "", OpDecrease, "3", ""},
		{"resources_available", "ncpus", OpIncrease, "2", "2"},
		{"resources_available", "ncpus", OpDecrease, "3", ""},
		{"resources_available", "mem", OpSet, "2gb", "2gb"},
		{"resources_available", "mem", OpDecrease, "3gb", ""},
	} {
		before, _ := w.View().Server().Attrs.Get(c.name, c.res)
		err := w.run(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Op: c.op, Entry: attr.Entry{Name: c.name, Resource: c.res, Value: c.value}}}})
		want := c.want
		if want == "" {
			want = before
			if pbs.CodeOf(err) != pbs.BadAttributeValue {
				t.Errorf("%s.%s %d %s: %v", c.name, c.res, c.op, c.value, err)
			}
		}
		if got, _ := w.View().Server().Attrs.Get(c.name, c.res); got != want {
			t.Errorf("%s.%s is %q after %d %s, want %q", c.name, c.res, got, c.op, c.value, want)
		}
	}
}

// What a vnode has is not below nothing.
func TestManageVnode_SubtractsDownToNothing(t *testing.T) {
	w := newWriter(t)
	w.must(&ManageVnode{Verb: VerbCreate, Vnode: "a"})
	change := func(op Op, value string) error {
		return w.run(&ManageVnode{Verb: VerbSet, Vnode: "a", Changes: []AttrChange{{Op: op, Entry: attr.Entry{Name: "resources_available", Resource: "ncpus", Value: value}}}})
	}
	if err := change(OpIncrease, "4"); err != nil {
		t.Fatal(err)
	}
	if err := change(OpDecrease, "5"); pbs.CodeOf(err) != pbs.BadAttributeValue {
		t.Errorf("four less five: %v", err)
	}
	v, _ := w.View().Vnode("a")
	if got, _ := v.Available().Get("ncpus"); got != "4" {
		t.Errorf("ncpus is %s", got)
	}
}

// A server that goes without resources_default.ncpus has the first one again, whatever unset it: a job
// that asks for nothing takes a cpu (specification: breadth section 1, rule 37).
func TestManageServer_UnsetCPUsByDefault(t *testing.T) {
	for _, e := range []attr.Entry{{Name: "resources_default"}, {Name: "resources_default", Resource: "ncpus"}} {
		w := newWriter(t)
		set := func(res, value string) {
			entry := attr.Entry{Name: "resources_default", Resource: res, Value: value}
			w.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Op: OpSet, Entry: entry}}})
		}
		set("ncpus", "7")
		set("mem", "2gb")
		w.must(&ManageServer{Verb: VerbUnset, Changes: []AttrChange{{Op: OpUnset, Entry: e}}})
		server := w.View().Server().Attrs
		if got, _ := server.Get("resources_default", "ncpus"); got != "1" {
			t.Errorf("unset %v: resources_default.ncpus is %q", e, got)
		}
		if _, ok := server.Get("resources_default", "mem"); ok != (e.Resource != "") {
			t.Errorf("unset %v: resources_default.mem is set: %v", e, ok)
		}
	}
}
