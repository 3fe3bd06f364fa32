package dispatch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/dispatch"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A hook reaches all moms, with its files; one that is dead holds up nobody, and gets what it
// misses when it is back.
func TestTeller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta", "hostb")
		all["hosta:15002"].set(true)
		start(t, dispatch.NewTeller(options(l, all)).Run)
		l.do(&command.ManageHook{Verb: command.VerbCreate, Name: "h", Changes: []command.AttrChange{
			{Entry: attr.Entry{Name: "event", Value: "execjob_begin"}},
		}})
		l.do(&command.ImportHook{Name: "h", Kind: state.HookScript, Body: []byte("pass")})
		told := func(host pbs.HostName) bool {
			h, _ := l.View().Host(host)
			return h.Hooks == l.View().Cluster().HookGeneration
		}
		pass(5 * time.Second)
		if told("hosta") || !told("hostb") {
			t.Fatalf("a dead mom was told: %v, a live one: %v", told("hosta"), told("hostb"))
		}
		hooks := all["hostb:15002"].hooks.GetHooks()
		if len(hooks) != 1 || hooks[0].GetName() != "h" || len(all["hostb:15002"].files) != 1 {
			t.Errorf("hostb has %v", hooks)
		}
		all["hosta:15002"].set(false)
		l.host("hosta")
		pass(time.Second)
		if !told("hosta") {
			t.Error("a mom that is back was not told")
		}
		l.do(&command.ManageHook{Verb: command.VerbDelete, Name: "h"})
		pass(time.Second)
		if n := len(all["hostb:15002"].hooks.GetHooks()); n != 0 || !told("hostb") {
			t.Errorf("%d hooks after the deletion", n)
		}
	})
}
