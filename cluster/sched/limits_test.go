package sched_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/build"
)

// limit sets attributes of the server, or of workq if they begin with "workq.".
func (b *bench) limit(attributes ...string) {
	b.t.Helper()
	for _, text := range attributes {
		name, value, _ := strings.Cut(text, "=")
		name, queue := strings.CutPrefix(name, "workq.")
		name, res, _ := strings.Cut(name, ".")
		changes := []command.AttrChange{{Entry: attr.Entry{Name: name, Resource: res, Value: value}}}
		if queue {
			b.do(&command.ManageQueue{Verb: command.VerbSet, Queue: "workq", Changes: changes})
			continue
		}
		b.do(&command.ManageServer{Verb: command.VerbSet, Changes: changes})
	}
}

// drawLimit sets or unsets a limit on running jobs. What an object has of the other form goes first:
// both beside each other are refused.
func (b *bench) drawLimit(r *rapid.T) {
	name := rapid.SampledFrom([]string{"max_run", "max_user_run", "max_run_res.ncpus", "resources_available.ncpus"}).Draw(r, "limit")
	value := rapid.SampledFrom([]string{"1", "2", "4"}).Draw(r, "most")
	switch name {
	case "max_run":
		value = rapid.SampledFrom([]string{"[o:PBS_ALL=%s]", "[u:PBS_GENERIC=%s]", "[u:bob=%s],[g:users=3]"}).Draw(r, "whose")
		value = fmt.Sprintf(value, "2")
	case "max_run_res.ncpus":
		value = "[u:PBS_GENERIC=" + value + "]"
	}
	other := []string{"max_user_run"}
	if name == "max_user_run" {
		other = []string{"max_run", "max_run_res.ncpus"}
	}
	var object string
	if rapid.Bool().Draw(r, "at the queue") {
		object = "workq."
	}
	if rapid.IntRange(0, 2).Draw(r, "unset") == 0 {
		value = "" // takes it away
	}
	for _, name := range other {
		b.limit(object + name + "=")
	}
	b.limit(object + name + "=" + value)
}

func (b *bench) submitAs(user, group, request string) pbs.JobID {
	b.t.Helper()
	list := attr.List{}.Set("euser", "", user).Set("egroup", "", group)
	for word := range strings.FieldsSeq(request) {
		name, value, _ := strings.Cut(word, "=")
		list = list.Set("Resource_List", name, value)
	}
	out := b.try(&command.SubmitJob{Owner: pbs.User{Name: user, Host: "hosta"}, Attributes: list})
	if out.Refusal != nil {
		b.t.Fatalf("submit %s: %v", request, out.Refusal)
	}
	return out.Result.Job
}

// The scheduler starts no more than the limits allow, what it plans in the same cycle
// included, and says in the comment which limit holds a job back.
func TestMake_HeedsLimits(t *testing.T) {
	cases := []struct {
		name   string
		limits []string
		want   string
	}{
		{"none", nil, "start 0 (hosta:ncpus=1)\nstart 1 (hosta:ncpus=1)\nstart 2 (hosta:ncpus=1)\nstart 3 (hosta:ncpus=1)"},
		{
			"each user at the server",
			[]string{"max_run=[u:PBS_GENERIC=1]"},
			"start 0 (hosta:ncpus=1)\nstart 2 (hosta:ncpus=1)\n" +
				"comment 1 Not Running: would exceed complex's per-user limit\ncomment 3 Not Running: would exceed complex's per-user limit",
		},
		{
			"one user at the queue",
			[]string{"workq.max_run=[u:ann=1]"},
			"start 0 (hosta:ncpus=1)\nstart 2 (hosta:ncpus=1)\nstart 3 (hosta:ncpus=1)\n" +
				"comment 1 Not Running: Maximum number of jobs for user ann already in queue workq",
		},
		{
			"a user is above the others",
			[]string{"max_run=[u:PBS_GENERIC=1],[u:ann=2]"},
			"start 0 (hosta:ncpus=1)\nstart 1 (hosta:ncpus=1)\nstart 2 (hosta:ncpus=1)\ncomment 3 Not Running: would exceed complex's per-user limit",
		},
		{
			"groups",
			[]string{"max_run=[g:staff=1]"},
			"start 0 (hosta:ncpus=1)\nstart 1 (hosta:ncpus=1)\nstart 2 (hosta:ncpus=1)\n" +
				"comment 3 Not Running: Maximum number of jobs for group staff already in complex",
		},
		{
			"projects",
			[]string{"max_run=[p:PBS_GENERIC=3]"},
			"start 0 (hosta:ncpus=1)\nstart 1 (hosta:ncpus=1)\nstart 2 (hosta:ncpus=1)\ncomment 3 Not Running: would exceed complex's per-project limit",
		},
		{
			"all together",
			[]string{"workq.max_run=[o:PBS_ALL=2]"},
			"start 0 (hosta:ncpus=1)\nstart 1 (hosta:ncpus=1)\n" +
				"comment 2 Not Running: Maximum number of jobs already in queue workq\ncomment 3 Not Running: Maximum number of jobs already in queue workq",
		},
		{
			"a resource",
			[]string{"max_run_res.ncpus=[u:PBS_GENERIC=1]"},
			"start 0 (hosta:ncpus=1)\nstart 2 (hosta:ncpus=1)\n" +
				"comment 1 Not Running: would exceed per-user limit on resource ncpus in complex\n" +
				"comment 3 Not Running: would exceed per-user limit on resource ncpus in complex",
		},
		{
			"the older form",
			[]string{"max_user_run=1", "workq.max_group_res.ncpus=1"},
			"start 0 (hosta:ncpus=1)\nstart 2 (hosta:ncpus=1)\n" +
				"comment 1 Not Running: would exceed complex's per-user limit\ncomment 3 Not Running: would exceed complex's per-user limit",
		},
		{
			"what the server has",
			[]string{"resources_available.ncpus=3"},
			"start 0 (hosta:ncpus=1)\nstart 1 (hosta:ncpus=1)\nstart 2 (hosta:ncpus=1)\n" +
				"comment 3 Not Running: Insufficient amount of server resource: ncpus (R: 1 A: 0 T: 3)",
		},
		{
			"what the queue has",
			[]string{"workq.resources_available.ncpus=3"},
			"start 0 (hosta:ncpus=1)\nstart 1 (hosta:ncpus=1)\nstart 2 (hosta:ncpus=1)\n" +
				"comment 3 Not Running: Insufficient amount of queue resource: ncpus (R: 1 A: 0 T: 3)",
		},
		{"soft limits hold nothing back", []string{"max_run_soft=[u:PBS_GENERIC=1]"}, "start 0 (hosta:ncpus=1)\nstart 2 (hosta:ncpus=1)\nstart 1 (hosta:ncpus=1)\nstart 3 (hosta:ncpus=1)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=8,mem=8gb")
			b.submitAs("ann", "users", "select=1:ncpus=1")
			b.submitAs("ann", "users", "select=1:ncpus=1")
			b.submitAs("bob", "staff", "select=1:ncpus=1")
			b.submitAs("bob", "staff", "select=1:ncpus=1")
			b.limit(c.limits...)
			p := b.plan()
			if got := text(p); got != c.want {
				t.Errorf("planned\n%s\nwant\n%s", got, c.want)
			}
			for _, s := range p.Starts { // Apply agrees with the scheduler
				b.do(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode, WithinLimits: true})
			}
			for j := range b.store.View().Jobs() {
				if j.State != pbs.Queued {
					continue
				}
				if out := b.try(&command.StartJob{Job: j.ID, ExecVnode: "(hosta:ncpus=1)", WithinLimits: true}); pbs.CodeOf(out.Err()) != pbs.ResourceBusy {
					t.Errorf("job %s was started beyond the limit: %v", j.ID, out.Err())
				}
			}
		})
	}
}

// Of jobs that a limit holds back no more are looked at than there is to say.
func TestMake_DoesNotWalkBehindALimit(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("three hundred jobs and one goroutine: short tests play it without the race detector")
	}
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=8,mem=8gb")
	b.limit("max_run=[u:PBS_GENERIC=1]")
	for i := range 300 {
		b.submitAs(fmt.Sprintf("u%d", i%2), "users", "select=1:ncpus=1")
	}
	for {
		p := sched.Make(b.store.View(), start)
		if len(p.Comments) == 0 {
			break
		}
		b.apply(p)
	}
	if p := sched.Make(b.store.View(), start); len(p.Starts) != 0 || len(p.Lines) > 250 {
		t.Errorf("%d starts, %d lines of log", len(p.Starts), len(p.Lines))
	}
}
