package sched_test

import (
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// A queue with a backfill_depth of its own has so many top jobs whatever the server's is; with 0 nothing passes a job
// that waits, in that queue or in those that have none of their own.
func TestTop_DepthsApart(t *testing.T) {
	const full = "ncpus (R: 4 A: 2 T: 4)"
	const short, order = " Not Running: Insufficient amount of resource: " + full, " Not Running: Job would break strict sorted order"
	for _, c := range []struct{ name, set, depths, want, told string }{
		{
			"queues have their own", "", "0 a=1 b=1", "3",
			"1" + short + "\n1 start +1h0m0s on (hosta:ncpus=4)\n2" + short + "\n4" + short + "\n4 start +2h0m0s on (hosta:ncpus=4)",
		},
		{"queues have none", "", "0", "", "1" + short + "\n2" + order + "\n3" + order + "\n4" + order},
		{"none of those that have none", "", "0 b=1", "3", "1" + short + "\n2" + order + "\n4" + short + "\n4 start +1h0m0s on (hosta:ncpus=4)"},
		{"a queue has 0", "", "1 a=0", "3", "1" + short + "\n2" + order + "\n4" + short + "\n4 start +1h0m0s on (hosta:ncpus=4)"},
		{"no backfill at all", "backfill=False", "1 a=1 b=1", "", "1" + short + "\n2" + order + "\n3" + order + "\n4" + order},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=4,mem=8gb")
			b.scheduler("strict_ordering=True")
			if c.set != "" {
				b.scheduler(c.set)
			}
			b.queue("a", "0")
			b.queue("b", "0")
			server, queues, _ := strings.Cut(c.depths, " ")
			b.limit("backfill_depth=" + server)
			for set := range strings.FieldsSeq(queues) {
				queue, depth, _ := strings.Cut(set, "=")
				b.do(&command.ManageQueue{Verb: command.VerbSet, Queue: pbs.QueueName(queue), Changes: []command.AttrChange{{Entry: attr.Entry{Name: "backfill_depth", Value: depth}}}})
			}
			b.queued("a", "select=1:ncpus=2 walltime=01:00:00")
			b.run()
			for i, queue := range []pbs.QueueName{"a", "a", "b", "b"} {
				b.queued(queue, []string{
					"select=1:ncpus=4 walltime=01:00:00", "select=1:ncpus=4 walltime=01:00:00",
					"select=1:ncpus=2 walltime=00:30:00", "select=1:ncpus=4 walltime=01:00:00",
				}[i])
			}
			if p := b.plan(); started(p) != c.want || told(p) != c.told {
				t.Errorf("started %q, want %q\n%s\nwant\n%s", started(p), c.want, told(p), c.told)
			}
		})
	}
}
