package service

import (
	"testing"

	"rampart/fsm/pbs"
)

// TestTimes_Resolve: two of start, end and length tell the third, if that is a time that can be told.
func TestTimes_Resolve(t *testing.T) {
	sec := func(n int64) moment { return moment{pbs.Time(n * 1e9), true} }
	var none moment
	const now = 1000
	for _, c := range []struct {
		name               string
		start, end, length moment
		from, long         int64 // long 0: refused
	}{
		{"start and end", sec(2000), sec(2600), none, 2000, 600},
		{"start and length", sec(2000), none, sec(600), 2000, 600},
		{"end and length", none, sec(2600), sec(600), 2000, 600},
		{"all three", sec(2000), sec(2600), sec(600), 2000, 600},
		{"all three, one wrong", sec(2000), sec(2600), sec(601), 0, 0},
		{"start alone", sec(2000), none, none, 0, 0},
		{"now", sec(now), none, sec(1), now, 1},
		{"the past", sec(now - 1), none, sec(600), 0, 0},
		{"no length", sec(2000), sec(2000), none, 0, 0},
		{"the end before the start", sec(2000), sec(1999), none, 0, 0},
		{"the last end", sec(maxMoment - 1), none, sec(1), maxMoment - 1, 1},
		{"beyond the last end", sec(maxMoment), none, sec(1), 0, 0},
		{"a sum that wraps below zero", sec(maxMoment), none, sec(maxMoment), 0, 0},
		{"a sum just beyond what can be told", sec(maxMoment), none, sec((1<<63-1)/1_000_000_000 - maxMoment + 1), 0, 0},
		{"a start before the epoch", none, sec(2600), sec(maxMoment), 0, 0},
		{"all three, with a sum that wraps", sec(maxMoment), sec(now), sec(maxMoment), 0, 0},
	} {
		tm := times{start: c.start, end: c.end, length: c.length}
		from, long, err := tm.resolve(now * 1e9)
		if c.long == 0 {
			if pbs.CodeOf(err) != pbs.BadTimes {
				t.Errorf("%s: from %d for %d, %v", c.name, from.Unix(), long.Unix(), err)
			}
			continue
		}
		if err != nil || from.Unix() != c.from || long.Unix() != c.long {
			t.Errorf("%s: from %d for %d, %v; want %d for %d", c.name, from.Unix(), long.Unix(), err, c.from, c.long)
		}
	}
}
