package sched_test

import (
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/command"
)

// walltimes returns what the starts of a plan set.
func walltimes(p sched.Plan) map[string]string {
	all := map[string]string{}
	for _, s := range p.Starts {
		text := ""
		for _, c := range sched.Changes(s) {
			text += c.Entry.Resource + "=" + c.Entry.Value
		}
		all[s.Job.Number()] = text
	}
	return all
}

// A shrink-to-fit job runs for its longest time, or until what comes before its end if that is no less than its shortest.
func TestShrink(t *testing.T) {
	at := time.Unix(0, int64(start)).UTC() // not on the minute: dedicated time is given in minutes
	for _, c := range []struct{ name, dedicated, request, want string }{
		{"as long as it may", "", "min_walltime=50:00 max_walltime=4:00:00", "walltime=04:00:00"},
		{"until dedicated time", "1h", "min_walltime=50:00 max_walltime=4:00:00", "walltime=00:59:23"},
		{"not at all", "1h", "min_walltime=1:50:00 max_walltime=4:00:00", "none"},
		{"for ever", "", "min_walltime=50:00", "walltime=43800:00:00"},
		{"as asked", "", "walltime=50:00", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=4,mem=8gb")
			if c.dedicated != "" {
				d, _ := time.ParseDuration(c.dedicated)
				b.scheduler("dedicated_time=" + at.Add(d).Format("01/02/2006 15:04") + " " + at.Add(2*d).Format("01/02/2006 15:04"))
			}
			id := b.submit("select=1:ncpus=1 " + c.request)
			got, ok := walltimes(b.plan())[id.Number()]
			if !ok {
				got = "none"
			}
			if got != c.want {
				t.Errorf("it starts with %q, want %q", got, c.want)
			}
		})
	}
}

// It ends before a top job starts, and its walltime is in the state when it runs.
func TestShrink_BesideATopJob(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=4,mem=8gb")
	b.scheduler("strict_ordering=True")
	b.submit("select=1:ncpus=2 walltime=1:00:00")
	b.run()
	b.submit("select=1:ncpus=4 walltime=1:00:00") // the top job
	id := b.submit("select=1:ncpus=2 min_walltime=10:00 max_walltime=3:00:00")
	p := b.plan()
	if got := walltimes(p)[id.Number()]; got != "walltime=01:00:00" {
		t.Fatalf("it starts with %q", got)
	}
	for _, s := range p.Starts {
		b.do(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode, Changes: sched.Changes(s)})
	}
	j, _ := b.store.View().Job(id)
	if got, _ := j.Resources.Get("walltime"); got != "01:00:00" {
		t.Errorf("it runs with walltime=%q", got)
	}
}

// However many top jobs are ahead, it ends before the first one that it would delay.
func TestShrink_BeforeManyTopJobs(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=4,mem=8gb")
	b.scheduler("strict_ordering=True")
	b.limit("backfill_depth=100")
	b.submit("select=1:ncpus=2 walltime=1:00:00")
	b.run()
	for range 50 {
		b.submit("select=1:ncpus=3 walltime=1:00:00")
	}
	for request, want := range map[string]string{
		"select=1:ncpus=2 min_walltime=10:00":   "walltime=01:00:00",    // beside the run alone
		"select=1:ncpus=2 min_walltime=1:10:00": "none",                 // a top job comes before that
		"select=1:ncpus=1 min_walltime=10:00":   "walltime=43800:00:00", // beside all of them
	} {
		id := b.submit(request)
		got, ok := walltimes(b.plan())[id.Number()]
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s: it starts with %q, want %q", request, got, want)
		}
		b.do(&command.DeleteJob{Job: id, Force: true})
	}
}

// While it is found out how long it may run nothing is taken: what is left beside it others have.
func TestShrink_TriesTakeNothing(t *testing.T) {
	b := newClock(t)
	b.host("hosta", "hosta:ncpus=4,mem=8gb")
	for i := range 5 { // it may run beside all but the last
		ncpus := "1"
		if i == 4 {
			ncpus = "4"
		}
		b.reserve("select=1:ncpus="+ncpus, 600, 3600*(i+1))
	}
	b.decided()
	one := b.in("", "select=1:ncpus=1 min_walltime=10:00")
	other := b.in("", "select=1:ncpus=3 walltime=20:00")
	p := b.decided()
	if got := walltimes(p); got[one.Number()] == "" || len(got) != 2 {
		t.Errorf("jobs start with %v, want %s and %s both", got, one, other)
	}
}
