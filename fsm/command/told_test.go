package command

import (
	"slices"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Each change by qmgr leaves one event that says who did what to which object, and what of each attribute; a new hook's are not named,
// as in a PBS.
func TestManage_TellsWhatChanged(t *testing.T) {
	w := newWriter(t)
	one := func(name, value string, op Op) []AttrChange {
		name, res, _ := strings.Cut(name, ".")
		return []AttrChange{{Entry: attr.Entry{Name: name, Resource: res, Value: value}, Op: op}}
	}
	for _, c := range []struct {
		do   Command
		want string // OBJECT: TEXT[|ATTRIBUTE]
	}{
		{&ManageServer{Verb: VerbSet, Changes: one("comment", "hello", OpSet)}, "server: attributes set: |comment = hello"},
		{&ManageServer{Verb: VerbSet, Changes: one("managers", "ann@*", OpIncrease)}, "server: attributes set: |managers + ann@*"},
		{&ManageServer{Verb: VerbUnset, Changes: one("comment", "", OpUnset)}, "server: attributes unset: |comment = "},
		{&ManageQueue{Verb: VerbCreate, Queue: "q2", Changes: one("queue_type", "Execution", OpSet)}, "queue q2: created|queue_type = Execution"},
		{&ManageQueue{Verb: VerbDelete, Queue: "q2"}, "queue q2: deleted"},
		{&ManageVnode{Verb: VerbCreate, Vnode: "v"}, "node v: created"},
		{&ManageVnode{Verb: VerbSet, Vnode: "v", Changes: one("state", "offline", OpIncrease)}, "node v: attributes set: |state + offline"},
		{&ManageVnode{Verb: VerbDelete, Vnode: "v"}, "node v: deleted"},
		{&ManageResource{Verb: VerbCreate, Name: "foo", Changes: one("type", "long", OpSet)}, "resource foo: created|type = long"},
		{&ManageServer{Verb: VerbSet, Changes: one("resources_available.foo", "3", OpSet)}, "server: attributes set: |resources_available.foo = 3"},
		{&ManageResource{Verb: VerbDelete, Name: "foo"}, "resource foo: deleted"},
		{&ManageSched{Verb: VerbSet, Changes: one("job_sort_key", "\"ncpus HIGH\"", OpSet)}, "sched default: attributes set: |job_sort_key = \"ncpus HIGH\""},
		{&ManageSched{Verb: VerbCreate, Name: "sc1"}, "sched sc1: created"},
		{&ManageSched{Verb: VerbDelete, Name: "sc1"}, "sched sc1: deleted"},
		{&ManageHook{Verb: VerbCreate, Name: "h", Changes: one("enabled", "false", OpSet)}, "hook h: created"},
		{&ManageHook{Verb: VerbSet, Name: "h", Changes: one("enabled", "true", OpSet)}, "hook h: attributes set: |enabled = true"},
		{&ImportHook{Name: "h", Kind: state.HookScript, Body: []byte("pass\n")}, "hook h: mgr_hook_import"},
		{&ManageHook{Verb: VerbDelete, Name: "h"}, "hook h: deleted"},
	} {
		w.index++
		out, events := Run(w.Store, w.index, 1, Entry{Time: pbs.Time(w.index), Proposals: []Proposal{{Asker: pbs.User{Name: "root", Host: "s1"}, Commands: []Command{c.do}}}})
		w.Publish()
		if err := out[0].Err(); err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		var told []string
		for _, e := range events {
			if e.Kind == state.ObjectChanged {
				told = append(told, strings.Join(append([]string{e.Object + ": " + e.Text}, e.Attributes...), "|"))
			}
			if e.Kind == state.ObjectChanged && e.By.Name != "root" {
				t.Errorf("%s: by %s", c.want, e.By)
			}
		}
		if !slices.Equal(told, []string{c.want}) {
			t.Errorf("told %q, want %q", told, c.want)
		}
	}
}
