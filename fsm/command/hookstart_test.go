package command

import (
	"slices"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// What hooks of runjob have made of a job is there when it starts and in the a record before its S;
// what its vnodes were chosen by they cannot change any more.
func TestStartJob_HooksChangeTheJob(t *testing.T) {
	change := func(name, res, value string) AttrChange {
		return AttrChange{Entry: attr.Entry{Name: name, Resource: res, Value: value}}
	}
	for _, c := range []struct {
		changes []AttrChange
		code    pbs.Code
	}{
		{[]AttrChange{change("Resource_List", "site", "north"), change("project", "", "p")}, 0},
		{[]AttrChange{change("Resource_List", "ncpus", "2")}, pbs.RunningAttribute},
		{[]AttrChange{change("Resource_List", "select", "2:ncpus=1")}, pbs.RunningAttribute},
		{[]AttrChange{change("Resource_List", "nothing", "1")}, pbs.UnknownResource},
	} {
		w := hookedHosts(t)
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}})
		var id pbs.JobID
		for j := range w.View().Jobs() {
			id = j.ID
		}
		err := w.run(&StartJob{Job: id, ExecVnode: "(a:ncpus=1)", Changes: c.changes})
		j, _ := w.View().Job(id)
		if c.code != 0 {
			if pbs.CodeOf(err) != c.code || j.State != pbs.Queued {
				t.Errorf("%v: %v, %s", c.changes, err, j.State.Letter())
			}
			continue
		}
		site, _ := j.Resources.Get("site")
		project, _ := j.Attrs.Get("project", "")
		if err != nil || site != "north" || project != "p" || j.State != pbs.Running {
			t.Errorf("%v, %s, site %q, project %q", err, j.State.Letter(), site, project)
		}
	}
}

// The hooks of postqueuejob see a job in each queue that it comes into: on its way, where it ends, and
// where it is moved to.
func TestHookTasks_EachQueue(t *testing.T) {
	w := hookedHosts(t)
	queue := func(name string, more ...string) {
		set := []AttrChange{{Entry: attr.Entry{Name: "enabled", Value: "True"}}, {Entry: attr.Entry{Name: "started", Value: "True"}}}
		for i := 0; i < len(more); i += 2 {
			set = append(set, AttrChange{Entry: attr.Entry{Name: more[i], Value: more[i+1]}})
		}
		w.must(&ManageQueue{Verb: VerbCreate, Queue: pbs.QueueName(name), Changes: set})
	}
	queue("in", "queue_type", "Execution")
	queue("other", "queue_type", "Execution")
	queue("way", "queue_type", "Route", "route_destinations", "in")
	w.must(&ManageHook{Verb: VerbCreate, Name: "h", Changes: []AttrChange{{Entry: attr.Entry{Name: "event", Value: "postqueuejob"}}}})
	w.must(&ImportHook{Name: "h", Kind: state.HookScript, Body: []byte("pass")})
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Queue: "way"})
	var seen []string
	for j := range w.View().Jobs() {
		w.must(&MoveJob{Job: j.ID, Queue: "other"})
	}
	for task := range w.View().HookTasks() {
		for _, e := range task.Attrs {
			if e.Name == "queue" {
				seen = append(seen, task.Event+" "+e.Value)
			}
		}
	}
	for j := range w.View().Jobs() {
		if jobs := slices.Collect(w.View().NewToHooks()); !slices.Equal(jobs, []pbs.JobID{j.ID, j.ID, j.ID}) {
			t.Errorf("new to hooks are %v", jobs)
		}
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
	want := []string{"postqueuejob way", "postqueuejob in", "postqueuejob other"}
	if len(seen) != len(want) || seen[0] != want[0] || seen[1] != want[1] || seen[2] != want[2] {
		t.Errorf("seen in %v", seen)
	}
}

// A job stands among the jobs of a vnode for each cpu, and once for each chunk without any, after a
// suspension too.
func TestStartJob_ChunksWithoutCPUs(t *testing.T) {
	w := hookedHosts(t)
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List{}.Set("Resource_List", "select", "2:ncpus=0+1:ncpus=2")})
	var id pbs.JobID
	for j := range w.View().Jobs() {
		id = j.ID
	}
	w.must(&StartJob{Job: id, ExecVnode: "(a:ncpus=0)+(a:ncpus=0)+(a:ncpus=2)"})
	v, _ := w.View().Vnode("a")
	if got, want := v.JobsText(), strings.ReplaceAll("J/0, J/1, J/2, J/3", "J", string(id)); got != want {
		t.Errorf("jobs = %s, want %s", got, want)
	}
	j, _ := w.View().Job(id)
	if got := shownOn(j, "a"); got != 4 {
		t.Errorf("resumed it stands there %d times", got)
	}
}
