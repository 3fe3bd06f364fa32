package sched_test

import (
	"testing"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
)

// Specification: reservation section 9.8: STOP_COND of a queue suspends its jobs beside thresholds, by what hosts report; RESUME_COND has them go on in
// the place of loadSched.
func TestStopCondition(t *testing.T) {
	c := newStopping(t)
	c.making("low", "Priority=10 lsf_stop_cond=select[mem<100||it<1]")
	for _, name := range []string{"a", "b"} {
		c.job(name, "low", "select=1:ncpus=1:mem=490mb:host=hosta"+anHour)
	}
	c.job("d", "normal", "select=1:ncpus=1:host=hosta"+anHour)
	c.after(30, "") // mem is not reported, and what jobs have reserved counts for nothing
	c.says("hosta", "mem", 100*resreq.Megabyte)
	c.after(30, "")
	c.says("hosta", "mem", 99*resreq.Megabyte)
	c.after(5, "stop b hosta STOP_COND")
	j, _ := c.store.View().Job(c.names["b"])
	if got := j.CommentText(); got != "Suspended by the load of hosta, where STOP_COND of its queue holds" {
		t.Errorf("b says %q", got)
	}
	c.newLeader()
	c.after(25, "")
	c.after(5, "stop a hosta STOP_COND")
	c.after(30, "") // d is of another queue

	// Thresholds of the host hold on, both ways.
	c.says("hosta", "mem", 100*resreq.Megabyte)
	c.says("hosta", "r1m", 4000)
	c.after(30, "")
	c.making("low", "lsf_resume_cond=mem>200")
	c.after(30, "")
	c.says("hosta", "mem", 201*resreq.Megabyte)
	c.after(5, "resume a")
	c.says("hosta", "r1m", 4600)
	c.after(30, "stop a hosta r1m")
	c.says("hosta", "r1m", 4500)
	c.after(30, "resume a")
	delete(c.said, "hosta")
	c.after(30, "")
	c.says("hosta", "mem", 201*resreq.Megabyte)
	c.after(5, "resume b")

	// Without conditions nothing keeps anybody.
	c.says("hosta", "it", 0)
	c.after(30, "stop b hosta STOP_COND")
	c.making("low", "lsf_stop_cond= lsf_resume_cond=")
	c.limiting(func(l *lsf.Config) { l.Hosts = nil })
	c.after(30, "resume b")
}

// The last job of a host goes on while nobody types there; one that is on several hosts goes on when all let it.
func TestStopCondition_Hosts(t *testing.T) {
	c := newStopping(t)
	c.making("low", "lsf_stop_cond=ut>50 lsf_resume_cond=ut<10")
	c.job("a", "low", "select=1:ncpus=1:host=hosta+1:ncpus=1:host=hostb"+anHour)
	for _, host := range []string{"hosta", "hostb"} {
		c.says(pbs.HostName(host), "ut", 20*resreq.One)
	}
	c.says("hostb", "ut", 51*resreq.One)
	c.after(30, "")
	c.says("hostb", "it", 0)
	c.after(5, "stop a hostb STOP_COND")
	c.says("hostb", "ut", 9*resreq.One)
	c.after(30, "")
	c.says("hosta", "ut", 9*resreq.One)
	c.after(30, "resume a")
}
