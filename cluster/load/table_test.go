package load

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
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

// TestTable_Since: who asks for what has changed hears of each host whose values come, move and lapse, and of all hosts where that is not
// known any more.
func TestTable_Since(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable()
		at := uint64(0)
		want := func(when string, known bool, hosts ...pbs.HostName) {
			t.Helper()
			got, now, ok := table.Since(at)
			at = now
			slices.Sort(got)
			if ok != known || !slices.Equal(slices.Compact(got), hosts) {
				t.Errorf("%s: %q %v, want %q %v", when, got, ok, hosts, known)
			}
		}
		says := func(host pbs.HostName, value float64) { table.Renewed(1, host, true, []Value{{"r1m", value}}, site) }
		says("hosta", 1)
		want("in a term that has begun", false)
		says("hosta", 1)
		table.Renewed(1, "hostb", false, nil, site)
		want("nothing else", true)
		says("hosta", 2)
		says("hostb", 2)
		want("both", true, "hosta", "hostb")
		time.Sleep(silent)
		says("hostb", 2)
		want("when what it has said still holds", true)
		time.Sleep(time.Nanosecond)
		want("of one nothing holds", true, "hosta")
		want("that was told", true)
		says("hosta", 2)
		want("it is back", true, "hosta")
		time.Sleep(silent + 1)
		says("hosta", 2)
		want("one came back before anybody asked", true, "hosta", "hostb")
		for i := range 2*mostNews + 1 {
			says("hosta", float64(3+i%2))
		}
		want("too much", false)
		says("hosta", 9)
		want("one", true, "hosta")
		table.Begin(2)
		want("in another term", false)
		at++
		want("what is to come", false)
	})
}
