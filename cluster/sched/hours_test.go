package sched_test

import (
	"strings"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/pbs"
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
