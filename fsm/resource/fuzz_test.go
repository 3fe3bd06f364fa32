package resource

import (
	"strings"
	"testing"
)

// Flags that are taken print as letters that mean the same, each once, in PBS's order.
func FuzzParseFlags(f *testing.F) {
	for _, text := range []string{"nh", "h,n", "fh", "q", "hnf", "n", "", ",,", "hh", "irm", "hnqirm", "N", "h n", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		flags, err := ParseFlags(text)
		if err != nil {
			if flags != 0 {
				t.Errorf("%q is refused and is %s", text, flags)
			}
			return
		}
		printed := flags.String()
		if again, err := ParseFlags(printed); err != nil || again != flags {
			t.Errorf("%q prints as %q, which is %s, %v", text, printed, again, err)
		}
		for i, letter := range text {
			if letter != ',' && strings.Count(printed, text[i:i+1]) != 1 {
				t.Errorf("%q prints as %q", text, printed)
			}
		}
	})
}
