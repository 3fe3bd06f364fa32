package service

import (
	"strconv"
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// A signal that is taken is one that moms know, by a name without SIG or a number, and is taken
// again as it is; what is refused is refused as a bad signal.
func FuzzParseSignal(f *testing.F) {
	for _, text := range []string{"", "SIGTERM", "kill", "9", "64", "65", "-0", "+9", "007", "SIG", "SIGSIGKILL", "HUP INT", " HUP", "NULL", "0x9", "suspend"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := parseSignal(text)
		if err != nil {
			if pbs.CodeOf(err) != pbs.BadSignal || name != "" {
				t.Errorf("%q is refused as %q, %v", text, name, err)
			}
			return
		}
		if again, err := parseSignal(name); err != nil || again != name {
			t.Errorf("%q is %q, and that %q, %v", text, name, again, err)
		}
		n, err := strconv.Atoi(name)
		if err == nil && (n < 0 || n > maxSignal || strconv.Itoa(n) != name) {
			t.Errorf("%q is number %q", text, name)
		}
		if err != nil && (strings.HasPrefix(name, "SIG") || !strings.Contains(signals, " "+name+" ") || strings.ContainsAny(name, " \n")) {
			t.Errorf("%q is %q", text, name)
		}
	})
}
