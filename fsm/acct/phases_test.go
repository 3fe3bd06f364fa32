package acct_test

import (
	"testing"
	"time"

	"rampart/fsm/acct"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

const (
	phasedCommon = "user=ann group=users project=_pbs_project_default jobname=j1 queue=workq ctime=1800730376 qtime=1800730376 etime=1800730376 start=1800730378"
	twoHosts     = "(hosta[0]:mem=1048576kb:ncpus=1+hosta[1]:mem=1048576kb:ncpus=1+hosta[2]:ncpus=1)+(hostb:mem=1048576kb:ncpus=1+hostb[0]:mem=1048576kb:ncpus=1+hostb[1]:ncpus=1)"
	threeHosts   = twoHosts + "+(hostc:ncpus=2:mem=2097152kb)"
)

// phased is the job of the example in the specification (ramp-down section 13).
func phased() (before, after *state.Job) {
	at := 1800730376 * second
	j := state.Job{
		ID: "242.srv", Name: "j1", Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: "workq",
		Created: at, Queued: at, Eligible: at, Started: at + 2*second, Ended: 1800731402 * second, RunCount: 1,
		Resources: resource.List{
			{Name: "mem", Value: "6gb"},
			{Name: "ncpus", Value: "8"},
			{Name: "nodect", Value: "3"},
			{Name: "place", Value: "scatter"},
			{Name: "select", Value: "ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb"},
		},
		Run: &state.Run{
			Assignment: assigned("hosta/0*0+hostb/0*0+hostc/0*2", threeHosts), Session: 7503,
			Used: resource.List{{Name: "cput", Value: "00:16:06"}, {Name: "walltime", Value: "00:17:04"}},
		},
		Attrs: attr.List(nil).Set("euser", "", "ann").Set("egroup", "", "users"),
	}
	next := j
	run := next.EditRun()
	run.Phases = &state.Phases{Orig: j.Grant()}
	run.Assignment = assigned("hosta/0*0+hostb/0*0", twoHosts)
	next.Resources = resource.List{
		{Name: "mem", Value: "4194304kb"},
		{Name: "ncpus", Value: "6"},
		{Name: "nodect", Value: "2"},
		{Name: "place", Value: "scatter"},
		{Name: "select", Value: "1:mem=2097152kb:ncpus=3+1:mem=2097152kb:ncpus=3"},
	}
	run.Assigned = resource.List{{Name: "mem", Value: "4194304kb"}, {Name: "ncpus", Value: "6"}}
	return &j, &next
}

func TestOf_Phases(t *testing.T) {
	before, after := phased()
	const was = " exec_host=hosta/0*0+hostb/0*0+hostc/0*2 exec_vnode=" + threeHosts +
		" Resource_List.mem=6gb Resource_List.ncpus=8 Resource_List.nodect=3 Resource_List.place=scatter Resource_List.select=ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb"
	const is = " exec_host=hosta/0*0+hostb/0*0 exec_vnode=" + twoHosts +
		" Resource_List.mem=4194304kb Resource_List.ncpus=6 Resource_List.nodect=2 Resource_List.place=scatter Resource_List.select=1:mem=2097152kb:ncpus=3+1:mem=2097152kb:ncpus=3"
	used := resource.List{{Name: "cput", Value: "00:00:35"}, {Name: "walltime", Value: "00:00:26"}}
	for _, c := range []struct {
		kind state.EventKind
		job  *state.Job
		want string
	}{
		{state.JobPhaseEnded, before, ";u;242.srv;" + phasedCommon + was + " session=7503 run_count=1 resources_used.cput=00:00:35 resources_used.walltime=00:00:26"},
		{state.JobPhaseBegan, after, ";c;242.srv;" + phasedCommon + is + " resource_assigned.mem=4194304kb resource_assigned.ncpus=6 session=7503 run_count=1"},
		{state.JobPhasesOver, after, ";e;242.srv;" + phasedCommon + is + " session=7503 run_count=1 resources_used.cput=00:00:35 resources_used.walltime=00:00:26"},
		{state.JobEnded, after, ";E;242.srv;" + phasedCommon + was + " session=7503 end=1800731402 Exit_status=0 resources_used.cput=00:16:06 resources_used.walltime=00:17:04 run_count=1"},
		{state.JobRequeued, after, ";R;242.srv;" + phasedCommon + is + " session=7503 end=1800731402 Exit_status=0 resources_used.cput=00:16:06 resources_used.walltime=00:17:04 run_count=1"},
	} {
		r, ok := acct.Of(state.Event{Kind: c.kind, At: 1800730404 * second, Job: c.job, Used: used}, time.UTC)
		if want := "01/23/2027 18:53:24" + c.want + "\n"; !ok || r.Line != want {
			t.Errorf("got  %s\nwant %s", r.Line, want)
		}
	}
}
