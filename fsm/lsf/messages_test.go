package lsf

import (
	"slices"
	"strings"
	"testing"
)

func TestPost(t *testing.T) {
	text := ""
	for _, posted := range []string{"5 step 1", "0 begun", `5 step "2", done`} {
		var ok bool
		if text, ok = Post(text, posted, "ann", 1000); !ok {
			t.Fatalf("%s is not taken", posted)
		}
	}
	want := []Message{{0, "ann", 1000, "begun"}, {5, "ann", 1000, `step "2", done`}}
	if got := ReadMessages(text); !slices.Equal(got, want) {
		t.Errorf("%s is read as %v", text, got)
	}
	if _, ok := Post(text, "7 "+strings.Repeat("x", MostMessages), "ann", 0); ok {
		t.Error("more than there is room for is taken")
	}
}

func FuzzReadMessages(f *testing.F) {
	f.Add(`0 ann 5 "a", 1 bob 6 "b\n"`)
	f.Add(`0 ann 5 "`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range ReadMessages(text) {
			if len(m.Text) > len(text) {
				t.Errorf("%q of %q", m.Text, text)
			}
		}
	})
}
