package state_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// TestCharge_GivesBackExactly: whatever was taken, lessened and taken again between, a vnode counts what its shares come to, and
// nothing when the last one is given back. No vnode that somebody reads is written to.
func TestCharge_GivesBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, table := &state.Vnode{Name: "a"}, resource.Builtins{}
		share := func() state.VnodeJob {
			return state.VnodeJob{Items: resource.List{
				{Name: "ncpus", Value: fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "ncpus"))},
				{Name: "mem", Value: fmt.Sprint(rapid.IntRange(1, 4000).Draw(t, "mem")) + rapid.SampledFrom([]string{"kb", "mb", "gb"}).Draw(t, "unit")},
			}}
		}
		step := func(next *state.Vnode, err error) {
			if err != nil {
				t.Fatal(err)
			}
			v = next
			var all []resource.List
			for _, held := range v.Jobs {
				all = append(all, held.Items)
			}
			if sum, _ := resource.AddAll(all, table); !resource.Equal(v.Assigned, sum, table) {
				t.Fatalf("%v is assigned, the shares are %v", v.Assigned, sum)
			}
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			before, was := v, fmt.Sprint(v)
			switch at := rapid.IntRange(-1, len(v.Jobs)-1).Draw(t, "at"); {
			case at < 0:
				step(v.Charge(share(), table))
			case rapid.Bool().Draw(t, "exchange"):
				step(v.Exchange(at, share(), table))
			default:
				step(v.GiveBack(at, table))
			}
			if now := fmt.Sprint(before); now != was {
				t.Fatalf("the vnode before is %s, and was %s", now, was)
			}
		}
		for len(v.Jobs) > 0 {
			step(v.GiveBack(rapid.IntRange(0, len(v.Jobs)-1).Draw(t, "last"), table))
		}
		if !resource.Equal(v.Assigned, nil, table) {
			t.Fatalf("%v is left", v.Assigned)
		}
	})
}
