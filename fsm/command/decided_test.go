package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// People set vnodes offline, down and asleep, and take that back; such a vnode gets no jobs. Its mom's registration ends only
// what stands for the mom.
func TestManageVnode_Decided(t *testing.T) {
	w := hookedHosts(t)
	set := func(text string) error {
		ch := settings("state" + text)[0]
		if text[0] == '-' {
			ch = AttrChange{Op: OpDecrease, Entry: attr.Entry{Name: "state", Value: text[2:]}}
		}
		return w.run(&ManageVnode{Verb: VerbSet, Vnode: "a", Changes: []AttrChange{ch}})
	}
	for _, c := range []struct{ text, state string }{
		{"=sleep", "sleep"},
		{"+=offline", "offline,sleep"},
		{"-=sleep", "offline"},
		{"=down", "down"},
		{"+=sleep", "down,sleep"},
		{"=offline,sleep", "offline,sleep"},
		{"=free", "free"},
		{"=down,sleep", "down,sleep"},
	} {
		if err := set(c.text); err != nil {
			t.Fatal(err)
		}
		if vn, _ := w.View().Vnode("a"); vn.State() != c.state || vn.Usable() != (c.state == "free") {
			t.Errorf("after %s it is %s, usable %t", c.text, vn.State(), vn.Usable())
		}
	}
	for _, text := range []string{"=busy", "=free,sleep", "+=free", "=nosuch"} {
		if err := set(text); pbs.CodeOf(err) != pbs.BadNodeState {
			t.Errorf("%s: %v", text, err)
		}
	}
	w.must(&HostUp{Host: "a", Address: "a:1", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a"}}})
	if vn, _ := w.View().Vnode("a"); vn.State() != "sleep" || vn.StateBits() != 0x40000 {
		t.Errorf("after a registration it is %s, %#x", vn.State(), vn.StateBits())
	}
}

// What hooks decide of a vnode does not put one back to work that somebody has set offline, but that they say so.
func TestHookWishes_Decided(t *testing.T) {
	w := hookedHosts(t)
	w.must(&ManageVnode{Verb: VerbSet, Vnode: "a", Changes: settings("state=offline")})
	for i, c := range []struct{ text, state string }{
		{"sleep", "offline,sleep"}, {"down", "down,offline"}, {"offline", "offline"}, {"free", "free"}, {"down,sleep", "down,sleep"}, {"free", "free"},
	} {
		w.must(&HookWishes{Source: Source{"a", "s", uint64(i + 1)}, Hook: "p", Vnodes: []HookVnode{{Name: "a", Set: attr.List{{Name: "state", Value: c.text}}}}})
		if vn, _ := w.View().Vnode("a"); vn.State() != c.state {
			t.Errorf("after %s it is %s, want %s", c.text, vn.State(), c.state)
		}
	}
}
