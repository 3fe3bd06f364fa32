package sched_test

import (
	"testing"

	"rampart/fsm/lsf"
)

// uneven has three hosts of two slots, of which slow is half and fast twice as fast as even.
func uneven(t *testing.T, jobs int64) *turning {
	c := newTurning(t)
	c.limiting(func(l *lsf.Config) {
		l.Hosts = []lsf.Host{{Name: "fast", Factor: 2000}, {Name: "slow", Factor: 500}}
		l.TimeReserveJobs = jobs
	})
	for _, name := range []string{"slow", "even", "fast"} {
		c.host(name, name+":ncpus=2")
	}
	return c
}

// A run limit counts by the slowest host of the run, and a job that waits may backfill where it is short enough (specification: reservation section 6.2).
func TestSpeed_Backfill(t *testing.T) {
	c := uneven(t, 0)
	c.job("x", "normal", "select=1:host=slow:ncpus=2 walltime=1:00:00 lsf_host_spec=slow")
	c.job("wide", "slots", "select=6:ncpus=1 walltime=0:10:00")
	c.want("one keeps what is free", "x: runs (slow:ncpus=2)", "wide: 2/0*even 2/0*fast, 22 16:00:00")
	c.job("elsewhere", "backfill", "select=1:ncpus=1:host=even walltime=1:40:00 lsf_host_spec=even")
	c.job("short", "backfill", "select=1:ncpus=1 walltime=1:59:00 lsf_host_spec=even")
	c.job("long", "backfill", "select=1:ncpus=1 walltime=2:01:00 lsf_host_spec=even")
	c.job("pbs", "backfill", "select=1:ncpus=1 walltime=1:59:00")
	c.want("fast is fast enough", "short: runs (fast:ncpus=1)", "long: nothing", "pbs: nothing", "elsewhere: nothing")
	j, _ := c.store.View().Job(c.names["short"])
	if long, _ := j.Resources.Get("walltime"); long != "00:59:30" {
		t.Errorf("it may run for %s", long)
	}
	for _, name := range []string{"elsewhere", "long", "pbs"} {
		if c.waits(name) == "" {
			t.Errorf("nobody says why %s waits", name)
		}
	}
}

// A job that is planned by time is planned with the slowest hosts, or later, or where its time is shorter with faster ones.
func TestSpeed_Plans(t *testing.T) {
	c := uneven(t, 2)
	c.job("x", "normal", "select=1:host=slow:ncpus=2 walltime=1:00:00 lsf_host_spec=slow")
	c.job("y", "normal", "select=1:host=even:ncpus=2 walltime=0:30:00 lsf_host_spec=even")
	c.job("z", "normal", "select=1:host=fast:ncpus=2 walltime=0:20:00 lsf_host_spec=fast")
	c.job("wide", "slotsbf", "select=6:ncpus=1 walltime=0:10:00 lsf_host_spec=even")
	c.job("narrow", "slotsbf", "select=2:ncpus=1 place=pack walltime=0:41:00 lsf_host_spec=even")
	c.want("in the time of the fast one alone", "wide: nothing, 22 16:00:00 (slow:ncpus=1)+(slow:ncpus=1)+(even:ncpus=1)+(even:ncpus=1)+(fast:ncpus=1)+(fast:ncpus=1)",
		"narrow: nothing, 22 15:20:00 (fast:ncpus=1)+(fast:ncpus=1)")
}
