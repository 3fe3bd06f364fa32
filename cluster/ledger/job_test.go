package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Records of one job are found by its whole id, in the days that are asked for, and a line
// that is being written is none.
func TestOfJob(t *testing.T) {
	dir := t.TempDir()
	for day, text := range map[string]string{
		"20271119": "11/19/2027 10:00:00;Q;2.srv;old\n",
		"20271120": "11/20/2027 10:00:00;Q;2.srv;a\n11/20/2027 10:00:00;Q;12.srv;\n11/20/2027 10:00:01;S;2.srv;b\nnote of a person\n",
		"20271121": "11/21/2027 10:00:00;u;2.srv;c\n11/21/2027 10:00:00;Q;2.srvx;\n11/21/2027 10:00:01;E;2.srv;torn",
	} {
		for name, data := range map[string]string{day: text, indexName(day): ""} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		first, last string
		newest      bool
		id          string
		want        string
	}{
		{"20271120", "20271121", false, "2.srv", "Q a, S b, u c"},
		{"20271101", "20271130", true, "2.srv", "Q a, S b, u c"},
		{"20271101", "20271130", false, "2.srv", "Q old, Q a, S b, u c"},
		{"20271121", "20271121", true, "2.srv", "u c"},
		{"20271101", "20271130", true, "3.srv", ""},
	} {
		lines, err := ofJob(t.Context(), dir, c.id, c.first, c.last, c.newest)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range lines {
			f := strings.Split(string(l), ";")
			got = append(got, f[1]+" "+f[3])
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s from %s to %s: %s, want %s", c.id, c.first, c.last, s, c.want)
		}
	}
}
