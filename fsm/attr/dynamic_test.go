package attr

import (
	"slices"
	"testing"
)

// TestDynamicOf: several lines of sched_config are one value; commands have arguments, and commas in them.
func TestDynamicOf(t *testing.T) {
	for _, c := range []struct {
		value string
		ok    bool
		want  []Dynamic
	}{
		{"foo !/a/b", true, []Dynamic{{"foo", "/a/b"}}},
		{" foo !/a/b c,d -x,  bar ! /e ", true, []Dynamic{{"foo", "/a/b c,d -x"}, {"bar", "/e"}}},
		{"foo !b", false, []Dynamic{{"foo", "b"}}},
		{"/a foo !/b", false, nil},
		{"foo", false, nil},
		{"", false, nil},
	} {
		if _, ok := parseDynamic(c.value); ok != c.ok {
			t.Errorf("%q is taken: %t", c.value, ok)
		}
		if got := DynamicOf(c.value); !slices.Equal(got, c.want) && c.want != nil {
			t.Errorf("%q has %v, want %v", c.value, got, c.want)
		}
	}
}
