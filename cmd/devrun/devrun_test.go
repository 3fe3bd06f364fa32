package devrun

import (
	"slices"
	"testing"
	"time"
)

func TestWholeLines(t *testing.T) {
	for text, want := range map[string][]string{"": nil, "half": nil, "a\n": {"a"}, "a\nb\n": {"a", "b"}, "a\nhal": {"a"}} {
		if got := wholeLines(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPause(t *testing.T) {
	for waited, want := range map[time.Duration]time.Duration{
		0: 50 * time.Millisecond, 400 * time.Millisecond: 50 * time.Millisecond, 2 * time.Second: 250 * time.Millisecond, time.Hour: 500 * time.Millisecond,
	} {
		if got := Pause(waited); got != want {
			t.Errorf("after %s: %s, want %s", waited, got, want)
		}
	}
}
