package sched_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
)

// TestGate_AsNew: hosts that were judged in an earlier cycle, and of which nothing is new, take the jobs that they would take if all were
// judged.
func TestGate_AsNew(t *testing.T) {
	followed := 0
	rapid.Check(t, func(r *rapid.T) {
		c := newLoaded(r)
		c.planned = c.asNew
		since := c.loads.Since
		c.loads.Since = func(n uint64) ([]pbs.HostName, uint64, bool) {
			if n > 0 {
				followed++
			}
			return since(n)
		}
		hosts := []pbs.HostName{"a", "b", "c"}
		for _, h := range hosts {
			c.host(string(h), string(h)+":ncpus=4,mem=4gb")
		}
		c.limiting(func(l *lsf.Config) {
			of := func(index string, n resreq.Amount) []lsf.Threshold {
				return []lsf.Threshold{{Index: index, Start: amountOf(n)}}
			}
			l.Hosts = []lsf.Host{
				{Name: "a", Thresholds: of("mem", 1000*resreq.Megabyte)}, {Name: lsf.DefaultHost, Thresholds: of("r1m", 2000)},
			}
		})
		if rapid.IntRange(0, 4).Draw(r, "balance") == 0 {
			c.scheduler("load_balancing=True")
		}
		queues := []pbs.QueueName{"normal", "backfill", "reservation", "slots"}
		for i := range rapid.IntRange(1, 20).Draw(r, "steps") {
			host := rapid.SampledFrom(hosts).Draw(r, "of")
			switch rapid.IntRange(0, 7).Draw(r, "step") {
			case 0, 1, 2:
				c.says(host, rapid.SampledFrom([]string{"r1m", "mem", "ut"}).Draw(r, "index"), resreq.Amount(rapid.IntRange(0, 40).Draw(r, "value")*100))
			case 3:
				delete(c.said, host)
				c.moved = append(c.moved, host)
			case 4:
				c.making(rapid.SampledFrom(queues).Draw(r, "thresholds of"), "lsf_thresholds="+rapid.SampledFrom([]string{"mem=2000", "ut=0.02", "maxmem=5000"}).Draw(r, "thresholds"))
			case 5:
				c.fresh = rapid.Bool().Draw(r, "fresh")
			default:
				c.submit("u1", fmt.Sprint(i), rapid.SampledFrom(queues).Draw(r, "queue"), fmt.Sprintf("select=1:ncpus=%d:mem=%dgb walltime=0:0%d:00",
					rapid.IntRange(1, 3).Draw(r, "slots"), rapid.IntRange(0, 2).Draw(r, "memory"), rapid.IntRange(1, 4).Draw(r, "minutes")))
			}
			c.cycle()
			c.until(time.Duration(c.now-half) + passed(rapid.IntRange(0, 40).Draw(r, "seconds")))
		}
	})
	if followed == 0 {
		t.Error("all hosts were judged in every cycle")
	}
}
