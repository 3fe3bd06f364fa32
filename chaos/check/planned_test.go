package check

import "testing"

// What the witness noted of plans breaks the law, five of it at most; a run in which nobody with a plan has started says nothing.
func TestPlansKept(t *testing.T) {
	for _, c := range []struct {
		name         string
		seen         Planned
		broken, says int
	}{
		{"kept", Planned{By: map[string]bool{"1.srv": true}, Started: 1}, 0, 0},
		{"nobody had one", Planned{}, 0, 1},
		{"nobody with one has started", Planned{By: map[string]bool{"1.srv": true}}, 0, 1},
		{"passed", Planned{Started: 1, Wrong: []string{"a", "b"}}, 2, 0},
		{"passed often", Planned{Started: 1, Wrong: []string{"a", "b", "c", "d", "e", "f"}}, 5, 0},
	} {
		e := &Evidence{Planned: c.seen}
		v := Judge(e, []Law{PlansKept, SomePlanned})
		if len(v.Broken) != c.broken || len(v.Inconclusive) != c.says {
			t.Errorf("%s: broken %q, inconclusive %q", c.name, v.Broken, v.Inconclusive)
		}
	}
}
