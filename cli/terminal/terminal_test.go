package terminal

import "testing"

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{"job": "job", "a\x1b[2Jb\n": "a?[2Jb?", "größe": "größe", "": ""} {
		if got := Printable(text); got != want {
			t.Errorf("Printable(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for text, want := range map[string]string{"abcd": "abcd", "abcde": "abc~", "äöüßx": "äöü~", "": ""} {
		if got := Short(text, 4); got != want {
			t.Errorf("Short(%q, 4) = %q, want %q", text, got, want)
		}
	}
}
