package lsf

import (
	"math"
	"slices"
	"testing"
)

func TestScaled(t *testing.T) {
	for _, c := range []struct {
		seconds            int64
		reference, slowest Thousandths
		want               int64
	}{
		{3600, 1000, 1000, 3600},
		{3600, 1000, 500, 7200},
		{3600, 2000, 1000, 7200},
		{3600, 1000, 3000, 1200},
		{10, 1000, 3000, 4},
		{1, 1, 1000, 1},
		{0, 2000, 1000, 0},
		{60, 0, 1000, 60},
		{60, 1000, 0, 60},
		{math.MaxInt64, math.MaxInt64, 1, math.MaxInt64},
		{math.MaxInt64, 2000, 1000, math.MaxInt64},
	} {
		if got := Scaled(c.seconds, c.reference, c.slowest); got != c.want {
			t.Errorf("Scaled(%d, %d, %d) = %d, want %d", c.seconds, c.reference, c.slowest, got, c.want)
		}
	}
}

func TestConfig_Factors(t *testing.T) {
	c := &Config{Hosts: []Host{{Name: DefaultHost}, {Name: "a", Factor: 500, Model: "lame"}, {Name: "b", Factor: 2000, Model: "quick"}, {Name: "c"}, {Name: "gone", Factor: 9000}}}
	for spec, want := range map[string]Thousandths{"a": 500, "quick": 2000, "c": 1000, "lame": 500} {
		if got, known := c.SpecFactor(spec); got != want || !known {
			t.Errorf("the factor of %s is %d %v, want %d", spec, got, known, want)
		}
	}
	for _, spec := range []string{"", "nobody", DefaultHost} {
		if got, known := c.SpecFactor(spec); got != evenFactor || known {
			t.Errorf("the factor of %q is %d %v, want that of others", spec, got, known)
		}
	}
	for _, s := range []struct {
		hosts []string
		want  Thousandths
	}{{[]string{"b"}, 2000}, {[]string{"b", "c"}, 1000}, {[]string{"b", "other"}, 1000}, {[]string{"b", "a", "other"}, 500}, {nil, 1000}} {
		if got := c.Slowest(slices.Values(s.hosts)); got != s.want {
			t.Errorf("the slowest of %v is %d, want %d", s.hosts, got, s.want)
		}
	}
	there := func(name string) bool { return name != "gone" }
	if got := c.Reference(there, slices.Values([]string{"d"})); got != "b" {
		t.Errorf("the reference is %q, want the fastest host that is there", got)
	}
	only := func(name string) bool { return name == "a" }
	if got := c.Reference(only, slices.Values([]string{"a", "d", "e"})); got != "d" {
		t.Errorf("the reference is %q, want the first of those that no file calls slow", got)
	}
	c.HostSpec = "quick"
	if got := c.Reference(there, slices.Values([]string{"d"})); got != "quick" {
		t.Errorf("the reference is %q, want DEFAULT_HOST_SPEC", got)
	}
	if !c.Uneven() || (&Config{Hosts: []Host{{Name: "a", Factor: 1000}, {Name: "b"}}}).Uneven() {
		t.Error("hosts differ that do not, or the other way round")
	}
}
