package devrun

import (
	"slices"
	"testing"
)

func TestWholeLines(t *testing.T) {
	for text, want := range map[string][]string{"": nil, "half": nil, "a\n": {"a"}, "a\nb\n": {"a", "b"}, "a\nhal": {"a"}} {
		if got := wholeLines(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
