package head

import (
	"strings"
	"testing"
)

func TestBuffer(t *testing.T) {
	var b Buffer
	for _, s := range []string{"a line\n", strings.Repeat("x", most), "no more"} {
		if n, err := b.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("Write of %d bytes: %d, %v", len(s), n, err)
		}
	}
	if got := b.String(); len(got) != most || !strings.HasPrefix(got, "a line\nxx") || strings.Contains(got, "no") {
		t.Errorf("kept are %d bytes: %.20q", len(got), got)
	}
}
