package acct_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"rampart/fsm/acct"
	"rampart/fsm/alloc"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

const second = pbs.Time(time.Second)

// ordinary is the job of the example in the specification (accounting section 3).
func ordinary() *state.Job {
	return &state.Job{
		ID: "12.srv", Name: "STDIN", Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: "workq",
		Created: 1826791200 * second, Queued: 1826791200 * second, Eligible: 1826791200 * second,
		Started: 1826791201 * second, Ended: 1826791206 * second,
		RunCount: 1,
		Resources: resource.List{
			{Name: "ncpus", Value: "1"}, {Name: "nodect", Value: "1"}, {Name: "place", Value: "pack"}, {Name: "select", Value: "1:ncpus=1"},
		},
		Run: &state.Run{
			Assignment: assigned("hosta/0", "(hosta:ncpus=1)"), Session: 4711, HasExited: true,
			Assigned: resource.List{{Name: "ncpus", Value: "1"}},
			Used: resource.List{
				{Name: "cpupercent", Value: "0"},
				{Name: "cput", Value: "00:00:00"},
				{Name: "mem", Value: "0kb"},
				{Name: "ncpus", Value: "1"},
				{Name: "vmem", Value: "0kb"},
				{Name: "walltime", Value: "00:00:05"},
			},
		},
		Attrs: attr.List(nil).Set("euser", "", "ann").Set("egroup", "", "users"),
	}
}

func assigned(hosts, vnodes string) (a alloc.Assignment) {
	if err := errors.Join(a.ExecHost.UnmarshalText([]byte(hosts)), a.ExecVnode.UnmarshalText([]byte(vnodes))); err != nil {
		panic(err)
	}
	return a
}

// TestOf_Example compares with the example of the specification, to the letter.
func TestOf_Example(t *testing.T) {
	const common = "user=ann group=users project=_pbs_project_default jobname=STDIN queue=workq ctime=1826791200 qtime=1826791200 etime=1826791200"
	const assignment = " start=1826791201 exec_host=hosta/0 exec_vnode=(hosta:ncpus=1) Resource_List.ncpus=1 Resource_List.nodect=1 Resource_List.place=pack Resource_List.select=1:ncpus=1"
	for _, c := range []struct {
		kind state.EventKind
		at   pbs.Time
		want string
	}{
		{state.JobQueued, 1826791200 * second, "11/21/2027 10:00:00;Q;12.srv;" + common},
		{state.JobStarted, 1826791201 * second, "11/21/2027 10:00:01;S;12.srv;" + common + assignment + " resource_assigned.ncpus=1"},
		{
			state.JobEnded, 1826791206 * second, "11/21/2027 10:00:06;E;12.srv;" + common + assignment +
				" session=4711 end=1826791206 Exit_status=0 resources_used.cpupercent=0 resources_used.cput=00:00:00 resources_used.mem=0kb" +
				" resources_used.ncpus=1 resources_used.vmem=0kb resources_used.walltime=00:00:05 run_count=1",
		},
	} {
		r, ok := acct.Of(state.Event{Kind: c.kind, At: c.at, Job: ordinary(), Record: 3}, time.UTC)
		if !ok || r.Line != c.want+"\n" || r.Number != 3 || r.Day != "20271121" {
			t.Errorf("got  %+v\nwant %s", r, c.want)
		}
	}
}

// TestOf_Quoting is AC-2 and accounting section 1: values with blanks are quoted, and no value
// breaks the line.
func TestOf_Quoting(t *testing.T) {
	j := ordinary()
	j.Attrs = j.Attrs.Set("Account_Name", "", "a b").Set("project", "", `say "hi" now`)
	j.Name = "line\nbreak\x1b[m"
	r, _ := acct.Of(state.Event{Kind: state.JobQueued, Job: j}, time.UTC)
	for _, want := range []string{` account="a b" `, ` project='say "hi" now' `, ` jobname=line\nbreak^[[m `} {
		if !strings.Contains(r.Line, want) {
			t.Errorf("%q is missing in %q", want, r.Line)
		}
	}
	if strings.Count(r.Line, "\n") != 1 {
		t.Errorf("not one line: %q", r.Line)
	}
}

// TestOf_Zone: date and time are those of the server attribute timezone.
func TestOf_Zone(t *testing.T) {
	e := state.Event{Kind: state.JobDeleteAsked, At: 1826794800 * second, Job: ordinary(), By: pbs.User{Name: "root", Host: "hosta"}}
	r, _ := acct.Of(e, time.FixedZone("", 14*3600))
	if want := "11/22/2027 01:00:00;D;12.srv;requestor=root@hosta\n"; r.Line != want || r.Day != "20271122" {
		t.Errorf("got %+v, want %q", r, want)
	}
}

// TestOf_LogOnly: events without a record type are not accounted.
func TestOf_LogOnly(t *testing.T) {
	if r, ok := acct.Of(state.Event{Kind: state.JobRun, Job: ordinary()}, time.UTC); ok {
		t.Errorf("accounted: %+v", r)
	}
}

// TestOf_SuspendedByLoad: a suspension by load says which load that was (specification: accounting section 2).
func TestOf_SuspendedByLoad(t *testing.T) {
	j := ordinary()
	j.State, j.Run.Used = pbs.Running, nil
	j.Run.LoadStop = &state.LoadStop{At: 5, Host: "hosta.site", Indices: []string{"r1m", "pg"}}
	e := state.Event{Kind: state.JobSuspended, At: 1826791206 * second, Job: j, Text: "(hosta:ncpus=1)"}
	for _, want := range []string{";z;12.srv;resources_released=(hosta:ncpus=1) load_stop=hosta:r1m+pg\n", ";z;12.srv;resources_released=(hosta:ncpus=1)\n"} {
		if r, ok := acct.Of(e, time.UTC); !ok || !strings.HasSuffix(r.Line, want) {
			t.Errorf("%q, want %q", r.Line, want)
		}
		j.Run.LoadStop = &state.LoadStop{At: 5}
	}
}
