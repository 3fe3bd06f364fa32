package pbs

import (
	"strings"
	"testing"
)

func TestDistinct(t *testing.T) {
	for given, want := range map[string]string{
		"1 2 1 1.srv":                 "1 2",
		"1@a 1 1@a 1@b":               "1@a 1 1@b",
		"3[] 3[] 4":                   "3[] 4",
		"3[] 3[2] 3[2-4] 4[2]":        "3[] 4[2]",
		"3[2] 3[2] 3[1-3].srv":        "3[2] 3[1,3].srv",
		"3[2-4] 3[3-5] 3[4] 3[2-5]":   "3[2-4] 3[5]",
		"3[2-4].s@h 3[1-9:2].s@h":     "3[2-4].s@h 3[1,5-9:2].s@h",
		"nosuch nosuch 999999 999999": "nosuch nosuch 999999",
		"":                            "",
	} {
		if got := strings.Join(distinct(strings.Fields(given)), " "); got != want {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
}
