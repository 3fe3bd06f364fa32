package state

import "testing"

// Section 5.5: with both attributes the one that reserves memory too governs.
func TestReserves(t *testing.T) {
	for _, c := range []struct {
		slots, all string
		turns      int64
		memory     bool
	}{{"", "", 0, false}, {"5", "", 5, false}, {"", "20", 20, true}, {"5", "20", 20, true}} {
		q := &Queue{}
		for name, value := range map[string]string{"slot_reserve": c.slots, "resource_reserve": c.all} {
			if value != "" {
				q.Attrs = q.Attrs.Set(name, "", value)
			}
		}
		if turns, memory := q.Reserves(); turns != c.turns || memory != c.memory {
			t.Errorf("slots %q, all %q: %d, %t", c.slots, c.all, turns, memory)
		}
	}
}
