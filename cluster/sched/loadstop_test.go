package sched_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
	"rampart/fsm/state"
)

// acts plans once, has happen what was planned for jobs that run or are suspended, and tells what that was.
func (c *loaded) acts() string {
	c.t.Helper()
	p := c.planner.Plan(c.store.View(), c.now)
	name := func(id pbs.JobID) string {
		for name, known := range c.names {
			if known == id {
				return name
			}
		}
		return string(id)
	}
	var did []string
	for _, s := range p.LoadStops {
		did = append(did, "stop "+name(s.Job)+" "+string(s.Host)+" "+strings.Join(s.Indices, "+"))
		if out := c.commit(&command.StopForLoad{Job: s.Job, RunCount: s.RunCount, Host: s.Host, Indices: s.Indices}); out.Refusal != nil {
			c.t.Fatalf("%s: %v", did[len(did)-1], out.Refusal)
		}
	}
	for _, id := range p.Resumes {
		did = append(did, "resume "+name(id))
		if out := c.commit(&command.SignalJob{Job: id, Signal: command.Resume, Scheduled: true}); out.Refusal != nil {
			c.t.Fatalf("%s: %v", did[len(did)-1], out.Refusal)
		}
	}
	c.confirm()
	return strings.Join(did, ", ")
}

// confirm has moms answer what they are ordered to do.
func (c *loaded) confirm() {
	c.t.Helper()
	v := c.store.View()
	for h := range v.Hosts() {
		for _, o := range slices.Collect(v.Orders(h.Name)) {
			if o.Kind == state.OrderSignal {
				c.commit(&command.OrderConfirmed{Host: h.Name, Order: o.ID})
			}
		}
	}
}

// after lets time pass, and wants something to come of it.
func (c *loaded) after(seconds int, want string) {
	c.t.Helper()
	c.now += pbs.Time(seconds) * pbs.Time(time.Second)
	c.commit(&command.TimeTick{})
	if got := c.acts(); got != want {
		c.t.Errorf("at T0+%d: %q, want %q", (c.now-half)/pbs.Time(time.Second), got, want)
	}
}

// newLeader has a scheduler go on that knows nothing but the state.
func (c *loaded) newLeader() {
	c.planner = sched.NewPlanner()
	c.planner.GoBy(c.loads)
}

// newStopping makes hosts on which r1m over 4.5 suspends jobs, and lets them go on below 3.5.
func newStopping(t *testing.T) *loaded {
	c := newLoaded(t)
	c.host("hosta", "hosta:ncpus=4,mem=1000mb")
	c.host("hostb", "hostb:ncpus=4,mem=1000mb")
	c.configuring(func(*lsf.Config) {})
	for _, host := range []pbs.HostName{"hosta", "hostb"} {
		c.says(host, "r1m", 1000)
	}
	return c
}

// configuring changes the configuration beside these thresholds.
func (c *loaded) configuring(change func(*lsf.Config)) {
	c.t.Helper()
	c.limiting(func(l *lsf.Config) {
		l.Hosts = []lsf.Host{{Name: lsf.DefaultHost, Thresholds: []lsf.Threshold{{Index: "r1m", Start: amountOf(3500), Stop: amountOf(4500)}}}}
		change(l)
	})
}

const anHour = " walltime=10:00:00"

// Specification: reservation section 9.7: of a busy host one job in a turn is suspended, those of the lowest queue and that were started last
// first, and not the last one; they go on in the other order, one in a turn.
func TestLoadStop_OneInATurn(t *testing.T) {
	c := newStopping(t)
	c.making("low", "Priority=10")
	for _, j := range []string{"a normal", "b low", "d normal", "e normal"} {
		name, queue, _ := strings.Cut(j, " ")
		c.job(name, pbs.QueueName(queue), "select=1:ncpus=1:host=hosta"+anHour)
		c.now += pbs.Time(time.Second)
	}
	c.says("hosta", "r1m", 4500)
	c.after(30, "")
	c.says("hosta", "r1m", 4600)
	c.after(5, "stop b hosta r1m")
	c.after(5, "")
	c.newLeader()
	c.after(24, "")
	c.after(1, "stop e hosta r1m")
	c.after(30, "stop d hosta r1m")
	c.after(30, "")
	j, _ := c.store.View().Job(c.names["d"])
	if got := j.CommentText(); got != "Suspended by the load of hosta, which is beyond loadStop: r1m" || !j.Suspended() || j.Substate != pbs.SubSchedSuspended {
		t.Errorf("d says %q in substate %d", got, j.Substate)
	}
	c.says("hosta", "r1m", 4000)
	c.after(30, "")
	delete(c.said, "hosta")
	c.after(30, "")
	c.says("hosta", "r1m", 3500)
	c.after(5, "resume d")
	c.newLeader()
	c.after(25, "")
	c.after(5, "resume e")
	c.says("hosta", "r1m", 5000)
	c.after(5, "")
	c.after(25, "stop e hosta r1m")
	c.says("hosta", "r1m", 0)
	c.after(30, "resume e")
	c.after(30, "resume b")
	if j, _ := c.store.View().Job(c.names["b"]); j.Substate != pbs.SubRunning || !strings.HasPrefix(j.CommentText(), "Job run at ") {
		t.Errorf("b says %q in substate %d", j.CommentText(), j.Substate)
	}
}

// A job that waits does not get what suspended jobs want back while they wait for their turn to go on.
func TestLoadStop_KeepsTheirs(t *testing.T) {
	c := newStopping(t)
	for _, name := range []string{"a", "b", "d"} {
		c.job(name, "normal", "select=1:ncpus=1:host=hosta"+anHour)
	}
	c.says("hosta", "r1m", 9000)
	c.after(30, "stop d hosta r1m")
	c.after(30, "stop b hosta r1m")
	c.job("e", "normal", "select=1:ncpus=2:host=hosta"+anHour)
	c.says("hosta", "r1m", 0)
	c.after(30, "resume b")
	c.cycle()
	c.want("d waits for its turn", "e: nothing")
	c.after(30, "resume d")
}

// While nobody types on a host a job that is alone there goes on, and paging counts for nothing.
func TestLoadStop_Typing(t *testing.T) {
	c := newStopping(t)
	c.making("quick", "lsf_thresholds=pg=10/20")
	c.job("a", "normal", "select=1:ncpus=1:host=hosta"+anHour)
	c.says("hosta", "r1m", 9000)
	c.says("hosta", "it", 1*resreq.One)
	c.after(30, "")
	c.says("hosta", "it", 0)
	c.after(5, "stop a hosta r1m")
	c.says("hosta", "r1m", 0)
	c.after(30, "resume a")

	c.job("b", "quick", "select=1:ncpus=1:host=hosta"+anHour)
	c.says("hosta", "pg", 50*resreq.One)
	c.says("hosta", "it", 3*resreq.One)
	c.after(30, "")
	c.says("hosta", "it", 2*resreq.One)
	c.after(5, "stop b hosta pg")
	c.says("hosta", "pg", 0)
	c.after(30, "")
	c.says("hosta", "it", 3*resreq.One)
	c.says("hosta", "pg", 50*resreq.One)
	c.after(30, "resume b")

	// PG_SUSP_IT
	c.configuring(func(l *lsf.Config) { l.PagingIdle = number(240) })
	c.after(30, "stop b hosta pg")
	c.configuring(func(l *lsf.Config) { l.PagingIdle = number(0) })
	c.says("hosta", "it", 0)
	c.after(30, "resume b")
	c.after(30, "")
}

// A job on several hosts is suspended by the load of one, once, and goes on when all let it; memory counts as the host reports it.
func TestLoadStop_SeveralHosts(t *testing.T) {
	c := newStopping(t)
	c.making("wide", "Priority=10 lsf_thresholds=mem=100/20")
	c.job("a", "normal", "select=1:ncpus=1:mem=900mb:host=hosta"+anHour)
	c.job("b", "normal", "select=1:ncpus=1:mem=900mb:host=hostb"+anHour)
	c.job("d", "wide", "select=1:ncpus=1:mem=100mb:host=hosta+1:ncpus=1:mem=100mb:host=hostb"+anHour)
	c.after(30, "")
	c.says("hosta", "r1m", 9000)
	c.says("hostb", "mem", 19*resreq.Megabyte)
	c.after(5, "stop d hosta r1m")
	c.says("hosta", "r1m", 0)
	c.after(30, "")
	c.says("hostb", "mem", 99*resreq.Megabyte)
	c.after(30, "")
	c.says("hostb", "mem", 100*resreq.Megabyte)
	c.after(30, "resume d")

	// Where no threshold is left, nothing keeps it.
	c.says("hostb", "mem", 19*resreq.Megabyte)
	c.after(30, "stop d hostb mem")
	c.making("wide", "lsf_thresholds=ut=90")
	c.limiting(func(l *lsf.Config) { l.Hosts = nil })
	c.after(30, "resume d")
}

// One report of a host suspends one job there: a job on several hosts counts on each, also when it is over since, and one that its mom has not
// suspended yet is suspended.
func TestLoadStop_OneReport(t *testing.T) {
	c := newStopping(t)
	c.making("wide", "Priority=10")
	for _, j := range []string{"a hosta", "b hosta", "d hosta", "e hostb", "f hostb"} {
		name, host, _ := strings.Cut(j, " ")
		c.job(name, "normal", "select=1:ncpus=1:host="+host+anHour)
	}
	c.job("w", "wide", "select=1:ncpus=1:host=hosta+1:ncpus=1:host=hostb"+anHour)
	c.says("hosta", "r1m", 9000)
	c.says("hostb", "r1m", 9000)
	c.after(30, "stop w hosta r1m")
	c.end(c.names["w"])
	c.after(5, "")
	c.says("hostb", "r1m", 0)
	c.now += pbs.Time(30 * time.Second)
	p := c.planner.Plan(c.store.View(), c.now)
	if len(p.LoadStops) != 1 || p.LoadStops[0].Job != c.names["d"] {
		t.Fatalf("planned %+v", p.LoadStops)
	}
	c.commit(&command.StopForLoad{Job: c.names["d"], RunCount: 1, Host: "hosta", Indices: []string{"r1m"}})
	c.after(30, "stop b hosta r1m")
	c.after(30, "")
}

// Load suspends nobody that somebody has suspended, and lets nobody go on whom it has not suspended.
func TestLoadStop_LeftAlone(t *testing.T) {
	c := newStopping(t)
	for _, name := range []string{"a", "b", "d"} {
		c.job(name, "normal", "select=1:ncpus=1:host=hosta"+anHour)
	}
	if out := c.commit(&command.SignalJob{Job: c.names["d"], Signal: command.Suspend}); out.Refusal != nil {
		t.Fatal(out.Refusal)
	}
	c.confirm()
	c.says("hosta", "r1m", 9000)
	c.after(30, "stop b hosta r1m")
	c.says("hosta", "r1m", 0)
	c.after(30, "resume b")
	if j, _ := c.store.View().Job(c.names["d"]); j.Substate != pbs.SubSuspended {
		t.Errorf("it is in substate %d", j.Substate)
	}
	if p := c.planner.Plan(c.store.View(), c.now); !c.planner.GoesByLoad() {
		t.Errorf("it looks no more, with %v", p.LoadStops)
	}
}
