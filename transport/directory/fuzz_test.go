package directory

import (
	"strings"
	"testing"
)

// A line of the account databases, which may come from anywhere, is an entry or nothing.
func FuzzAccountLines(f *testing.F) {
	for _, line := range []string{"ann:x:1000:100:Ann:/home/ann:/bin/sh\n", "users:x:100:ann,bob", "ann  100 101 x", "", ":::::::", "a:b:-1:99999999999::/:"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if a, ok := parsePasswd(line); ok && (a.Name == "" || strings.Contains(a.Home, ":")) {
			t.Errorf("%q is %+v", line, a)
		}
		if g, ok := parseGroup(line); ok && g.name == "" {
			t.Errorf("%q is %+v", line, g)
		}
		if gids := parseInitgroups(line); len(gids) > len(strings.Fields(line)) {
			t.Errorf("%q has %v", line, gids)
		}
	})
}
