package service

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

func entry(name, value string) attr.Entry { return attr.Entry{Name: name, Value: value} }

// shown writes objects as NAME{attr=value ...} or NAME!code.
func shown(objects []*api.Object) string {
	var all []string
	for _, o := range objects {
		if o.GetRefusal() != nil {
			all = append(all, fmt.Sprintf("%s!%d %s", o.GetName(), o.GetRefusal().GetCode(), o.GetRefusal().GetMessage()))
			continue
		}
		var words []string
		for _, a := range o.GetAttributes() {
			name := a.GetName()
			if a.GetResource() != "" {
				name += "." + a.GetResource()
			}
			words = append(words, name+"="+a.GetValue())
		}
		all = append(all, o.GetName()+"{"+strings.Join(words, " ")+"}")
	}
	return strings.Join(all, "\n")
}

func TestList_Jobs(t *testing.T) {
	b := newBench(t)
	b.mustSubmit("ann@h", set("Job_Name", "a"))
	b.mustSubmit("bob@h", set("Job_Name", "b"))
	gone := b.mustSubmit("ann@h", set("Job_Name", "c"))
	b.do(&command.ManageQueue{Verb: command.VerbCreate, Queue: "q2"})
	if _, err := b.Batch.Delete(b.as("ann@h"), request(&api.DeleteRequest{Job: gone}, "")); err != nil {
		t.Fatal(err)
	}
	jobs := func(r *api.ListRequest) *api.ListRequest {
		r.Kind = api.ObjectKind_OBJECT_KIND_JOB
		if r.Attributes == nil {
			r.Attributes = []string{"job_state", "Job_Name"} // shown in the order of the table
		}
		return r
	}
	cases := []struct {
		name string
		r    *api.ListRequest
		want string
	}{
		{"all", jobs(&api.ListRequest{}), "0.srv{Job_Name=a job_state=Q}\n1.srv{Job_Name=b job_state=Q}"},
		{"history", jobs(&api.ListRequest{History: true}), "0.srv{Job_Name=a job_state=Q}\n1.srv{Job_Name=b job_state=Q}\n2.srv{Job_Name=c job_state=F}"},
		{"named", jobs(&api.ListRequest{Names: []string{"1", "99", "2.srv", "0@s1", "0@elsewhere"}}), "1.srv{Job_Name=b job_state=Q}\n99!15001 Unknown Job Id\n2.srv!15139 Job has finished\n" +
			"0.srv{Job_Name=a job_state=Q}\n0@elsewhere!15001 Unknown Job Id"},
		{"named with history", jobs(&api.ListRequest{Names: []string{"2"}, History: true}), "2.srv{Job_Name=c job_state=F}"},
		{"of a queue", jobs(&api.ListRequest{Queues: []string{"q2"}}), ""},
		{"a resource", jobs(&api.ListRequest{Names: []string{"0"}, Attributes: []string{"Resource_List.ncpus", "Resource_List"}}), "0.srv{Resource_List.ncpus=1 Resource_List.ncpus=1 Resource_List.nodect=1 Resource_List.place=pack Resource_List.select=1:ncpus=1}"},
	}
	for _, c := range cases {
		got, err := b.list("ann@h", c.r)
		if err != nil || shown(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, shown(got), c.want)
		}
	}
	if _, err := b.list("ann@h", jobs(&api.ListRequest{Queues: []string{"nosuch"}})); pbs.CodeOf(err) != pbs.UnknownQueue {
		t.Errorf("unknown queue: %v", err)
	}
	b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: entry("query_other_jobs", "False")}}})
	if got, _ := b.list("bob@h", jobs(&api.ListRequest{})); shown(got) != "1.srv{Job_Name=b job_state=Q}" {
		t.Errorf("with query_other_jobs False bob sees %s", shown(got))
	}
}

func TestList_FullJobHasNoHiddenAttributes(t *testing.T) {
	b := newBench(t)
	b.mustSubmit("ann@h")
	got, err := b.list("ann@h", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB})
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	text := shown(got)
	for _, want := range []string{"Job_Name=STDIN", "Priority=0", "Hold_Types=n", "schedselect=1:ncpus=1", "project=_pbs_project_default"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if strings.Contains(text, "_orig") || strings.Contains(text, "_acct") {
		t.Errorf("hidden attributes in %s", text)
	}
}

// What only managers read, PBS shows to nobody else, asked for by name or not.
func TestList_WhoSeesWhat(t *testing.T) {
	b := newBench(t)
	b.mustSubmit("ann@h")
	all := &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB}
	named := &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: []string{"euser", "Job_Name"}}
	for who, sees := range map[string]bool{"ann@h": false, "root@replica:s1": true} {
		for _, r := range []*api.ListRequest{all, named} {
			got, err := b.list(who, r)
			if text := shown(got); err != nil || strings.Contains(text, "euser=ann") != sees || !strings.Contains(text, "Job_Name=STDIN") {
				t.Errorf("%s: %v\n%s", who, err, text)
			}
		}
	}
}

func TestList_Hosts(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta[0]", "hosta[1]")
	b.host("hostb", "hostb")
	id := b.mustSubmit("ann@h")
	b.do(&command.StartJob{Job: pbs.JobID(id), ExecVnode: "(hosta[1]:ncpus=4)"})
	r := &api.ListRequest{
		Kind:       api.ObjectKind_OBJECT_KIND_HOST,
		Attributes: []string{"state", "jobs", "resources_available", "resources_assigned.ncpus"},
	}
	got, err := b.list("ann@h", r)
	want := "hosta{state=<various> jobs=0.srv/0, 0.srv/1, 0.srv/2, 0.srv/3 resources_available.host=hosta resources_available.mem=2gb resources_available.ncpus=8 resources_available.vnode=<various> resources_assigned.ncpus=4}\n" +
		"hostb{state=free resources_available.host=hostb resources_available.mem=1gb resources_available.ncpus=4 resources_available.vnode=hostb resources_assigned.ncpus=0}"
	if err != nil || shown(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, shown(got), want)
	}
	r.Names = []string{"HOSTB.example.org"}
	if got, _ := b.list("ann@h", r); len(got) != 1 || got[0].GetName() != "hostb" {
		t.Errorf("by another form of its name: %s", shown(got))
	}
	r.Names = []string{"nosuch"}
	if got, _ := b.list("ann@h", r); shown(got) != "nosuch!15062 Unknown node " {
		t.Errorf("unknown host: %s", shown(got))
	}
}

func TestList_EveryKind(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	b.do(&command.ManageResource{Verb: command.VerbCreate, Name: "lic", Changes: []command.AttrChange{{Entry: entry("type", "long")}, {Entry: entry("flag", "nh")}}})
	want := map[api.ObjectKind]string{
		api.ObjectKind_OBJECT_KIND_SERVER: "srv", api.ObjectKind_OBJECT_KIND_QUEUE: "workq", api.ObjectKind_OBJECT_KIND_VNODE: "hosta",
		api.ObjectKind_OBJECT_KIND_RESOURCE: "lic", api.ObjectKind_OBJECT_KIND_SCHED: "default", api.ObjectKind_OBJECT_KIND_HOOK: "!15007 ann@h is unauthorized to access hooks data from server srv", // root's alone
		api.ObjectKind_OBJECT_KIND_HOST: "hosta", api.ObjectKind_OBJECT_KIND_JOB: "",
	}
	for kind, name := range want {
		got, err := b.list("ann@h", &api.ListRequest{Kind: kind})
		switch {
		case err != nil:
			t.Errorf("%s: %v", kind, err)
		case strings.HasPrefix(name, "!"):
			if shown(got) != name {
				t.Errorf("%s: %s, want %s", kind, shown(got), name)
			}
		case name == "" && len(got) != 0, name != "" && (len(got) != 1 || got[0].GetName() != name || len(got[0].GetAttributes()) == 0):
			t.Errorf("%s: %s", kind, shown(got))
		}
	}
}

// A resource with the flag i is listed to those who run the site, and nobody else finds it by its name.
func TestList_InvisibleResource(t *testing.T) {
	b := newBench(t)
	for name, flags := range map[string]string{"seen": "h", "secret": "i"} {
		b.do(&command.ManageResource{Verb: command.VerbCreate, Name: name, Changes: []command.AttrChange{{Entry: entry("type", "long")}, {Entry: entry("flag", flags)}}})
	}
	for who, want := range map[string]string{"ann@h": "seen unknown", "root@replica:s1": "secret seen secret"} {
		var names []string
		all, err := b.list(who, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_RESOURCE})
		if err != nil {
			t.Fatal(err)
		}
		one, err := b.list(who, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_RESOURCE, Names: []string{"secret"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range append(all, one...) {
			if o.GetRefusal().GetCode() == uint32(pbs.UnknownResource) {
				o.Name = "unknown"
			}
			names = append(names, o.GetName())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s sees %s, want %s", who, got, want)
		}
	}
}

// TestList_SlowReader shows that a listing goes on in a newer view when its reader
// takes too long, without a job twice or left out.
func TestList_SlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		all := make([]command.Command, 2500)
		for i := range all {
			all[i] = &command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}}
		}
		b.do(all...)
		seen := map[string]int{}
		headers, before := 0, b.reads
		err := b.Batch.list(b.as("ann@h"), &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: []string{"Job_Name"}}, func(m *api.ListReply) error {
			if m.GetHeader() != nil {
				headers++
			}
			for _, o := range m.GetObjects() {
				seen[o.GetName()]++
			}
			time.Sleep(40 * time.Second)
			synctest.Wait()
			return nil
		})
		if err != nil || len(seen) != 2500 || headers != 1 {
			t.Errorf("%d jobs, %d headers, %v", len(seen), headers, err)
		}
		for name, n := range seen {
			if n != 1 {
				t.Errorf("%s came %d times", name, n)
			}
		}
		if views := b.reads - before; views != 3 {
			t.Errorf("%d views were used", views)
		}
	})
}

// The server counts its finished jobs too, a queue does not (recorded: 10 and 9).
func TestList_TotalJobs(t *testing.T) {
	b := newBench(t)
	b.mustSubmit("ann@login1", set("Job_Name", "a"))
	b.do(&command.DeleteJob{Job: pbs.JobID(b.mustSubmit("ann@login1", set("Job_Name", "b")))})
	for kind, want := range map[api.ObjectKind]string{
		api.ObjectKind_OBJECT_KIND_SERVER: "total_jobs=2", api.ObjectKind_OBJECT_KIND_QUEUE: "total_jobs=1",
	} {
		got, err := b.list("ann@login1", &api.ListRequest{Kind: kind, Attributes: []string{"total_jobs"}})
		if err != nil || !strings.Contains(shown(got), want) {
			t.Errorf("%v: %v, %s, want %s", kind, err, shown(got), want)
		}
	}
}

// Tools find the scheduler's files by its attributes (specification: drop-in section 2).
func TestList_SchedFiles(t *testing.T) {
	b := newBench(t)
	b.Batch.Home = "/var/spool/pbs"
	got, err := b.list("ann@login1", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SCHED})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"partition=pbs-default", "sched_priv=/var/spool/pbs/sched_priv", "sched_log=/var/spool/pbs/sched_logs"} {
		if !strings.Contains(shown(got), want) {
			t.Errorf("%s is missing from %s", want, shown(got))
		}
	}
}

// TestList_SchedState: the scheduler is idle between cycles, as PBS's is, whether there is
// anything to schedule or not; in a cycle it schedules, and before there was a leader it is down.
func TestList_SchedState(t *testing.T) {
	b := newBench(t)
	inCycle := false
	b.Batch.InCycle = func(string) bool { return inCycle }
	shows := func(what, want string) {
		t.Helper()
		got, err := b.list("ann@login1", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SCHED, Attributes: []string{"state"}})
		if err != nil || shown(got) != "default{state="+want+"}" {
			t.Errorf("%s: %s, %v; want %s", what, shown(got), err, want)
		}
	}
	shows("before the first term", "down")
	b.do(&command.TermStarted{Leader: "s1", Host: "hosta"})
	for _, scheduling := range []string{"True", "False"} {
		b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: entry("scheduling", scheduling)}}})
		inCycle = false
		shows("between cycles, scheduling = "+scheduling, "idle")
		inCycle = true
		shows("in a cycle, scheduling = "+scheduling, "scheduling")
	}
}

// The tree of fair share tells who used how much: that is for those who run the site.
func TestList_Shares(t *testing.T) {
	b := newBench(t)
	b.Batch.Shares = func(*state.View) []state.ShareNode {
		return []state.ShareNode{{Name: "root", Group: -1, Shares: -1, Part: 1, Usage: 7.5}, {Name: "ann", Parent: "root", ID: 10, Shares: 3, Part: 0.25}}
	}
	r := &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SHARE}
	if _, err := b.list("ann@login1", r); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("asked by ann: %v", err)
	}
	got, err := b.list("root@replica:s1", r)
	const want = "root{parent= group=-1 id=0 shares=-1 usage=7.5 part=1 tree_usage=0"
	if err != nil || !strings.Contains(shown(got), want) {
		t.Errorf("%s, %v", shown(got), err)
	}
}
