package pbs

import (
	"strings"
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
		"311200":          "2026-12-31 12:00:00", // November has none
		"02290000":        "2028-02-29 00:00:00",
		"202602290000":    "",
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

// What is left out of a date is chosen among days that there are.
func TestMoment_ShortMonths(t *testing.T) {
	for _, c := range []struct{ now, text, want string }{
		{"2026-01-30 12:00", "300900", "2026-03-30 09:00"},
		{"2026-01-31 12:00", "311300", "2026-01-31 13:00"},
		{"2026-01-31 12:00", "311100", "2026-03-31 11:00"},
		{"2028-02-29 12:00", "02291100", "2032-02-29 11:00"},
		{"2096-02-29 12:00", "02291100", "2104-02-29 11:00"},
		{"2026-12-31 12:00", "1100", "2027-01-01 11:00"},
		{"2026-12-31 12:00", "301100", "2027-01-30 11:00"},
	} {
		const form = "2006-01-02 15:04"
		now, err := time.Parse(form, c.now)
		if err != nil {
			t.Fatal(err)
		}
		env := &cli.Env{Now: func() time.Time { return now }, Zone: time.UTC}
		at, ok := moment(env, c.text)
		if got := time.Unix(at, 0).UTC().Format(form); !ok || got != c.want {
			t.Errorf("%s, at %s, is %s, want %s", c.text, c.now, got, c.want)
		}
	}
}

// Whatever is taken for a moment has the parts that were given, and lies ahead unless its year says otherwise.
func FuzzMoment(f *testing.F) {
	for _, text := range []string{"203001010000.59", "0830", "310830", "02290830.01", "7001010000"} {
		f.Add(text, int64(1795242350))
	}
	f.Fuzz(func(t *testing.T, text string, now int64) {
		if now < 0 || now > 4e9 {
			return
		}
		env := &cli.Env{Now: func() time.Time { return time.Unix(now, 0) }, Zone: time.UTC}
		seconds, ok := moment(env, text)
		if !ok {
			return
		}
		digits, second, dotted := strings.Cut(text, ".")
		if !dotted {
			second = "00"
		}
		at := time.Unix(seconds, 0).UTC()
		if got := at.Format("200601021504"); !strings.HasSuffix(got, digits) || at.Format("05") != second {
			t.Errorf("%q is %s", text, at)
		}
		if len(digits) < 10 && seconds < now {
			t.Errorf("%q is %s, and it is %s", text, at, time.Unix(now, 0).UTC())
		}
	})
}
