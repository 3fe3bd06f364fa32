package service

import (
	"testing"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api/apiconnect"
)

// TestAttach_OnlyTheOwner: a session is its owner's alone, and only a running interactive
// job has one.
func TestAttach_OnlyTheOwner(t *testing.T) {
	b := newBench(t)
	b.do(&command.RaiseLevel{Level: command.LevelObjects})
	b.host("hosta", "hosta")
	b.Batch.Agent = func(string, string) apiconnect.AgentClient { return nil }
	id := b.mustSubmit("ann@login1", set("interactive", "True"))
	batch := b.mustSubmit("ann@login1", set("Job_Name", "x"))
	if _, _, err := b.Batch.attachable(b.as("ann@login1"), id); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("a job that waits: %v", err)
	}
	for _, job := range []string{id, batch} {
		b.do(&command.StartJob{Job: pbs.JobID(job), ExecVnode: "(hosta:ncpus=1)"})
	}
	for _, c := range []struct {
		who, job string
		want     pbs.Code
	}{
		{"bob@login1", id, pbs.Unauthorized},
		{"root@replica:s1", id, pbs.Unauthorized},
		{"ann@elsewhere", id, pbs.Unauthorized},
		{"ann@login1", batch, pbs.BadState},
		{"ann@login1", "999", pbs.UnknownJob},
	} {
		if _, _, err := b.Batch.attachable(b.as(c.who), c.job); pbs.CodeOf(err) != c.want {
			t.Errorf("%s at %s: %v, want %d", c.who, c.job, err, c.want)
		}
	}
	j, address, err := b.Batch.attachable(b.as("ann@login1"), id)
	if err != nil || string(j.ID) != id || address != "hosta:15002" {
		t.Errorf("the owner: %v at %s, %v", j, address, err)
	}
	if !j.NotRerunnable {
		t.Error("an interactive job is rerunnable")
	}
}
