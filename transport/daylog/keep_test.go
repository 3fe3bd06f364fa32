package daylog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/fsm/pbs"
)

func TestExpired(t *testing.T) {
	days := strings.Fields("20261101 20261030 20261102 20261031")
	for _, c := range []struct {
		today string
		keep  int
		want  string
	}{
		{"20261102", 0, ""},
		{"20261102", -1, ""},
		{"20261102", 1, "20261030 20261031"},
		{"20261102", 2, "20261030"},
		{"20261102", 3, ""},
		{"20261103", 3, "20261030"},
		{"20991231", 2, "20261030 20261031"}, // a clock that jumped: two stay
		{"20261102", 99, ""},
		{"yesterday", 1, ""},
	} {
		if got := strings.Join(Expired(days, c.today, c.keep), " "); got != c.want {
			t.Errorf("on %s, %d days kept: %q, want %q", c.today, c.keep, got, c.want)
		}
	}
}

func TestWrite_RemovesOldFiles(t *testing.T) {
	dir := t.TempDir()
	l := New(dir, "pbs_mom", Options{Mask: MomMask, Location: time.UTC})
	day := time.Date(2026, 2, 26, 23, 0, 0, 0, time.UTC)
	left := func() string {
		var names []string
		all, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			names = append(names, e.Name())
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	for i := range 5 {
		if i == 3 {
			l.SetKeep(2)
			for _, other := range []string{"20260101.gz", "notes"} {
				if err := os.WriteFile(filepath.Join(dir, other), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 2 {
			if err := l.Write(day.AddDate(0, 0, i), pbs.LogJob, "Job", "1.srv", "x"); err != nil {
				t.Fatal(err)
			}
		}
		want := map[int]string{
			2: "20260226 20260227 20260228", 3: "20260101.gz 20260227 20260228 20260301 notes",
			4: "20260101.gz 20260228 20260301 20260302 notes",
		}[i]
		if got := left(); want != "" && got != want {
			t.Errorf("day %d leaves %s, want %s", i, got, want)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
