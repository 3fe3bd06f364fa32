package recur_test

import (
	"strings"
	"testing"
	"time"

	"rampart/fsm/acct"
	"rampart/fsm/pbs"
	"rampart/fsm/recur"
)

func at(t *testing.T, zone, text string) pbs.Time {
	t.Helper()
	when, err := time.ParseInLocation("2006-01-02 15:04:05", text, acct.Zone(zone))
	if err != nil {
		t.Fatal(err)
	}
	return pbs.Time(when.UnixNano())
}

// The times are what clocks in the zone show, with the offset where it matters.
func TestStarts(t *testing.T) {
	for _, c := range []struct {
		rule, zone, start string
		length            time.Duration
		first             []string // at most that many of those that there are
		count             int
	}{
		{"FREQ=MINUTELY;COUNT=2", "UTC", "2026-11-23 11:34:56", 20 * time.Second, []string{"2026-11-23 11:34:56 +0000", "2026-11-23 11:35:56 +0000"}, 2},
		{"FREQ=HOURLY;COUNT=3", "UTC", "2026-11-23 11:34:56", time.Hour, []string{"2026-11-23 11:34:56 +0000", "2026-11-23 12:34:56 +0000"}, 3},
		{"FREQ=SECONDLY;INTERVAL=7;COUNT=3", "UTC", "2026-11-23 11:34:56", time.Second, []string{"2026-11-23 11:34:56 +0000", "2026-11-23 11:35:03 +0000"}, 3},
		{"freq=daily;count=1", "UTC", "2026-11-23 11:34:56", time.Hour, []string{"2026-11-23 11:34:56 +0000"}, 1},
		// BYHOUR replaces the hour and keeps minutes and seconds; the start does not fit.
		{
			"FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;UNTIL=20270101", "UTC", "2026-11-24 11:34:56", time.Hour,
			[]string{"2026-11-25 09:34:56 +0000", "2026-11-30 09:34:56 +0000"},
			11,
		},
		// A day in UNTIL is all of it; a time is one of the zone, or of UTC.
		{"FREQ=DAILY;UNTIL=20261125", "UTC", "2026-11-23 11:00:00", time.Hour, nil, 3},
		{"FREQ=DAILY;UNTIL=20261125T105959", "UTC", "2026-11-23 11:00:00", time.Hour, nil, 2},
		{"FREQ=DAILY;UNTIL=20261125T110000", "Asia/Tokyo", "2026-11-23 11:00:00", time.Hour, nil, 3},
		{"FREQ=DAILY;UNTIL=20261125T015959Z", "Asia/Tokyo", "2026-11-23 11:00:00", time.Hour, nil, 2},
		// Local time stays over changes of the clock.
		{
			"FREQ=DAILY;COUNT=3", "Europe/Berlin", "2027-03-27 09:00:00", time.Hour,
			[]string{"2027-03-27 09:00:00 +0100", "2027-03-28 09:00:00 +0200", "2027-03-29 09:00:00 +0200"},
			3,
		},
		{ // what clocks leave out
			"FREQ=DAILY;COUNT=3", "Europe/Berlin", "2027-03-27 02:30:00", time.Hour,
			[]string{"2027-03-27 02:30:00 +0100", "2027-03-28 03:30:00 +0200", "2027-03-29 02:30:00 +0200"},
			3,
		},
		{
			"FREQ=DAILY;COUNT=2", "America/New_York", "2027-03-13 02:30:00", time.Hour,
			[]string{"2027-03-13 02:30:00 -0500", "2027-03-14 03:30:00 -0400"},
			2,
		},
		{ // what they show twice is the first
			"FREQ=DAILY;COUNT=2", "Europe/Berlin", "2026-10-24 02:30:00", time.Hour,
			[]string{"2026-10-24 02:30:00 +0200", "2026-10-25 02:30:00 +0200"},
			2,
		},
		{
			"FREQ=DAILY;COUNT=2", "America/New_York", "2026-10-31 01:30:00", time.Hour,
			[]string{"2026-10-31 01:30:00 -0400", "2026-11-01 01:30:00 -0400"},
			2,
		},
		{ // two that are shown apart are one where an hour is left out
			"FREQ=HOURLY;COUNT=3", "Europe/Berlin", "2027-03-28 01:30:00", time.Minute,
			[]string{"2027-03-28 01:30:00 +0100", "2027-03-28 03:30:00 +0200"},
			2,
		},
		{"FREQ=MONTHLY;BYMONTHDAY=31;COUNT=3", "UTC", "2026-12-31 08:00:00", time.Hour, []string{"2026-12-31 08:00:00 +0000", "2027-01-31 08:00:00 +0000", "2027-03-31 08:00:00 +0000"}, 3},
		{"FREQ=MONTHLY;BYDAY=-1FR;COUNT=2", "UTC", "2026-11-23 11:00:00", time.Hour, []string{"2026-11-27 11:00:00 +0000", "2026-12-25 11:00:00 +0000"}, 2},
		{"FREQ=YEARLY;COUNT=2", "UTC", "2028-02-29 11:00:00", time.Hour, []string{"2028-02-29 11:00:00 +0000", "2032-02-29 11:00:00 +0000"}, 2},
		{"FREQ=HOURLY;BYHOUR=9,9,17;BYMINUTE=30,0;BYSECOND=0;COUNT=5", "UTC", "2026-11-23 11:00:00", time.Minute, []string{"2026-11-23 17:00:00 +0000", "2026-11-23 17:30:00 +0000", "2026-11-24 09:00:00 +0000"}, 5},
		{"FREQ=HOURLY;BYMINUTE=0,20,40;BYSETPOS=-1;COUNT=2", "UTC", "2026-11-23 11:50:00", time.Minute, []string{"2026-11-23 12:40:00 +0000", "2026-11-23 13:40:00 +0000"}, 2},
		{"FREQ=MINUTELY;INTERVAL=90;BYDAY=SU;COUNT=2", "UTC", "2026-11-23 11:50:00", time.Minute, []string{"2026-11-29 01:20:00 +0000", "2026-11-29 02:50:00 +0000"}, 2},
		{"FREQ=SECONDLY;BYHOUR=9;BYMINUTE=0;BYSECOND=5,10;COUNT=3", "UTC", "2026-11-23 11:50:00", time.Second, []string{"2026-11-24 09:00:05 +0000", "2026-11-24 09:00:10 +0000", "2026-11-25 09:00:05 +0000"}, 3},
		{"FREQ=DAILY;COUNT=5000", "UTC", "2026-11-23 11:00:00", time.Hour, nil, 5000},
	} {
		start := at(t, c.zone, c.start)
		got, err := recur.Starts(c.rule, c.zone, start, pbs.Time(c.length), start)
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		if len(got) != c.count {
			t.Errorf("%s occurs %d times, want %d", c.rule, len(got), c.count)
		}
		for i, want := range c.first {
			if i < len(got) && time.Unix(got[i].Unix(), 0).In(acct.Zone(c.zone)).Format("2006-01-02 15:04:05 -0700") != want {
				t.Errorf("%s: the %dth is %s, want %s", c.rule, i+1, time.Unix(got[i].Unix(), 0).In(acct.Zone(c.zone)), want)
			}
		}
	}
}

// What is over is not there any more; what begins now is.
func TestStarts_Ahead(t *testing.T) {
	start := at(t, "UTC", "2026-11-23 11:00:00")
	for now, want := range map[string]int{"2026-11-23 11:00:00": 3, "2026-11-23 11:00:01": 2, "2026-11-25 11:00:00": 1} {
		got, err := recur.Starts("FREQ=DAILY;COUNT=3", "UTC", start, 1e9, at(t, "UTC", now))
		if err != nil || len(got) != want {
			t.Errorf("at %s there are %d ahead (%v), want %d", now, len(got), err, want)
		}
	}
}

func TestStarts_Refused(t *testing.T) {
	for _, c := range []struct {
		rule, zone string
		length     time.Duration
		want       pbs.Code
	}{
		{"", "UTC", 1, pbs.BadRule},
		{"FREQ=NEVER;COUNT=2", "UTC", 1, pbs.BadRule},
		{"COUNT=2", "UTC", 1, pbs.BadRule},
		{"FREQ=DAILY;COUNT=2;COUNT=3", "UTC", 1, pbs.BadRule},
		{"FREQ=DAILY;COUNT=2;UNTIL=20300101", "UTC", 1, pbs.BadRule},
		{"FREQ=DAILY;COUNT=2;DTSTART=20300101T000000", "UTC", 1, pbs.BadRule},
		{"FREQ=DAILY;COUNT=2;BYEASTER=1", "UTC", 1, pbs.BadRule},
		{"FREQ=DAILY;COUNT=2;INTERVAL=0", "UTC", 1, pbs.BadRule},
		{"FREQ=DAILY;COUNT=two", "UTC", 1, pbs.BadRule},
		{"FREQ=DAILY;COUNT=2;BYHOUR=24", "UTC", 1, pbs.BadRule},
		{"FREQ=MONTHLY;COUNT=2;BYDAY=-50MO", "UTC", 1, pbs.BadRule},
		{"FREQ=YEARLY;COUNT=2;BYMONTH=12;BYDAY=53MO", "UTC", 1, pbs.BadRule},
		{"FREQ=WEEKLY;COUNT=2;BYDAY=2MO", "UTC", 1, pbs.BadRule},
		{"FREQ=WEEKLY;COUNT=2;BYMONTHDAY=2", "UTC", 1, pbs.BadRule},
		{"FREQ=DAILY;COUNT=2;BYSETPOS=1", "UTC", 1, pbs.BadRule},
		{"FREQ=DAILY; COUNT=2", "UTC", 1, pbs.BadRule},
		{"FREQ=DAILY;COUNT=" + strings.Repeat("1", 50), "UTC", 1, pbs.BadRule},
		{"FREQ=DAILY", "UTC", 1, pbs.UnboundRule},
		{"FREQ=DAILY;COUNT=0", "UTC", 1, pbs.UnboundRule},
		{"FREQ=DAILY;COUNT=2", "Nowhere/Bad", 1, pbs.UnknownZone},
		{"FREQ=DAILY;COUNT=2", "", 1, pbs.UnknownZone},
		{"FREQ=DAILY;COUNT=2", "Local", 1, pbs.UnknownZone},
		{"FREQ=YEARLY;COUNT=2", "UTC", 366 * 24 * time.Hour, pbs.YearlyTooLong},
		{"FREQ=MONTHLY;COUNT=2", "UTC", 31 * 24 * time.Hour, pbs.MonthlyTooLong},
		{"FREQ=WEEKLY;COUNT=2", "UTC", 7*24*time.Hour + time.Second, pbs.WeeklyTooLong},
		{"FREQ=DAILY;COUNT=2", "UTC", 24*time.Hour + time.Second, pbs.DailyTooLong},
		{"FREQ=HOURLY;COUNT=2", "UTC", 2 * time.Hour, pbs.HourlyTooLong},
		{"FREQ=MINUTELY;COUNT=2", "UTC", 61 * time.Second, pbs.MinutelyTooLong},
		{"FREQ=SECONDLY;COUNT=2", "UTC", 2 * time.Second, pbs.SecondlyTooLong},
		{"FREQ=DAILY;BYHOUR=9,10;COUNT=2", "UTC", 2 * time.Hour, pbs.ResvInterferes},
		{"FREQ=DAILY;UNTIL=20200101", "UTC", 1, pbs.BadTimes},
		{"FREQ=DAILY;COUNT=5001", "UTC", 1, pbs.BadTimes},
		{"FREQ=SECONDLY;UNTIL=20990101", "UTC", time.Second, pbs.BadTimes},
		{"FREQ=YEARLY;COUNT=1000", "UTC", time.Second, pbs.BadTimes}, // beyond what can be told
		{"FREQ=YEARLY;UNTIL=99991231", "UTC", time.Second, pbs.BadTimes},
		{"FREQ=MINUTELY;INTERVAL=999999999;COUNT=3", "UTC", time.Second, pbs.BadTimes},
		{"FREQ=HOURLY;INTERVAL=999999999;COUNT=2", "UTC", time.Second, pbs.BadTimes},
		{"FREQ=MINUTELY;INTERVAL=307445734;COUNT=2", "UTC", time.Second, pbs.BadTimes},
		// Those that never occur.
		{"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=1", "UTC", time.Second, pbs.BadTimes},
		{"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=1", "UTC", time.Second, pbs.BadTimes},
		{"FREQ=HOURLY;INTERVAL=24;BYHOUR=3;COUNT=1", "UTC", time.Second, pbs.BadTimes},
		{"FREQ=MINUTELY;INTERVAL=60;BYMINUTE=3;COUNT=1", "UTC", time.Second, pbs.BadTimes},
		{"FREQ=SECONDLY;INTERVAL=2;BYSECOND=1;UNTIL=22000101", "UTC", time.Second, pbs.BadTimes},
		{"FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30;COUNT=1", "UTC", time.Second, pbs.BadTimes},
	} {
		start := at(t, "UTC", "2026-11-23 11:00:00")
		began := time.Now()
		got, err := recur.Starts(c.rule, c.zone, start, pbs.Time(c.length), start)
		if pbs.CodeOf(err) != c.want {
			t.Errorf("%s in %q: %d starts, %v; want %d", c.rule, c.zone, len(got), err, c.want)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s takes %s", c.rule, took)
		}
	}
}

// Whatever the rule, it is told within bounds, in the order of time, and none of it is in the past.
func FuzzStarts(f *testing.F) {
	for _, rule := range []string{
		"FREQ=DAILY;COUNT=2", "FREQ=SECONDLY;UNTIL=20990101", "FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;UNTIL=20270101",
		"FREQ=YEARLY;BYWEEKNO=53;BYDAY=-1SU;COUNT=9", "FREQ=MONTHLY;BYDAY=+5FR;BYSETPOS=-1;COUNT=3", "FREQ=HOURLY;INTERVAL=24;BYHOUR=3;COUNT=1",
		"FREQ=YEARLY;BYWEEKNO=1,-1;WKST=SU;COUNT=99", "FREQ=YEARLY;BYYEARDAY=-366,366;COUNT=9", "FREQ=YEARLY;BYDAY=-53TH,53WE;COUNT=9",
	} {
		f.Add(rule, "Europe/Berlin", int64(1795433696), int64(60))
	}
	f.Fuzz(func(t *testing.T, rule, zone string, start, length int64) {
		start, length = start&(1<<33-1), length&(1<<25-1)
		got, err := recur.Starts(rule, zone, pbs.Time(start*1e9), pbs.Time(length*1e9), pbs.Time(start*1e9))
		if err != nil {
			return
		}
		if len(got) == 0 || len(got) > recur.MaxOccurrences || got[0].Unix() < start {
			t.Fatalf("%q: %d starts from %v on", rule, len(got), got[:min(1, len(got))])
		}
		for i := range got[1:] {
			if got[i]+pbs.Time(length*1e9) > got[i+1] {
				t.Fatalf("%q: %d runs into the next", rule, i)
			}
		}
	})
}
