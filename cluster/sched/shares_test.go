package sched_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// used has the last job of a user be used for so many seconds of cput.
func (b *bench) used(id pbs.JobID, seconds int) {
	b.t.Helper()
	j, _ := b.store.View().Job(id)
	b.do(&command.UsageSample{Host: j.LastRun().MS, Jobs: []command.JobUsage{{
		Job: id, RunCount: j.RunCount, Used: resource.List{}.Set("cput", fmt.Sprint(seconds)),
	}}})
}

func (b *bench) usage() string {
	var all []string
	for s := range b.store.View().Shares() {
		all = append(all, fmt.Sprintf("%s=%d", s.Entity, s.Usage/1000))
	}
	return strings.Join(all, " ")
}

// Who has used least of his part comes first, and jobs that start count at once.
func TestShares_Order(t *testing.T) {
	for _, c := range []struct{ name, set, want string }{
		{"without", "", "1 2 3 4 5"},
		{"who has used nothing, then alternately", "fairshare_usage_res=60*ncpus*walltime", "4 3 5 1 2"},
		{"by what was used", "fair_share=True", "4 5 3 1 2"},
		{"by shares", "fair_share=True;resource_group=ann 10 root 100,bob 11 root 1,carl 12 root 10", "4 5 1 2 3"},
		{"by groups", "fair_share=True;resource_group=a 20 root 1,b 21 root 1,ann 10 a 10,bob 11 b 10,carl 12 a 1", "3 4 5 1 2"},
		{"without shares last", "fair_share=True;resource_group=bob 11 root 1", "3 1 2 4 5"},
		{"without shares never", "fair_share=True;resource_group=bob 11 root 1;fairshare_enforce_no_shares=True", "3"},
		{"by a formula", "formula=-fairshare_factor", "1 2 3 4 5"},
		{"by a formula, with fair_share off", "fair_share=False;formula=fairshare_factor", "4 5 3 1 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=8,mem=8gb")
			b.scheduler("unknown_shares=10", "fair_share=True")
			for user, seconds := range map[string]int{"ann": 100, "bob": 50} {
				id := b.submitAs(user, "staff", "select=1:ncpus=1")
				b.run()
				b.used(id, seconds/2)
				b.used(id, seconds)
				b.do(&command.DeleteJob{Job: id, Force: true})
			}
			if got := b.usage(); got != "ann=101 bob=51" {
				t.Fatalf("used %s", got)
			}
			if c.set == "" {
				b.scheduler("fair_share=False")
			}
			for set := range strings.SplitSeq(c.set, ";") {
				if text, ok := strings.CutPrefix(set, "formula="); ok {
					b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "job_sort_formula", Value: text}}}})
				} else if set != "" {
					b.scheduler(set)
				}
				if strings.HasPrefix(set, "resource_group") {
					b.scheduler("unknown_shares=0")
				}
			}
			b.do(&command.DeleteJob{Job: b.submitAs("ann", "staff", "select=1:ncpus=1")}) // ids begin with an odd one
			for _, user := range []string{"ann", "ann", "bob", "carl", "carl"} {
				b.submitAs(user, "staff", "select=1:ncpus=1 walltime=00:00:01")
			}
			got := strings.Fields(started(b.plan()))
			for i := range got {
				var n int
				fmt.Sscan(got[i], &n)
				got[i] = fmt.Sprint(n - 2)
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("it is %s, want %s", text, c.want)
			}
		})
	}
}

// What was used fades, and an entity of which nothing is left is forgotten.
func TestShares_Fade(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=8,mem=8gb")
	b.scheduler("fair_share=True", "fairshare_decay_time=00:10:00", "fairshare_decay_factor=0.25")
	id := b.submitAs("ann", "staff", "select=1:ncpus=1")
	b.run()
	b.used(id, 1000)
	tick := func(after time.Duration, want string) {
		t.Helper()
		b.at(after, &command.TimeTick{})
		if got := b.usage(); got != want {
			t.Errorf("after %s: %s, want %s", after, got, want)
		}
	}
	tick(0, "ann=1001")
	tick(9*time.Minute, "ann=1001")
	tick(10*time.Minute, "ann=250")
	tick(19*time.Minute, "ann=250")
	tick(20*time.Minute, "ann=62")
	b.scheduler("fairshare_decay_factor=0")
	tick(30*time.Minute, "")
	if err := b.store.View().Check(); err != nil {
		t.Error(err)
	}
}

// The tree says who has which part, and what he has used.
func TestShareTree(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=8,mem=8gb")
	b.scheduler("fair_share=True", "unknown_shares=40", "resource_group=physics 10 root 60,ann 20 physics 3,bob 21 physics 1")
	for user, seconds := range map[string]int{"ann": 100, "carl": 50} {
		id := b.submitAs(user, "staff", "select=1:ncpus=1")
		b.run()
		b.used(id, seconds)
		b.do(&command.DeleteJob{Job: id, Force: true})
	}
	b.scheduler("fair_share=False")
	var got []string
	for _, n := range sched.ShareTree(b.store.View()) {
		got = append(got, fmt.Sprintf("%s of %s %d %d shares=%d used=%.0f part=%.2f tree=%.3f", n.Name, n.Parent, n.ID, n.Group, n.Shares, n.Usage, n.Part, n.TreeUsage))
	}
	want := []string{
		"root of  0 -1 shares=-1 used=153 part=1.00 tree=1.000",
		"physics of root 10 0 shares=60 used=102 part=0.60 tree=0.667",
		"ann of physics 20 10 shares=3 used=101 part=0.45 tree=0.665",
		"bob of physics 21 10 shares=1 used=1 part=0.15 tree=0.172",
		"unknown of root 1 0 shares=40 used=52 part=0.40 tree=0.340",
		"carl of unknown -1 1 shares=1 used=51 part=0.40 tree=0.340",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the tree is\n%s", strings.Join(got, "\n"))
	}
}

// Before anybody has used anything shares decide: who has two and a half times as many runs as many jobs in turn.
func TestShares_FromTheFirstJob(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=8,mem=8gb")
	b.scheduler("fair_share=True", "fairshare_usage_res=ncpus", "resource_group=ann 10 root 10,bob 11 root 25")
	for _, user := range []string{"ann", "bob", "bob", "bob"} {
		b.submitAs(user, "staff", "select=1:ncpus=1")
	}
	if got := started(b.plan()); got != "1 2 0 3" {
		t.Errorf("they start as %s", got)
	}
}

// The plan's lines have each job that was looked at, with its score.
func TestPlan_LinesOfFormula(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=1,mem=8gb")
	b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "job_sort_formula", Value: "ncpus/3"}}}})
	for range 3 {
		b.submitAs("ann", "staff", "select=1:ncpus=1")
	}
	var considered, scores int
	for _, l := range b.plan().Lines {
		switch l.Text {
		case "Considering job to run":
			considered++
		case "Formula Evaluation = 0.3333":
			scores++
		}
	}
	if considered != 3 || scores != 3 {
		t.Errorf("%d jobs were considered, %d scored", considered, scores)
	}
}

// A score is that by which the job has its turn, whatever was planned for its owner since.
func TestPlan_ScoreOfTheCycle(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=2,mem=8gb")
	b.scheduler("fair_share=True", "fairshare_usage_res=100*ncpus", "resource_group=ann 10 root 50,bob 11 root 50")
	b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "job_sort_formula", Value: "fairshare_factor"}}}})
	b.scheduler("job_sort_formula_threshold=0.2")
	b.submitAs("ann", "staff", "select=1:ncpus=1")
	b.submitAs("bob", "staff", "select=1:ncpus=1")
	p := b.plan()
	scores := map[string]int{}
	for _, l := range p.Lines {
		if score, ok := strings.CutPrefix(l.Text, "Formula Evaluation = "); ok {
			scores[score]++
		}
	}
	if got := started(p); got != "0 1" || len(scores) != 1 {
		t.Errorf("started %s, by the scores %v", got, scores)
	}
}

// A score has the decimals that it has, up to four; a last 0 says that there are more.
func TestPlan_DigitsOfScores(t *testing.T) {
	for formula, want := range map[string]string{
		"1": "1", "1/4": "0.25", "0.36": "0.36", "2/3": "0.6667", "-2/3": "-0.6667", "0.83304": "0.8330", "1234567.5": "1234567.5", "0.1+0.2": "0.3",
	} {
		b := newBench(t)
		b.host("hosta", "hosta:ncpus=2,mem=8gb")
		b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "job_sort_formula", Value: formula}}}})
		b.submitAs("ann", "staff", "select=1:ncpus=1")
		got := ""
		for _, l := range b.plan().Lines {
			if score, ok := strings.CutPrefix(l.Text, "Formula Evaluation = "); ok {
				got = score
			}
		}
		if got != want {
			t.Errorf("%s is printed as %s, want %s", formula, got, want)
		}
	}
}
