package task

import (
	"fmt"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
)

// assigned gives a run of three hosts its vnodes.
func assigned(t *Task) {
	asked(t)
	t.Attrs = Attrs{
		{Name: "Job_Name", Value: "x"},
		{Name: "exec_vnode", Value: "(hosta:ncpus=1)+(hostb:ncpus=1)+(hostc:ncpus=1)"},
		{Name: "exec_host", Value: "hosta/0+hostb/0+hostc/0"},
		{Name: "Resource_List", Resource: "ncpus", Value: "3"},
		{Name: "Resource_List", Resource: "gone", Value: "1"},
	}
	t.Shares = map[pbs.HostName]Share{
		"hostb": {Peak: Peak{CPU: 10 * time.Second}}, "hostc": {Peak: Peak{CPU: 100 * time.Second}},
	}
}

// without is an order after which some hosts have vnodes.
func without(n uint64, step AssignStep, hosts ...pbs.HostName) Assign {
	a := Assign{Number: n, Step: step, Hosts: hosts, Attrs: Attrs{{Name: "Resource_List", Resource: "ncpus", Value: fmt.Sprint(len(hosts))}}}
	list, chunks := "", ""
	for i, h := range hosts {
		if i > 0 {
			list, chunks = list+"+", chunks+"+"
		}
		list, chunks = list+string(h)+"/0", chunks+"("+string(h)+":ncpus=1)"
	}
	a.Attrs = append(a.Attrs, Attr{Name: "exec_vnode", Value: chunks}, Attr{Name: "exec_host", Value: list})
	return a
}

func after(events ...Event) func(*Task) {
	return func(t *Task) {
		for _, ev := range events {
			next, _, err := step(*t, ev)
			if err != nil {
				panic(err)
			}
			*t = next
		}
	}
}

func TestStep_Releases(t *testing.T) {
	const tell = "fit the job into its new assignment; tell the sisters of the release"
	bAsked, bDone := without(1, AssignAsked, "hosta", "hostc"), without(2, AssignDone, "hosta", "hostc")
	all := []pbs.HostName{"hosta", "hostb", "hostc"}
	share := map[pbs.HostName]Share{"hostb": {Peak: Peak{CPU: 11 * time.Second}}}
	for _, c := range []struct {
		name     string
		task     Task
		event    Event
		state    State
		actions  string
		sisters  string // that take part
		leaving  string
		untold   string
		lines    string // of the node file
		refusing bool
	}{
		{"asked", in(Running, assigned), bAsked, Running, "", "hostb hostc", "", "", "hosta hostc", false},
		{"asked while the job ends", in(Ending, assigned), bAsked, Ending, "", "hostb hostc", "", "", "hosta hostc", false},
		{"asked while files are staged out", in(Delivering, assigned, concluding, assigned), bAsked, Delivering, "", "hostb hostc", "", "", "hosta hostc", false},
		{"asked too late", in(Ended, assigned), bAsked, Ended, "", "hostb hostc", "", "", "hosta hostb hostc", true},
		{"asked during the start", in(Joining, assigned), bAsked, Joining, "", "hostb hostc", "", "", "hosta hostc", false},
		{"done during the start", in(Starting, assigned, after(bAsked)), bDone, Starting, "tell the sisters of the release", "hostc", "hostb", "hostc", "hosta hostc", false},
		{
			"restarted during the start", in(Starting, assigned, after(bAsked, bDone)),
			Resume{"boot", true},
			Starting,
			"look for the shim; tell the sisters of the release", "hostc", "hostb", "hostc", "hosta hostc", false,
		},
		{"asked again", in(Running, assigned, after(bAsked)), bAsked, Running, "", "hostb hostc", "", "", "hosta hostc", false},
		{"withdrawn", in(Running, assigned, after(bAsked)), without(2, AssignWithdrawn, all...), Running, "", "hostb hostc", "", "", "hosta hostb hostc", false},
		{"withdrawn before it came", in(Running, assigned), without(2, AssignWithdrawn, all...), Running, "", "hostb hostc", "", "", "hosta hostb hostc", false},
		{"asked after it was withdrawn", in(Running, assigned, after(without(2, AssignWithdrawn, all...))), bAsked, Running, "", "hostb hostc", "", "", "hosta hostb hostc", false},
		{"done", in(Running, assigned, after(bAsked)), bDone, Running, tell, "hostc", "hostb", "hostc", "hosta hostc", false},
		{"done again", in(Running, assigned, after(bAsked, bDone)), bDone, Running, "", "hostc", "hostb", "hostc", "hosta hostc", false},
		{
			"the mom was restarted", in(Running, assigned, announced, after(bAsked, bDone)),
			Resume{"boot", true},
			Running,
			"watch the shim; poll the sisters; write the node file; tell the sisters of the release", "hostc", "hostb", "hostc", "hosta hostc", false,
		},
		{
			"the mom was restarted before it was done", in(Running, assigned, announced, after(bAsked)),
			Resume{"boot", true},
			Running,
			"watch the shim; poll the sisters; write the node file", "hostb hostc", "", "", "hosta hostc", false,
		},
		{
			"one has left", in(Running, assigned, after(bAsked, bDone)),
			SistersTold{Left: share},
			Running,
			"tell the sisters of the release", "hostc", "", "hostc", "hosta hostc", false,
		},
		{
			"one is told", in(Running, assigned, after(bAsked, bDone)),
			SistersTold{Told: map[pbs.HostName]uint64{"hostc": 2}},
			Running,
			"tell the sisters of the release", "hostc", "hostb", "", "hosta hostc", false,
		},
		{
			"one is told of an older assignment", in(Running, assigned, after(bAsked, bDone)),
			SistersTold{Told: map[pbs.HostName]uint64{"hostc": 1}},
			Running,
			"tell the sisters of the release", "hostc", "hostb", "hostc", "hosta hostc", false,
		},
		{
			"all is told", in(Running, assigned, after(bAsked, bDone)),
			SistersTold{Left: share, Told: map[pbs.HostName]uint64{"hostc": 2}},
			Running,
			"", "hostc", "", "", "hosta hostc", false,
		},
		{"another release", in(Running, assigned, after(bAsked, bDone)), without(3, AssignAsked, "hosta"), Running, "", "hostc", "hostb", "hostc", "hosta", false},
		{
			"another is done", in(Running, assigned, after(bAsked, bDone, without(3, AssignAsked, "hosta"))), without(4, AssignDone, "hosta"), Running,
			tell, "", "hostb hostc", "", "hosta", false,
		},
		{
			"another is done after the first has left", in(Running, assigned, after(bAsked, bDone, SistersTold{Left: share}, without(3, AssignAsked, "hosta"))), without(4, AssignDone, "hosta"), Running,
			tell, "", "hostc", "", "hosta", false,
		},
		{"a released host is lost", in(Running, assigned, after(bAsked, bDone)), Polled{Lost: "hostb"}, Running, "poll the sisters", "hostc", "hostb", "hostc", "hosta hostc", false},
		{"a host that is about to be released is lost", in(Running, assigned, after(bAsked)), Polled{Lost: "hostb"}, Running, "poll the sisters", "hostb hostc", "", "", "hosta hostc", false},
		{
			"one that keeps vnodes is lost", in(Running, assigned, after(bAsked, bDone)),
			Polled{Lost: "hostc"},
			Ending,
			"send killed; allow a grace of 10s; poll the sisters", "hostc", "hostb", "hostc", "hosta hostc", false,
		},
		{"the program ends before it is done", in(Running, assigned, after(bAsked)), Exited{}, Gathering, "end the sisters' parts", "hostb hostc", "", "", "hosta hostc", false},
		{"the program ends after it was done", in(Running, assigned, after(bAsked, bDone)), Exited{}, Gathering, "end the sisters' parts", "hostc", "hostb", "hostc", "hosta hostc", false},
		{
			"the parts are over", in(Gathering, assigned, concluding, assigned, after(bAsked, bDone)),
			Gathered{Shares: share},
			Delivering,
			"deliver the output", "hostc", "hostb", "hostc", "hosta hostc", false,
		},
		{"the program ends before its files go", in(Running, assigned, releasing), Exited{}, Gathering, "end the sisters' programs", "hostb hostc", "", "", "hosta hostb hostc", false},
		{"the sisters have no programs", in(Running, assigned, releasing, after(Exited{})), SistersKilled{}, Delivering, "stage files out", "hostb hostc", "", "", "hosta hostb hostc", false},
		{"restarted before", in(Running, assigned, releasing, after(Exited{})), Resume{"boot", true}, Gathering, "end the sisters' programs", "hostb hostc", "", "", "hosta hostb hostc", false},
		{"done while files go", in(Running, assigned, releasing, after(Exited{}, SistersKilled{}, bAsked)), bDone, Delivering, tell, "hostc", "hostb", "hostc", "hosta hostc", false},
		{
			"restarted while files go", in(Running, assigned, releasing, after(Exited{}, SistersKilled{}, bAsked, bDone)),
			Resume{"boot", true},
			Delivering,
			"stage files out; tell the sisters of the release", "hostc", "hostb", "hostc", "hosta hostc", false,
		},
		{"files have gone", in(Running, assigned, releasing, after(Exited{}, SistersKilled{})), StagedOut{}, Delivering, "end the sisters' parts", "hostb hostc", "", "", "hosta hostb hostc", false},
		{
			"restarted after files have gone", in(Running, assigned, releasing, after(Exited{}, SistersKilled{}, StagedOut{})),
			Resume{"boot", true},
			Delivering,
			"end the sisters' parts", "hostb hostc", "", "", "hosta hostb hostc", false,
		},
		{
			"the parts are over after files have gone", in(Running, assigned, releasing, after(Exited{}, SistersKilled{}, StagedOut{})),
			Gathered{},
			Delivering,
			"deliver the output", "hostb hostc", "", "", "hosta hostb hostc", false,
		},

		{"a sister hears of it", in(Running, asSister, assignedSister), bDone, Running, "fit the job into its new assignment", "", "", "", "hosta hostc", false},
		{"a sister hears of it too late", in(Ending, asSister, assignedSister), bDone, Ending, "", "", "", "", "hosta hostb hostc", true},
		{"a sister hears of it again", in(Running, asSister, assignedSister, after(bDone)), bDone, Running, "", "", "", "", "hosta hostc", false},
	} {
		before := fmt.Sprintf("%+v", c.task)
		next, actions, err := step(c.task, c.event)
		if (err != nil) != c.refusing || next.State() != c.state || words(actions) != c.actions {
			t.Errorf("%s: %s, %q, %v; want %s, %q", c.name, next.State(), words(actions), err, c.state, c.actions)
		}
		var sisters []pbs.HostName
		for _, h := range next.sisters() {
			sisters = append(sisters, h.Name)
		}
		nodes, err := next.Nodes("hosta")
		got := fmt.Sprint(sisters, next.Assignment.In(MemberLeaving, MemberReported), next.Assignment.In(MemberUntold), nodes, err)
		want := fmt.Sprintf("[%s] [%s] [%s] [%s] <nil>", c.sisters, c.leaving, c.untold, c.lines)
		if got != want {
			t.Errorf("%s: %s; want %s", c.name, got, want)
		}
		if after := fmt.Sprintf("%+v", c.task); after != before {
			t.Errorf("%s: the task was changed in place", c.name)
		}
	}
}

// releasing lets the run stage files out, and release its hosts before.
func releasing(t *Task) {
	t.Attrs = append(t.Attrs, Attr{Name: "stageout", Value: "a@hostb:b"}, Attr{Name: "release_nodes_on_stageout", Value: "True"})
}

func assignedSister(t *Task) {
	host := t.Host
	assigned(t)
	t.Host, t.Life.Sisters, t.Shares = host, PartsUnasked, nil
}

// The assignment is what the order says: of Resource_List nothing else stays.
func TestAssign_Attributes(t *testing.T) {
	got := in(Running, assigned, after(without(1, AssignAsked, "hosta"))).Attrs
	if got.Get("Job_Name") != "x" || got.Get("exec_host") != "hosta/0" || got.Resource("Resource_List", "ncpus") != "1" || got.Resource("Resource_List", "gone") != "" {
		t.Errorf("attributes %v", got)
	}
}

// What a released host has used counts for the run, and not for its present phase.
func TestUsed_OfReleasedHosts(t *testing.T) {
	run := in(Running, assigned, after(without(1, AssignAsked, "hosta", "hostc"), without(2, AssignDone, "hosta", "hostc"),
		SistersTold{Left: map[pbs.HostName]Share{"hostb": {Peak: Peak{CPU: 20 * time.Second}}}},
		SistersTold{Left: map[pbs.HostName]Share{"hostc": {Peak: Peak{CPU: time.Hour}}}}, // which was not released
	))
	cput := func(list []spool.Used) string {
		for _, u := range list {
			if u.Resource == "cput" {
				return u.Value
			}
		}
		return ""
	}
	if all, present := cput(run.Used()), cput(run.Present()); all != "00:02:00" || present != "00:01:40" {
		t.Errorf("all hosts have used %s, those that stay %s", all, present)
	}
}

// A sister takes over which vnodes the run has, and nothing else: whose it is the servers have said.
func TestAssign_SisterKeepsItsOwner(t *testing.T) {
	part := in(Running, asSister, with("euser", "ann"), with("egroup", "staff"), with("Variable_List", "A=1"))
	next, _, err := step(part, Assign{Number: 1, Step: AssignDone, Attrs: Attrs{
		{Name: "euser", Value: "root"},
		{Name: "egroup", Value: "wheel"},
		{Name: "Variable_List", Value: "LD_PRELOAD=/tmp/x"},
		{Name: "exec_vnode", Value: "(hosta:ncpus=1)"},
		{Name: "Resource_List", Resource: "ncpus", Value: "1"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"euser": "ann", "egroup": "staff", "Variable_List": "A=1", "exec_vnode": "(hosta:ncpus=1)"} {
		if got := next.Attrs.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
