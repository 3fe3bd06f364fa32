package dispatch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/dispatch"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/state"
)

// A start does not overtake a change of hooks that was made right before it; a mom that cannot be told of hooks gets its orders
// some time later all the same, and waits once for each change.
func TestDeliver_StartsAfterTheNewsOfHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta")
		m := all["hosta:15002"]
		hook := func(verb command.Verb, changes ...command.AttrChange) {
			l.do(&command.ManageHook{Verb: verb, Name: "h", Changes: changes})
		}
		start(t, dispatch.New(options(l, all)).Run)
		hook(command.VerbCreate, command.AttrChange{Entry: attr.Entry{Name: "event", Value: "execjob_begin"}})
		l.do(&command.ImportHook{Name: "h", Kind: state.HookScript, Body: []byte("pass")})
		delivered := func() int {
			m.mu.Lock()
			defer m.mu.Unlock()
			return len(m.got)
		}

		// Nobody tells it of hooks.
		l.run("hosta")
		pass(time.Second)
		if n := delivered(); n != 0 {
			t.Fatalf("%d deliveries before the hook", n)
		}
		pass(2 * time.Second)
		if n := delivered(); n != 1 {
			t.Fatalf("%d deliveries to a mom that cannot be told", n)
		}
		l.run("hosta")
		pass(50 * time.Millisecond)
		if n := delivered(); n != 2 {
			t.Errorf("%d deliveries: it waits for the same change again", n)
		}

		// Somebody does, in a while.
		teller := dispatch.NewTeller(options(l, all))
		hook(command.VerbSet, command.AttrChange{Entry: attr.Entry{Name: "enabled", Value: "False"}})
		id := l.run("hosta")
		pass(50 * time.Millisecond)
		if n := delivered(); n != 2 {
			t.Errorf("%d deliveries before the change", n)
		}
		start(t, teller.Run)
		pass(50 * time.Millisecond)
		if n := delivered(); n != 3 {
			t.Errorf("%d deliveries behind the change", n)
		}
		m.mu.Lock()
		enabled := ""
		for _, a := range m.hooks.GetHooks()[0].GetAttributes() {
			if a.GetName() == "enabled" {
				enabled = a.GetValue()
			}
		}
		m.mu.Unlock()
		if enabled != "False" {
			t.Errorf("the mom of the job has enabled=%s", enabled)
		}

		// Other orders wait for nothing.
		hook(command.VerbSet, command.AttrChange{Entry: attr.Entry{Name: "enabled", Value: "True"}})
		pass(time.Second)
		l.do(&command.DeleteJob{Job: id})
		pass(time.Millisecond)
		if n := delivered(); n != 4 {
			t.Errorf("%d deliveries with a deletion", n)
		}
	})
}
