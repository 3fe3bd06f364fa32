package sched_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
)

// A loaded bench is one whose hosts say something of their load.
type loaded struct {
	*turning
	said  map[pbs.HostName]map[string]resreq.Amount
	fresh bool
	looks int
	loads *sched.Loads
	moved []pbs.HostName // of which something else was said, in the order of that
}

func newLoaded(t rapid.TB) *loaded {
	c := &loaded{turning: newTurning(t), said: map[pbs.HostName]map[string]resreq.Amount{}}
	c.loads = &sched.Loads{
		Of: func(host pbs.HostName) (map[string]resreq.Amount, bool) {
			r, ok := c.said[host]
			return r, ok
		},
		Since: func(n uint64) ([]pbs.HostName, uint64, bool) {
			if n > uint64(len(c.moved)) {
				return nil, uint64(len(c.moved)), false
			}
			return c.moved[n:], uint64(len(c.moved)), true
		},
		Fresh: func() bool { return c.fresh },
		Look:  func() { c.looks++ },
	}
	c.heard = c.loads
	c.planner.GoBy(c.loads)
	return c
}

func (c *loaded) says(host pbs.HostName, index string, value resreq.Amount) {
	if c.said[host] == nil {
		c.said[host] = map[string]resreq.Amount{}
	}
	c.said[host][index] = value
	c.moved = append(c.moved, host)
}

func (c *loaded) source(vnode pbs.VnodeName, source string) {
	c.t.Helper()
	if out := c.commit(&command.ManageVnode{Verb: command.VerbSet, Vnode: vnode, Changes: []command.AttrChange{{Entry: attr.Entry{Name: lsf.LoadSource, Value: source}}}}); out.Refusal != nil {
		c.t.Fatal(out.Refusal)
	}
}

func amountOf(n resreq.Amount) *resreq.Amount { return &n }

// Specification: reservation sections 1.4, 8.3 and 9.2: thresholds of hosts and queues keep jobs from hosts.
func TestLoads_Thresholds(t *testing.T) {
	c := newLoaded(t)
	c.host("hosta", "hosta:ncpus=4,mem=1000mb")
	c.host("hostb", "hostb:ncpus=4,mem=1000mb")
	c.limiting(func(l *lsf.Config) {
		l.Hosts = []lsf.Host{{Name: lsf.DefaultHost, Thresholds: []lsf.Threshold{{Index: "r1m", Start: amountOf(3500)}}}}
	})
	c.says("hosta", "r1m", 3600)
	c.says("hostb", "r1m", 3500)
	c.job("a", "normal", "select=1:ncpus=1")
	c.want("T0", "a: runs (hostb:ncpus=1)")
	c.says("hostb", "r1m", 9000)
	c.job("b", "normal", "select=1:ncpus=1")
	c.want("T0", "b: nothing")
	c.wantWait("b", "The 1 min effective CPU queue length (r1m) is beyond threshold: hosta, hostb")
	c.until(passed(60))
	c.want("T0+60", "b: nothing")
	c.says("hosta", "r1m", 0)
	c.cycle()
	c.want("less load", "b: runs (hosta:ncpus=1)")

	// A queue's own, of a number of the site and of memory, which jobs have of it as well.
	c.making("quick", "lsf_thresholds=mem=500")
	c.job("d", "quick", "select=1:ncpus=1:mem=500mb:host=hosta")
	c.job("e", "quick", "select=1:ncpus=1:mem=1mb:host=hosta")
	c.job("f", "quick", "select=1:ncpus=1:mem=1mb:host=hosta")
	c.want("memory", "d: runs (hosta:ncpus=1:mem=512000kb)", "e: runs (hosta:ncpus=1:mem=1024kb)", "f: nothing")
	c.wantWait("f", "The available memory (mem) is low: hosta")
	c.end(c.names["d"])
	c.cycle()
	c.want("memory is back", "f: runs (hosta:ncpus=1:mem=1024kb)")
}

// In the beginning of a term nothing is known yet: jobs wait for what hosts say, and not for those that never say anything.
func TestLoads_Fresh(t *testing.T) {
	c := newLoaded(t)
	c.host("hosta", "hosta:ncpus=4,mem=1000mb")
	c.making("quick", "lsf_thresholds=ut=90")
	c.fresh = true
	c.job("a", "quick", "select=1:ncpus=1")
	c.want("T0", "a: nothing")
	c.fresh = false
	c.cycle()
	c.want("later", "a: runs (hosta:ncpus=1)")
}

// TestLoads_QueueRefused: thresholds that mean nothing are refused.
func TestLoads_QueueRefused(t *testing.T) {
	c := newLoaded(t)
	for _, text := range []string{"mem", "nosuch=1", "r1m=x", "r1m=", "type=1"} {
		change := command.AttrChange{Entry: attr.Entry{Name: lsf.QueueThresholds, Value: text}}
		if out := c.commit(&command.ManageQueue{Verb: command.VerbSet, Queue: "normal", Changes: []command.AttrChange{change}}); out.Refusal == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// JOB_ACCEPT_INTERVAL: a host is given one job, and the next one after so many dispatch turns, also when the first is over by then.
func TestLoads_AcceptInterval(t *testing.T) {
	c := newLoaded(t)
	c.host("hosta", "hosta:ncpus=4,mem=1000mb")
	c.limiting(func(l *lsf.Config) { l.AcceptInterval = 2 })
	c.job("a", "normal", "select=1:ncpus=1 walltime=0:0:20")
	c.job("b", "normal", "select=2:ncpus=1 walltime=1:0:0")
	c.job("d", "normal", "select=1:ncpus=1 walltime=1:0:0")
	c.want("T0", "a: runs (hosta:ncpus=1)", "b: nothing", "d: nothing")
	c.wantWait("b", "Just started a job recently: hosta")
	if p := c.planner.Plan(c.store.View(), c.now); p.Paused != half+60*pbs.Time(time.Second) {
		t.Errorf("the next cycle is at %v", p.Paused-half)
	}
	c.until(passed(59))
	c.cycle()
	c.want("T0+59", "b: nothing")
	c.until(passed(60))
	c.cycle()
	c.want("T0+60", "b: runs (hosta:ncpus=1)+(hosta:ncpus=1)", "d: nothing")
}

// load_balancing keeps jobs from hosts with a load average above their cpus.
func TestLoads_Balancing(t *testing.T) {
	c := newLoaded(t)
	c.host("hosta", "hosta:ncpus=0,mem=1000mb", "hosta[0]:ncpus=2", "hosta[1]:ncpus=2")
	c.host("hostb", "hostb:ncpus=8,mem=1000mb")
	c.says("hosta", "r1m", 4100)
	c.says("hostb", "r1m", 4100)
	c.job("a", "normal", "select=1:ncpus=1")
	c.want("without it", "a: runs (hosta[0]:ncpus=1)")
	c.scheduler("load_balancing=True")
	c.job("b", "normal", "select=1:ncpus=1")
	c.want("with it", "b: runs (hostb:ncpus=1)")
	c.says("hostb", "r1m", 8100)
	c.job("d", "normal", "select=1:ncpus=1")
	c.want("all crowded", "d: nothing")
	c.wantWait("d", "The 1 min effective CPU queue length (r1m) is beyond threshold: hosta, hostb")
	c.says("hosta", "r1m", 4000)
	c.cycle()
	c.want("as much as cpus", "d: runs (hosta[0]:ncpus=1)")
}

// TestLoads_Agent is RSV-34: with load_source=agent what is free is what the host reports, for what is kept as well.
func TestLoads_Agent(t *testing.T) {
	c := newLoaded(t)
	c.host("hosta", "hosta:ncpus=10,mem=1000mb")
	c.source("hosta", lsf.SourceAgent)
	c.says("hosta", "mem", 300*resreq.Megabyte)
	c.job("a", "reservation", "select=1:ncpus=1:mem=400mb walltime=1:0:0")
	c.want("T0", "a: 1/300*hosta")
	c.says("hosta", "mem", 380*resreq.Megabyte)
	c.until(passed(60))
	c.want("T0+60", "a: 1/380*hosta")
	c.says("hosta", "mem", 400*resreq.Megabyte)
	c.until(passed(90))
	c.want("T0+90", "a: runs (hosta:ncpus=1:mem=409600kb)")

	// What runs is subtracted from what is reported, and never is there more than is configured.
	c.says("hosta", "mem", 5000*resreq.Megabyte)
	c.job("b", "normal", "select=1:ncpus=1:mem=601mb")
	c.job("d", "normal", "select=1:ncpus=1:mem=600mb")
	c.want("T0+90", "b: nothing", "d: runs (hosta:ncpus=1:mem=614400kb)")
}
