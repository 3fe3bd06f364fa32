package pbs

import (
	"testing"
	"time"

	"rampart/cli"
)

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)
	env := &cli.Env{Now: func() time.Time { return now }, Zone: time.UTC}
	for text, want := range map[string]string{
		"203001010000":    "2030-01-01 00:00:00",
		"3001010000":      "2030-01-01 00:00:00",
		"7001010000.01":   "1970-01-01 00:00:01",
		"12240800":        "2026-12-24 08:00:00",
		"01010000":        "2027-01-01 00:00:00",
		"251200":          "2026-11-25 12:00:00",
		"011200":          "2026-12-01 12:00:00",
		"1100":            "2026-11-21 11:00:00",
		"0830":            "2026-11-22 08:30:00",
		"0830.15":         "2026-11-22 08:30:15",
		"":                "",
		"830":             "",
		"2460":            "",
		"2500":            "",
		"13010000":        "",
		"02300000":        "",
		"320000":          "",
		"203001010000.":   "",
		"203001010000.60": "",
		"203001010000.1":  "",
		"20300101000000":  "",
		"+100":            "",
		"tomorrow":        "",
	} {
		seconds, ok := moment(env, text)
		got := ""
		if ok {
			got = time.Unix(seconds, 0).UTC().Format(time.DateTime)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func FuzzMoment(f *testing.F) {
	f.Add("203001010000.59")
	f.Add("0830")
	env := &cli.Env{Now: func() time.Time { return time.Unix(1795242350, 0) }, Zone: time.UTC}
	f.Fuzz(func(t *testing.T, text string) {
		if at, ok := moment(env, text); ok && at < 0 && len(text) < 10 {
			t.Errorf("%q is %d", text, at)
		}
	})
}
