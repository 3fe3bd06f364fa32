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

// A job that a hook of runjob has ask for a reservation is in one when it runs.
func TestStartJob_HooksAskForAReservation(t *testing.T) {
	w := hookedHosts(t)
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List{}.Set("Resource_List", "walltime", "60")})
	id := pbs.JobID("0.srv")
	asks := []AttrChange{{Entry: attr.Entry{Name: "create_resv_from_job", Value: "True"}}}
	w.must(&StartJob{Job: id, ExecVnode: "(a:ncpus=1)", Changes: asks})
	w.must(&JobStarted{Source: Source{"a", "s", 1}, Job: id, RunCount: 1, Session: 7})
	if j, _ := w.View().Job(id); j.Reservation == "" || j.Queue != j.Reservation.Queue() {
		t.Errorf("it runs in %s, of reservation %q", j.Queue, j.Reservation)
	}
}

// A subjob that hooks of runjob have altered has a record and a request of its own, waits as those that ran before do, and starts as it is then;
// the others have that of their array. What an array is told next holds for all of them again.
func TestAlterJob_HooksAlterASubjob(t *testing.T) {
	w := hookedHosts(t)
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List{{Name: "array_indices_submitted", Value: "1-3"}}})
	array := pbs.JobID("0[].srv")
	ncpus := func(id pbs.JobID) string {
		j, ok := w.View().Named(id)
		if !ok {
			t.Fatalf("%s is not there", id)
		}
		text, _ := j.Resources.Get("ncpus")
		return j.State.Letter() + text
	}
	two := []AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "ncpus", Value: "2"}}}
	if err := w.run(&AlterJob{Job: array.Subjob(2), Changes: two}); pbs.CodeOf(err) != pbs.InvalidRequest {
		t.Errorf("altered by a user: %v", err)
	}
	w.must(AltersAtStart(array.Subjob(2), two, true))
	if got := ncpus(array.Subjob(1)) + ncpus(array.Subjob(2)) + ncpus(array.Subjob(3)); got != "Q1Q2Q1" {
		t.Errorf("they are %s", got)
	}
	parent, _ := w.View().Job(array)
	if counts := w.View().JobAttribute(parent, "array_state_count", ""); counts != "Queued:3 Running:0 Exiting:0 Expired:0" {
		t.Errorf("counts are %q", counts)
	}
	w.must(&StartJob{Job: array.Subjob(2), ExecVnode: "(a:ncpus=2)"})
	if got := ncpus(array.Subjob(2)); got != "R2" {
		t.Errorf("it is %s", got)
	}
	w.must(AltersAtStart(array.Subjob(3), two, true))
	w.must(&AlterJob{Job: array, Changes: []AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "ncpus", Value: "3"}}}})
	if got := ncpus(array.Subjob(1)) + ncpus(array.Subjob(2)) + ncpus(array.Subjob(3)); got != "Q3R2Q3" {
		t.Errorf("they are %s", got)
	}
	hold := AltersAtStart(array.Subjob(1), []AttrChange{{Entry: attr.Entry{Name: "Hold_Types", Value: "s"}}}, false)
	if hold.Job != array {
		t.Errorf("%s is held", hold.Job)
	}
	for _, gone := range []pbs.JobID{array.Subjob(7), "9[1].srv"} {
		if err := w.run(AltersAtStart(gone, two, true)); err == nil {
			t.Errorf("%s is altered", gone)
		}
	}
	w.must(&DeleteJob{Job: array, Force: true})
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
