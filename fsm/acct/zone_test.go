package acct_test

import (
	"testing"
	"time"

	"rampart/fsm/acct"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// The zone is that of the database in the program, wherever it runs.
func TestZone_DoesNotDependOnTheHost(t *testing.T) {
	t.Setenv("ZONEINFO", t.TempDir())
	t.Setenv("TZ", "Asia/Tokyo")
	for name, want := range map[string]string{
		"UTC": "UTC", "Europe/Berlin": "Europe/Berlin", "EST5EDT": "EST5EDT",
		"Local": "UTC", "": "UTC", "Nowhere/Land": "UTC", "../etc/passwd": "UTC", "Europe": "UTC",
	} {
		if got := acct.Zone(name).String(); got != want {
			t.Errorf("Zone(%q) = %s, want %s", name, got, want)
		}
		if got := acct.IsZone(name); got != (name == want) {
			t.Errorf("IsZone(%q) is %v", name, got)
		}
	}
}

// A record is of the day and the hour that clocks in the zone show, where midnight
// is left out, comes twice, or falls on another hour.
func TestOf_AroundMidnight(t *testing.T) {
	for _, c := range []struct{ zone, at, day, clock string }{
		{"Europe/Berlin", "2026-10-24T21:59:59Z", "20261024", "10/24/2026 23:59:59"},
		{"Europe/Berlin", "2026-10-24T22:00:00Z", "20261025", "10/25/2026 00:00:00"},
		{"Europe/Berlin", "2026-10-25T00:30:00Z", "20261025", "10/25/2026 02:30:00"}, // twice
		{"Europe/Berlin", "2026-10-25T01:30:00Z", "20261025", "10/25/2026 02:30:00"},
		{"Africa/Cairo", "2026-04-23T21:59:59Z", "20260423", "04/23/2026 23:59:59"}, // no midnight
		{"Africa/Cairo", "2026-04-23T22:00:00Z", "20260424", "04/24/2026 01:00:00"},
		{"Africa/Cairo", "2026-10-29T20:59:59Z", "20261029", "10/29/2026 23:59:59"}, // 23 o'clock twice
		{"Africa/Cairo", "2026-10-29T21:00:00Z", "20261029", "10/29/2026 23:00:00"},
		{"Africa/Cairo", "2026-10-29T22:00:00Z", "20261030", "10/30/2026 00:00:00"},
		{"America/Havana", "2026-11-01T04:59:59Z", "20261101", "11/01/2026 00:59:59"}, // midnight twice
		{"America/Havana", "2026-11-01T05:00:00Z", "20261101", "11/01/2026 00:00:00"},
		{"Pacific/Apia", "2011-12-30T09:59:59Z", "20111229", "12/29/2011 23:59:59"}, // a day left out
		{"Pacific/Apia", "2011-12-30T10:00:00Z", "20111231", "12/31/2011 00:00:00"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		e := state.Event{Kind: state.JobDeleteAsked, At: pbs.Time(at.UnixNano()), Job: ordinary()}
		r, _ := acct.Of(e, acct.Zone(c.zone))
		if r.Day != c.day || r.Line[:19] != c.clock {
			t.Errorf("%s at %s: file %s, %q; want %s, %s", c.zone, c.at, r.Day, r.Line[:19], c.day, c.clock)
		}
	}
}
