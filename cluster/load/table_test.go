package load

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/resreq"
)

func site(name string) bool { return name == "bandwidth" }

func TestTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable()
		if _, wish := table.Renewed(3, "hosta", false, nil, site); wish != Now {
			t.Errorf("a host that has said nothing: wish %d", wish)
		}
		changed := table.Changed()
		refused, wish := table.Renewed(3, "hosta", true, []Value{{"r1m", 0.4}, {"mem", 300}, {"bandwidth", 2.5}, {"idle", 7}}, site)
		if len(refused) != 0 || wish != Seldom {
			t.Errorf("%q, wish %d", refused, wish)
		}
		select {
		case <-changed:
		default:
			t.Error("nobody was told of the change")
		}
		r, ok := table.Of("hosta")
		if !ok || r["r1m"] != 400 || r["mem"] != 300*resreq.Megabyte || r["bandwidth"] != 2500 || r["it"] != 7000 {
			t.Errorf("%v %v", r, ok)
		}
		table.Look()
		if _, wish := table.Renewed(3, "hosta", false, nil, site); wish != Often {
			t.Errorf("when somebody looks: wish %d", wish)
		}
		time.Sleep(wanted)
		if _, ok := table.Of("hosta"); ok {
			t.Error("a host that is silent still has a load")
		}
		if _, wish := table.Renewed(3, "hosta", false, nil, site); wish != Seldom {
			t.Errorf("when nobody looks any more: wish %d", wish)
		}
		if _, ok := table.Of("hosta"); !ok || table.Fresh() {
			t.Error("a renewal without news did not prolong what was said")
		}
		if _, wish := table.Renewed(4, "hosta", false, nil, site); wish != Now || !table.Fresh() {
			t.Errorf("in another term: wish %d", wish)
		}
		if _, ok := table.Of("hosta"); ok {
			t.Error("what was heard in another term still counts")
		}
	})
}

// TestTable_Rubbish: what cannot be is refused by name, once, and the rest of the report counts.
func TestTable_Rubbish(t *testing.T) {
	table := NewTable()
	rubbish := []Value{
		{"r15s", math.NaN()},
		{"r1m", -1},
		{"ut", 101},
		{"mem", math.Inf(1)},
		{"swp", 1e13},
		{"nosuch", 1},
		{"type", 1},
		{"", 0},
		{"pg", 3},
	}
	refused, _ := table.Renewed(1, "hosta", true, rubbish, site)
	for i, want := range []string{`"r15s" = NaN: it is no number`, `"r1m" = -1: it is negative`, `"ut" = 101: `, `"mem" = +Inf: `, `"swp" = 1e+13: `, `"nosuch" = 1: the cluster`, `"type" = 1: `, `"" = 0: `} {
		if i >= len(refused) || !strings.HasPrefix(refused[i], want) {
			t.Errorf("want %q in %q", want, refused)
		}
	}
	if r, _ := table.Of("hosta"); len(r) != 1 || r["pg"] != 3000 {
		t.Errorf("%v", r)
	}
	if again, _ := table.Renewed(1, "hosta", true, rubbish, site); len(again) != 0 {
		t.Errorf("told again: %q", again)
	}
	moved := slices.Clone(rubbish)
	moved[5].Value = 2
	if again, _ := table.Renewed(1, "hosta", true, moved, site); len(again) != 0 {
		t.Errorf("told of another value that is refused for the same: %q", again)
	}
	if now, _ := table.Renewed(1, "hosta", true, rubbish[:1], site); !slices.Equal(now, refused[:1]) {
		t.Errorf("told of others: %q", now)
	}
}

// BenchmarkTable_Renewals is what 10,000 hosts cost a leader that wants to be told often: they renew 2,000 times a second.
func BenchmarkTable_Renewals(b *testing.B) {
	table := NewTable()
	names := strings.Fields("r15s r1m r15m ut pg io ls it tmp swp mem")
	values := make([]Value, len(names))
	for i := 0; b.Loop(); i++ {
		for k, n := range names {
			values[k] = Value{n, float64(i % 97)}
		}
		table.Renewed(1, "hosta", true, values, site)
	}
}
