package service

import (
	"context"
	"testing"

	"rampart/transport/api"
)

// TestManage_SchedulingEndsAfterTheCycleThatIsDue: what was queued before has its turn before scheduling is off.
func TestManage_SchedulingEndsAfterTheCycleThatIsDue(t *testing.T) {
	b := newBench(t)
	var awaited []bool
	b.Batch.AwaitCycle = func(_ context.Context, _ string, index uint64) {
		v := b.store.Publish()
		if index != v.Index() {
			t.Errorf("it waits for %d of %d", index, v.Index())
		}
		awaited = append(awaited, v.Server().Scheduling())
	}
	for i, step := range []struct {
		kind  api.ObjectKind
		value string
		waits int
	}{
		{api.ObjectKind_OBJECT_KIND_SERVER, "True", 0},
		{api.ObjectKind_OBJECT_KIND_SERVER, "False", 1},
		{api.ObjectKind_OBJECT_KIND_SERVER, "False", 1}, // it is off
		{api.ObjectKind_OBJECT_KIND_SERVER, "True", 1},
		{api.ObjectKind_OBJECT_KIND_SCHED, "false", 2},
	} {
		if err := b.manage(api.Verb_VERB_SET, step.kind, "", set("scheduling", step.value)); err != nil {
			t.Fatal(err)
		}
		if len(awaited) != step.waits {
			t.Errorf("step %d: waited %d times, want %d", i, len(awaited), step.waits)
		}
	}
	for _, on := range awaited {
		if !on {
			t.Error("scheduling was off while it waited")
		}
	}
	if err := b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", set("comment", "x")); err != nil || len(awaited) != 2 {
		t.Errorf("another change: %v, waited %d times", err, len(awaited))
	}
}
