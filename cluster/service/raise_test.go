package service

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// An owner lowers the limits of his running job, an operator raises them, nobody beyond resources_max.
func TestAlter_LimitsOfARunningJob(t *testing.T) {
	b := newBench(t)
	id := b.mustSubmit("ann@hosta", set("Resource_List.walltime", "100"))
	alter := func(who, name, value string, want pbs.Code) {
		t.Helper()
		_, err := b.Batch.Alter(b.as(who), request(&api.AlterRequest{Job: id, Changes: []*api.Attribute{set(name, value)}}, ""))
		if pbs.CodeOf(err) != want {
			t.Errorf("%s sets %s=%s: %v", who, name, value, err)
		}
	}
	alter("ann@hosta", "Resource_List.walltime", "200", 0)
	alter("ann@hosta", "Resource_List.soft_walltime", "10", pbs.ReadOnlyAttribute)
	b.host("hosta", "hosta")
	b.do(&command.StartJob{Job: pbs.JobID(id), ExecVnode: "(hosta:ncpus=1)"})
	b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "resources_max", Resource: "walltime", Value: "300"}}}})
	alter("ann@hosta", "Resource_List.walltime", "150", 0)
	alter("ann@hosta", "Resource_List.walltime", "151", pbs.Unauthorized)
	alter("ann@hosta", "Resource_List.walltime", "", pbs.Unauthorized)
	alter("ann@hosta", "Resource_List.cput", "60", 0)
	alter("ann@hosta", "Resource_List.cput", "61", pbs.Unauthorized)
	alter("ann@hosta", "Resource_List.mem", "1gb", pbs.RunningAttribute)
	alter("op@hosta", "Resource_List.walltime", "300", 0)
	alter("op@hosta", "Resource_List.walltime", "301", pbs.ResourceLimit)
	alter("boss@hosta", "Resource_List.soft_walltime", "20", 0)
	alter("boss@hosta", "Resource_List.min_walltime", "20", pbs.RunningAttribute)
	if got, _ := b.job(id).Resources.Get("walltime"); got != "00:05:00" {
		t.Errorf("walltime is %s", got)
	}
}
