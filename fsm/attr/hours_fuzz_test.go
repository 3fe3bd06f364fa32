package attr

import (
	"strings"
	"testing"
	"time"
)

// Hours that were taken say of every moment whether it is prime time, and when that turns: until
// then nothing changes.
func FuzzHours(f *testing.F) {
	for _, text := range []string{
		"weekday 0600 1730,saturday none all,sunday all none", "YEAR 2026,1 Jan 1 New", "year 0, 366 Dec 31 x", "monday 2400 2400", "monday 0000 2400,1 a b", "friday 1200 1159",
		"weekday +600 1730", "sunday 0060 0100", "YEAR -1", "", ",", "tuesday 2359 2400",
	} {
		f.Add(text, int64(1795242350))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		canonical, ok := parseHours(text)
		h := HoursOf(text) // of anything: it must not end a scheduler
		if !ok {
			return
		}
		if again, ok := parseHours(canonical); !ok || again != canonical {
			t.Errorf("%q is read as %q, and that as %q", text, canonical, again)
		}
		for _, s := range h.Days {
			if max(s.From, s.Till) > wholeDay || min(s.From, s.Till) < 0 || s.From == s.Till && s != (Span{}) {
				t.Errorf("%q has the span %+v", text, s)
			}
		}
		at := time.Unix(unix%(1<<33), 0).UTC()
		then, turns := h.Turns(at)
		if !turns {
			return
		}
		if !then.After(at) || then.Sub(at) > 368*24*time.Hour || h.Prime(then) == h.Prime(at) || h.Prime(then.Add(-time.Second)) != h.Prime(at) {
			t.Errorf("%q: at %s prime is %v, and it turns at %s", text, at, h.Prime(at), then)
		}
	})
}

// Dedicated times that were taken begin before they end, one for each entry, and are read back
// from the canonical text as the same.
func FuzzDedicated(f *testing.F) {
	for _, text := range []string{
		"01/02/2026 10:00 01/02/2026 12:00", "01/02/2026 10:00  01/03/2026 00:00,12/31/2026 23:59 01/01/2027 00:00", "02/30/2026 10:00 03/01/2026 10:00",
		"01/02/2026 12:00 01/02/2026 10:00", "1/2/2026 10:00 1/2/2026 11:00", ",", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := Dedicated(text, time.UTC)
		canonical, ok := parseDedicated(text)
		if !ok {
			return
		}
		if len(all) != strings.Count(text, ",")+1 {
			t.Errorf("%q has %d times", text, len(all))
		}
		again := Dedicated(canonical, time.UTC)
		for i, span := range all {
			if !span[0].Before(span[1]) || len(again) != len(all) || again[i] != span {
				t.Errorf("%q is %v, and %q is %v", text, all, canonical, again)
			}
		}
	})
}
