package attr

import (
	"testing"
	"time"
)

func TestHours_Turns(t *testing.T) {
	h := HoursOf("weekday 0600 1730,saturday none all,sunday none all,330 Nov 26 Thanksgiving")
	for at, want := range map[string]string{
		"2026-11-21 06:30": "2026-11-23 06:00", // a Saturday
		"2026-11-23 06:00": "2026-11-23 17:30",
		"2026-11-25 18:00": "2026-11-27 06:00", // a holiday between
		"2026-11-26 12:00": "2026-11-27 06:00",
	} {
		now, _ := time.Parse("2006-01-02 15:04", at)
		got, ok := h.Turns(now)
		if !ok || got.Format("2006-01-02 15:04") != want {
			t.Errorf("from %s it is %v, want %s", at, got, want)
		}
	}
	nights := HoursOf("weekday 1730 0600,saturday none all,330")
	for at, want := range map[string]string{
		"2026-11-20 20:00": "2026-11-21 00:00", // a Friday
		"2026-11-23 05:59": "2026-11-23 06:00",
		"2026-11-23 06:00": "2026-11-23 17:30",
		"2026-11-25 18:00": "2026-11-26 00:00",
	} {
		now, _ := time.Parse("2006-01-02 15:04", at)
		if got, ok := nights.Turns(now); !ok || got.Format("2006-01-02 15:04") != want {
			t.Errorf("of nights, from %s it is %v, want %s", at, got, want)
		}
	}
	always := HoursOf("YEAR 2026")
	if _, ok := always.Turns(time.Now()); ok || !always.Prime(time.Now()) {
		t.Error("prime time ends without a reason")
	}
}

// What follows the words of an entry is no fault, and no part of the value.
func TestHours_WordsBehind(t *testing.T) {
	for text, want := range map[string]string{
		"weekday 0600 1730 # x": "weekday 0600 1730", "YEAR  2026 x": "YEAR 2026", "YEAR 2026 #,sunday none all y,330 Nov 26 z": "YEAR 2026,sunday none all,330 Nov 26 z",
	} {
		if got, ok := parseHours(text); !ok || got != want {
			t.Errorf("%q is %q, %t, want %q", text, got, ok, want)
		}
	}
	for _, bad := range []string{"weekday 0600 # 1730", "YEAR # 2026"} {
		if got, ok := parseHours(bad); ok {
			t.Errorf("%q was taken for %q", bad, got)
		}
	}
}

func TestHours_Refused(t *testing.T) {
	for _, bad := range []string{"", "x", "weekday 0600 0600", "YEAR", "sunday", "weekday 0600", "monday 0660 0700", "400 Dec 1 x", "YEAR x", "weekday all", ","} {
		if _, ok := parseHours(bad); ok {
			t.Errorf("%q was taken", bad)
		}
	}
	for _, bad := range []string{"", "11/21/2026 07:00", "11/21/2026 07:00 11/21/2026 06:00", "13/21/2026 07:00 12/21/2026 06:00", ","} {
		if _, ok := parseDedicated(bad); ok {
			t.Errorf("%q was taken", bad)
		}
	}
	for _, bad := range []string{"", "a 10 root", "a x root 1", "a 10 nobody 1", "a 10 root 1,a 11 root 1", "a 10 root 1,b 10 root 1", "a 0 root 1", "a 10 root -1"} {
		if _, ok := parseShares(bad); ok {
			t.Errorf("%q was taken", bad)
		}
	}
	for text, want := range map[string]bool{"cput": true, "ncpus*walltime": true, "max(ncpus, mem/1e6)": true, "ncpus**2": false, "sqrt(ncpus)": true, "log(ncpus)": false, "": false} {
		if _, ok := parseUsage(text); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}
