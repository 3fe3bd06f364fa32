package sched_test

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Who starts in prime time and out of it, in dedicated time and before it: Saturday, 21
// November 2026, 06:25 UTC, and a Monday.
func TestHours(t *testing.T) {
	const week = "holidays=YEAR 2026,weekday 0600 1730,saturday none all,sunday none all,330 Nov 26 Thanksgiving"
	for _, c := range []struct {
		name, set, at, want, told string
	}{
		{"always prime time", "", "11/21/2026 06:30", "0 1 2", "3 nonprimetime;4 Dedicated"},
		{"not on Saturday", week, "11/21/2026 06:30", "0 1 3", "2 primetime;4 Dedicated"},
		{"on Monday", week, "11/23/2026 06:30", "0 1 2", "3 nonprimetime;4 Dedicated"},
		{"before six", week, "11/23/2026 05:59", "0 1 3", "2 primetime;4 Dedicated"},
		{"a holiday", week, "11/26/2026 12:00", "0 1 3", "2 primetime;4 Dedicated"},
		{"that of another year", strings.Replace(week, "2026", "2025", 1), "11/26/2026 12:00", "0 1 2", "3 nonprimetime;4 Dedicated"},
		{"it ends soon", week + ";backfill_prime=True", "11/23/2026 17:00", "0", "1 cross into nonprimetime;2 cross into nonprimetime;3 nonprimetime;4 Dedicated"},
		{"it begins soon", week + ";backfill_prime=True", "11/23/2026 05:30", "0", "1 cross into primetime;2 primetime;3 cross into primetime;4 Dedicated"},
		{"a little longer", week + ";backfill_prime=True;prime_spill=00:30:00", "11/23/2026 17:00", "0 1 2", "3 nonprimetime;4 Dedicated"},
		{"but for other queues", week + ";backfill_prime=True;prime_exempt_anytime_queues=True", "11/23/2026 17:00", "0 1", "2 cross into nonprimetime;3 nonprimetime;4 Dedicated"},
		{"other prefixes", week + ";primetime_prefix=x", "11/21/2026 06:30", "0 1 2 3", "4 Dedicated"},
		{"dedicated", "dedicated_time=11/21/2026 06:00 11/21/2026 08:00", "11/21/2026 06:30", "4", "0 Dedicated;1 Dedicated;2 Dedicated;3 Dedicated"},
		{"too short", "dedicated_time=11/21/2026 06:00 11/21/2026 07:00", "11/21/2026 06:30", "", "0 Dedicated;1 Dedicated;2 Dedicated;3 Dedicated;4 dedicated time boundary"},
		{"soon", "dedicated_time=11/21/2026 07:00 11/21/2026 08:00", "11/21/2026 06:30", "0", "1 dedicated time boundary;2 dedicated time boundary;3 nonprimetime;4 Dedicated"},
		{"over", "dedicated_time=11/20/2026 07:00 11/20/2026 08:00", "11/21/2026 06:30", "0 1 2", "3 nonprimetime;4 Dedicated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=8,mem=8gb")
			for set := range strings.SplitSeq(c.set, ";") {
				if set != "" {
					b.scheduler(set)
				}
			}
			for _, queue := range []pbs.QueueName{"p_day", "np_night", "dedicated"} {
				b.queue(queue, "0")
			}
			b.queued("workq", "select=1:ncpus=1 walltime=00:30:00")
			for _, queue := range []pbs.QueueName{"workq", "p_day", "np_night", "dedicated"} {
				b.queued(queue, "select=1:ncpus=1 walltime=01:00:00")
			}
			at, err := time.Parse("01/02/2006 15:04", c.at)
			if err != nil {
				t.Fatal(err)
			}
			p := sched.Make(b.store.View(), pbs.Time(at.UnixNano()))
			if got := started(p); got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
			said := map[string]string{}
			for _, x := range p.Comments {
				said[strings.TrimSuffix(string(x.Job), ".srv")] = x.Why.Comment()
			}
			for want := range strings.SplitSeq(c.told, ";") {
				if job, words, _ := strings.Cut(want, " "); !strings.Contains(said[job], words) {
					t.Errorf("of %s it says %q, want %s", job, said[job], words)
				}
			}
		})
	}
}

// The log says in each cycle what time it is, and that the holidays are of a year that is over.
func TestHours_InTheLog(t *testing.T) {
	const (
		week     = "YEAR 2026,weekday 0600 1730,saturday none all,sunday none all"
		outdated = "Fil;holidays;The holiday file is out of date; please update it."
	)
	for _, c := range []struct {
		holidays, want string
		outdated       bool
	}{
		{"", `primetime\.  It will never end`, false},
		{"weekday all none,sunday none all", `primetime\.  It will end in 63\d{3} seconds at 11/22/2026 00:00:00`, false},
		{week, `non-primetime\.  It will end in 17\d{4} seconds at 11/23/2026 06:00:00`, false},
		{strings.Replace(week, "2026", "2025", 1), `non-primetime\.  It will end in 17\d{4} seconds at 11/23/2026 06:00:00`, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &leader{bench: newBench(t), changed: make(chan struct{})}
			l.host("hosta", "hosta:ncpus=4")
			for name, value := range map[string]string{"log_events": "2047", "holidays": c.holidays} {
				l.do(&command.ManageSched{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: name, Value: value}}}})
			}
			ctx, cancel := context.WithCancel(t.Context())
			loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)})
			done := make(chan error, 1)
			go func() { done <- loop.Run(ctx) }()
			l.now(func() { l.submit("ncpus=4") })
			time.Sleep(time.Second)
			synctest.Wait()
			is := regexp.MustCompile("^Svr;;It is " + c.want + "$")
			if slices.IndexFunc(l.lines, is.MatchString) < 0 || slices.Contains(l.lines, outdated) != c.outdated {
				t.Errorf("%s:\n%s", c.holidays, strings.Join(l.lines, "\n"))
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestHours_Opens: when a job may start at the earliest that is there on Saturday, 21 November 2026, 06:25 UTC.
func TestHours_Opens(t *testing.T) {
	const (
		week  = "holidays=YEAR 2026,weekday 0600 1730,saturday none all,sunday none all"
		twice = "dedicated_time=11/21/2026 07:00 11/21/2026 08:00,11/21/2026 08:40 11/21/2026 12:00"
	)
	for _, c := range []struct {
		name, set string
		queue     pbs.QueueName
		long      time.Duration
		want      string // empty: never
	}{
		{"any time", "", "workq", time.Hour, "11/21 06:25"},
		{"no dedicated time", "", "dedicated", time.Hour, ""},
		{"it is always prime time", "", "np_night", time.Hour, ""},
		{"before dedicated time", twice, "workq", 30 * time.Minute, "11/21 06:25"},
		{"between two", twice, "workq", 36 * time.Minute, "11/21 08:00"},
		{"after both", twice, "workq", 45 * time.Minute, "11/21 12:00"},
		{"in the first", twice, "dedicated", time.Hour, "11/21 07:00"},
		{"in the second", twice, "dedicated", 2 * time.Hour, "11/21 08:40"},
		{"in neither", twice, "dedicated", 4 * time.Hour, ""},
		{"in prime time", week, "p_day", time.Hour, "11/23 06:00"},
		{"out of it", week, "np_night", 100 * time.Hour, "11/21 06:25"},
		{"across the turn", week, "workq", 100 * time.Hour, "11/21 06:25"},
		{"within it", week + ";backfill_prime=True", "p_day", 11 * time.Hour, "11/23 06:00"},
		{"not across it", week + ";backfill_prime=True", "p_day", 12 * time.Hour, ""},
		{"across it by the spill", week + ";backfill_prime=True;prime_spill=01:00:00", "p_day", 12 * time.Hour, "11/23 06:00"},
		{"over the night", week + ";backfill_prime=True", "workq", 12 * time.Hour, "11/21 06:25"},
		{"longer than any night", week + ";backfill_prime=True", "workq", 100 * time.Hour, ""},
		{"exempt from it", week + ";backfill_prime=True;prime_exempt_anytime_queues=True", "workq", 100 * time.Hour, "11/21 06:25"},
		{"both", week + ";backfill_prime=True;" + "dedicated_time=11/21/2026 07:00 11/23/2026 05:00", "workq", 2 * time.Hour, "11/23 06:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			for set := range strings.SplitSeq(c.set, ";") {
				if set != "" {
					b.scheduler(set)
				}
			}
			b.queue("dedicated", "0")
			at, ok := sched.Opens(b.store.View(), &state.Job{Queue: c.queue}, start, pbs.Time(c.long))
			got := ""
			if ok {
				got = time.Unix(0, int64(at)).UTC().Format("01/02 15:04")
			}
			if got != c.want {
				t.Errorf("it may start at %q, want %q", got, c.want)
			}
		})
	}
}
