package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The history is the newest lines of its file, in their order, and the same when it is read again.
func FuzzReadHistory(f *testing.F) {
	f.Add("list server\nset server x = 1\n", 0)
	f.Add("\n\n", 3)
	f.Add("no end", historyLines)
	f.Add("", 1)
	f.Add("a\r\nb\x00\n", historyLines+5)
	f.Fuzz(func(t *testing.T, text string, more int) {
		path := filepath.Join(t.TempDir(), "history")
		text = strings.Repeat("old\n", min(max(more, 0), 2*historyLines)) + text
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		lines := readHistory(path)
		if len(lines) > historyLines || len(lines) > strings.Count(text, "\n")+1 {
			t.Fatalf("%d lines of %d", len(lines), strings.Count(text, "\n"))
		}
		if got := strings.Join(lines, "\n"); !strings.HasSuffix(strings.TrimSuffix(text, "\n"), got) {
			t.Errorf("%q has the history %q", text, got)
		}
		if again := readHistory(path); !slices.Equal(again, lines) {
			t.Errorf("%q has the history %q, and then %q", text, lines, again)
		}
	})
}
