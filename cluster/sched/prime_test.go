package sched_test

import (
	"strings"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// In prime time the settings hold that are said for it, and the others as ever.
func TestPrime_Settings(t *testing.T) {
	const week = "holidays=YEAR 2026,weekday 0600 1730,saturday none all,sunday none all"
	const monday, saturday = "11/23/2026 12:00", "11/21/2026 12:00"
	for _, c := range []struct{ name, set, at, want string }{
		{"as submitted", "", monday, "2:a 0:a 1:a"},
		{"in prime time the shortest first", "prime_job_sort_key=walltime LOW", monday, "2:a 1:a 0:a"},
		{"not out of it", "prime_job_sort_key=walltime LOW", saturday, "2:a 0:a 1:a"},
		{"out of it the longest first", "prime_job_sort_key=walltime LOW;job_sort_key=walltime HIGH", saturday, "2:a 0:a 1:a"},
		{"whatever the queue", "prime_by_queue=False", monday, "0:a 1:a 2:a"},
		{"other vnodes", "prime_node_sort_key=sort_priority HIGH", monday, "2:b 0:b 1:b"},
		{"not out of it", "prime_node_sort_key=sort_priority HIGH", saturday, "2:a 0:a 1:a"},
		{"in turn", "prime_round_robin=True;prime_by_queue=False", monday, "2:a 0:a 1:a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("a", "a:ncpus=8,mem=8gb")
			b.host("b", "b:ncpus=8,mem=8gb")
			b.do(&command.ManageVnode{Verb: command.VerbSet, Vnode: "b", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "Priority", Value: "5"}}}})
			b.scheduler(week)
			for set := range strings.SplitSeq(c.set, ";") {
				if set != "" {
					b.scheduler(set)
				}
			}
			b.queue("high", "10")
			b.queued("workq", "select=1:ncpus=1 walltime=03:00:00")
			b.queued("workq", "select=1:ncpus=1 walltime=00:30:00")
			b.queued("high", "select=1:ncpus=1 walltime=01:00:00")
			at, err := time.Parse("01/02/2006 15:04", c.at)
			if err != nil {
				t.Fatal(err)
			}
			p := sched.NewPlanner()
			p.Plan(b.store.View(), pbs.Time(at.Add(-12*time.Hour).UnixNano())) // what it keeps must not count
			var got []string
			for _, s := range p.Plan(b.store.View(), pbs.Time(at.UnixNano())).Starts {
				got = append(got, strings.TrimSuffix(string(s.Job), ".srv")+":"+s.ExecVnode[1:2])
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("%s, want %s", text, c.want)
			}
		})
	}
}

// With round_robin and fair share the queues take turns, and in each it is the turn of who has
// used least.
func TestOrder_SharesInTurn(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=8,mem=8gb")
	b.scheduler("fair_share=True", "round_robin=True", "unknown_shares=10")
	b.queue("other", "0")
	id := b.submitAs("ann", "staff", "select=1:ncpus=1")
	b.run()
	b.used(id, 100)
	b.do(&command.DeleteJob{Job: id, Force: true})
	for _, queue := range []pbs.QueueName{"workq", "other"} {
		for _, user := range []string{"ann", "ann", "bob"} {
			b.do(&command.SubmitJob{Owner: pbs.User{Name: user, Host: "hosta"}, Queue: queue, Attributes: attr.List{}.
				Set("euser", "", user).Set("Resource_List", "select", "1:ncpus=1")})
		}
	}
	if got := started(b.plan()); got != "6 3 4 1 5 2" {
		t.Errorf("it is %s", got)
	}
}
