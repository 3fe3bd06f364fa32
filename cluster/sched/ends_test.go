package sched_test

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
)

// TestEnds_AlteredRuns: the estimate of a job that keeps slots follows the end of a run that is made shorter and longer, on one host and on
// several.
func TestEnds_AlteredRuns(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=4")
	c.host("hostb", "hostb:ncpus=4")
	c.job("x", "normal", "select=2:ncpus=3 place=scatter walltime=1:00:00")
	c.job("j", "slots", "select=4:ncpus=1 place=pack walltime=0:10:00")
	c.job("k", "slots", "select=4:ncpus=1 place=free walltime=0:10:00")
	c.want("T0", "j: 1/0*hosta, 22 16:00:00", "k: 1/0*hostb, 22 16:00:00")
	for walltime, at := range map[string]string{"0:10:00": "22 15:10:00", "3:00:00": "22 18:00:00"} {
		change := attr.Entry{Name: "Resource_List", Resource: "walltime", Value: walltime}
		if out := c.commit(&command.AlterJob{Job: c.names["x"], Changes: []command.AttrChange{{Entry: change}}}); out.Refusal != nil {
			t.Fatal(out.Refusal)
		}
		c.cycle()
		c.want(walltime, "j: 1/0*hosta, "+at, "k: 1/0*hostb, "+at)
	}
}
