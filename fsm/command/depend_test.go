package command

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// The end of a job for which many wait takes what grows with them, and not with their
// square: nothing else is applied meanwhile.
func TestDepend_ManyWaitForOne(t *testing.T) {
	ann := pbs.User{Name: "ann", Host: "h"}
	end := func(kind string, waiting int) (allocated uint64) {
		w := newWriter(t)
		w.must(&SubmitJob{Owner: ann})
		for range waiting {
			w.must(&SubmitJob{Owner: ann, Attributes: attr.List{}.Set("depend", "", kind+":0")})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w.must(&DeleteJob{Job: "0.srv"})
		runtime.ReadMemStats(&after)
		for j := range w.View().Jobs() {
			if j.State != pbs.Queued {
				t.Fatalf("job %s is in state %s", j.ID, j.State)
			}
		}
		if err := w.View().Check(); err != nil {
			t.Error(err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, kind := range []string{"afterany", "afterok"} { // those of the latter are deleted
		if few, many := end(kind, 200), end(kind, 2000); many > 20*few {
			t.Errorf("%s: 200 take %d bytes, 2000 take %d", kind, few, many)
		}
	}
}

// TestDepend_Singleton: a job waits until those of its owner and name that were submitted before
// it are over, whatever else there is, and each way in which they may go lets it go.
func TestDepend_Singleton(t *testing.T) {
	w := newWriter(t)
	submit := func(owner, name, depend string, more ...attr.Entry) {
		t.Helper()
		list := attr.List{}.Set("Job_Name", "", name)
		if depend != "" {
			list = list.Set("depend", "", depend)
		}
		for _, e := range more {
			list = list.Set(e.Name, e.Resource, e.Value)
		}
		w.must(&SubmitJob{Owner: pbs.User{Name: owner, Host: "h"}, Attributes: list})
	}
	alter := func(job, name, value string) {
		t.Helper()
		w.must(&AlterJob{Job: pbs.JobID(job + ".srv"), Changes: []AttrChange{{Entry: attr.Entry{Name: name, Value: value}}}})
	}
	step := func(what string, waiting ...string) {
		t.Helper()
		var got []string
		for j := range w.View().Jobs() {
			if j.State == pbs.Finished {
				continue
			}
			held := j.State == pbs.Held && j.Holds == pbs.HoldSystem && j.Substate == pbs.SubDependent
			if held != j.Depends.Single() || j.Depends.Single() != (j.Depends.Text(j.ID) == "singleton") {
				t.Errorf("%s: job %s is %s%d and depends on %q", what, j.ID, j.State, j.Substate, j.Depends.Text(j.ID))
			}
			if held {
				got = append(got, strings.TrimSuffix(string(j.ID), ".srv"))
			}
		}
		if !slices.Equal(got, waiting) {
			t.Errorf("%s: %v wait, want %v", what, got, waiting)
		}
		if err := w.View().Check(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	submit("ann", "backup", "singleton") // 0
	submit("bob", "backup", "singleton") // 1
	submit("ann", "other", "singleton")  // 2
	step("each is the first")
	submit("ann", "backup", "")                                                                     // 3
	submit("ann", "backup", "singleton")                                                            // 4
	submit("ann", "backup", "singleton", attr.Entry{Name: "array_indices_submitted", Value: "1-3"}) // 5
	submit("ann", "backup", "")                                                                     // 6
	step("behind others", "4", "5[]")
	w.must(&ReleaseJob{Job: "4.srv", Holds: pbs.HoldSystem})
	step("released by hand", "4", "5[]")
	w.must(&DeleteJob{Job: "3.srv"})
	step("the one in between is deleted", "4", "5[]")
	w.must(&DeleteJob{Job: "0.srv"})
	step("the first is deleted", "5[]")
	alter("4", "Job_Name", "renamed")
	step("the first has another name")
	submit("ann", "backup", "singleton") // 7
	w.must(&DeleteJob{Job: "5[].srv"})
	step("one is before it", "7")
	alter("7", "Job_Name", "free")
	step("it has another name itself")
	submit("ann", "other", "singleton") // 8
	alter("8", "Job_Name", "renamed")
	step("it comes behind one of its new name", "8")
	alter("8", "depend", "singleton")
	step("it is asked for again", "8")
	w.must(&AlterJob{Job: "8.srv", Changes: []AttrChange{{Op: OpUnset, Entry: attr.Entry{Name: "depend"}}}})
	step("it is taken back")
	alter("8", "depend", "singleton")
	step("and asked for anew", "8")
	alter("4", "depend", "singleton")
	step("the first has nobody before it", "8")
}

// The end of a job costs the same, however many of its name are there.
func TestDepend_SingletonAmongMany(t *testing.T) {
	end := func(others int) (allocated uint64) {
		w := newWriter(t)
		for range others {
			w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List{}.Set("depend", "", "singleton")})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w.must(&DeleteJob{Job: "0.srv"})
		runtime.ReadMemStats(&after)
		if j, ok := w.View().Job("1.srv"); !ok || j.State != pbs.Queued {
			t.Errorf("the second does not go: %+v", j)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := end(100), end(5000); many > 3*few {
		t.Errorf("with 100 it takes %d bytes, with 5000 %d", few, many)
	}
}

// The log tells how a dependency on a job of the history was judged.
func TestDepend_LogsVerdicts(t *testing.T) {
	s := newSet(t)
	s.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "job_history_enable", Value: "True"}}}})
	s.ok(s.submit(""))
	s.ok(s.start("0"))
	s.begins("0")
	s.ends("0", JobEnded{})
	for kind, want := range map[string]bool{
		"after": true, "afterok": true, "afterany": true,
		"afternotok": false, "before": false, "beforeok": false, "beforenotok": false, "beforeany": false, "runone": false,
	} {
		id := string(pbs.NewJobID(s.View().Cluster().NextJob, "srv"))
		told := s.tells(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List{}.Set("depend", "", kind+":0")})
		yes := []string{id + " 0.srv Job has finished, dependency satisfied"}
		no := []string{id + " 0.srv Finished job did not satisfy dependency", id + " Job deleted as result of dependency on job 0.srv"}
		if want && !slices.Equal(told, yes) || !want && !slices.Equal(told, no) {
			t.Errorf("%s: %q", kind, told)
		}
		if j, ok := s.View().Job(pbs.JobID(id)); !ok || (j.State == pbs.Queued) != want || (j.State == pbs.Finished) == want {
			t.Errorf("%s: the job is %v", kind, j.State)
		}
	}
}

// A job that is deleted before it ran has neither failed nor succeeded: who waits for either is deleted with it, and who
// waits for those in turn.
func TestDepend_DeletedBeforeItRan(t *testing.T) {
	s := newSet(t)
	s.ok(s.submit(""))
	for _, depend := range []string{"afternotok:0", "afterok:0", "afterok:1", "afternotok:2", "after:0", "afterany:0", "afterany:1"} {
		s.ok(s.submit(depend))
	}
	s.must(&DeleteJob{Job: "0.srv"})
	s.shows("0 is deleted", "6 Q n", "7 Q n")

	s = newSet(t)
	s.ok(s.submit(""))
	for _, depend := range []string{"afternotok:0", "afterok:0", "afternotok:2"} {
		s.ok(s.submit(depend))
	}
	s.ok(s.start("0"))
	s.begins("0")
	s.must(&DeleteJob{Job: "0.srv"})
	s.ends("0", JobEnded{ExitStatus: 271})
	s.shows("0 is deleted while it runs", "1 Q n")
}
