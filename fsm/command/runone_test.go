package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// A set is a writer whose jobs are 0, 1, 2... at the host a.
type set struct {
	*writer
	facts uint64
}

func newSet(t *testing.T) *set {
	w := newWriter(t)
	w.must(&HostUp{
		Host: "a", SpoolID: "a1",
		Vnodes: []ReportedVnode{{Name: "a", Available: resource.List{{Name: "ncpus", Value: "8"}}}},
	})
	return &set{writer: w}
}

func (s *set) submit(depend string, more ...attr.Entry) error {
	list := attr.List{}
	if depend != "" {
		list = list.Set("depend", "", depend)
	}
	for _, e := range more {
		list = list.Set(e.Name, e.Resource, e.Value)
	}
	return s.run(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: list})
}

func (s *set) start(job string) error {
	return s.run(&StartJob{Job: pbs.JobID(job + ".srv"), ExecVnode: "(a:ncpus=1)", Comment: "Job run at noon on (a:ncpus=1)"})
}

func (s *set) source() Source {
	s.facts++
	return Source{Host: "a", Spool: "a1", Seq: s.facts}
}

func (s *set) begins(job string) {
	s.t.Helper()
	s.must(&JobStarted{Source: s.source(), Job: pbs.JobID(job + ".srv"), RunCount: 1, Session: 100})
}

func (s *set) ends(job string, e JobEnded) {
	s.t.Helper()
	e.Source, e.Job, e.RunCount = s.source(), pbs.JobID(job+".srv"), 1
	s.must(&e)
}

// shows compares the jobs that are not over, each as ID STATE HOLDS[: others of its set].
func (s *set) shows(what string, want ...string) {
	s.t.Helper()
	var got []string
	for j := range s.View().Jobs() {
		if j.State == pbs.Finished {
			continue
		}
		text := strings.TrimSuffix(string(j.ID), ".srv") + " " + j.Letter() + " " + j.Holds.String()
		for i, id := range j.Depends.RunOne() {
			text += []string{":", ""}[min(i, 1)] + " " + strings.TrimSuffix(string(id), ".srv")
		}
		if dependent := j.Substate == pbs.SubDependent; dependent != j.Depends.HeldByOne() {
			s.t.Errorf("%s: job %s has substate %d", what, j.ID, j.Substate)
		}
		got = append(got, text)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("%s: %q, want %q", what, got, want)
	}
	if err := s.View().Check(); err != nil {
		s.t.Errorf("%s: %v", what, err)
	}
}

func (s *set) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestRunOne_HeldThenDeleted: who names one of a set is in it; the start of one holds the others, and
// its end deletes them.
func TestRunOne_HeldThenDeleted(t *testing.T) {
	s := newSet(t)
	s.ok(s.submit(""))
	s.ok(s.submit("runone:0"))
	s.ok(s.submit("runone:1", attr.Entry{Name: "Hold_Types", Value: "u"}))
	s.shows("nobody has started", "0 Q n: 1 2", "1 Q n: 0 2", "2 H u: 1 0")
	s.ok(s.start("1"))
	s.shows("1 starts", "0 H s: 1 2", "1 R n: 0 2", "2 H us: 1 0")
	if err := s.start("0"); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("the start of another one: %v", err)
	}
	s.must(&ReleaseJob{Job: "0.srv", Holds: pbs.HoldSystem})
	s.shows("released by hand", "0 H s: 1 2", "1 R n: 0 2", "2 H us: 1 0")
	s.begins("1")
	s.ok(s.submit("runone:0"))
	s.shows("one comes later", "0 H s: 1 2 3", "1 R n: 0 2 3", "2 H us: 0 1 3", "3 H s: 0 1 2")
	s.must(&AlterJob{Job: "2.srv", Changes: []AttrChange{{Op: OpUnset, Entry: attr.Entry{Name: "depend"}}}})
	s.shows("one leaves", "0 H s: 1 3", "1 R n: 0 3", "2 H u", "3 H s: 0 1")
	s.must(&DeleteJob{Job: "3.srv"})
	s.shows("one is deleted", "0 H s: 1", "1 R n: 0", "2 H u")
	s.ends("1", JobEnded{ExitStatus: 1})
	s.shows("1 is over", "2 H u")
}

// TestRunOne_LetGo: who has started and is queued again lets the others go, and so does one that is over
// and of which no program has begun.
func TestRunOne_LetGo(t *testing.T) {
	s := newSet(t)
	s.ok(s.submit(""))
	s.ok(s.submit("runone:0", attr.Entry{Name: "array_indices_submitted", Value: "1-2"}))
	s.ok(s.start("0"))
	s.shows("0 starts", "0 R n: 1[]", "1[] H s: 0")
	s.ends("0", JobEnded{NeverStarted: true, ExitStatus: pbs.ExitAborted})
	s.shows("it is put back", "0 Q n: 1[]", "1[] Q n: 0")
	s.ok(s.start("1[2]"))
	s.shows("the array begins", "0 H s: 1[]", "1[] B n: 0", "1[2] R n")
	s.begins("1[2]")
	s.must(&RerunJob{Job: "1[2].srv"})
	s.ends("1[2]", JobEnded{ExitStatus: 271})
	s.shows("an array that has begun goes on", "0 H s: 1[]", "1[] B n: 0", "1[2] Q n")
	s.must(&DeleteJob{Job: "1[].srv"})
	s.shows("its end")

	s = newSet(t)
	s.ok(s.submit(""))
	s.ok(s.submit("runone:0"))
	s.ok(s.start("0"))
	s.must(&DeleteJob{Job: "0.srv"})
	s.ends("0", JobEnded{NeverStarted: true, ExitStatus: pbs.ExitAborted})
	s.shows("deleted before its program began", "1 Q n")
}

// TestRunOne_Sets: two sets become one, of which two run.
func TestRunOne_Sets(t *testing.T) {
	s := newSet(t)
	for _, depend := range []string{"", "runone:0", "", "runone:2"} {
		s.ok(s.submit(depend))
	}
	s.ok(s.start("0"))
	s.ok(s.start("2"))
	s.ok(s.submit("runone:1:3"))
	s.shows("one set of two", "0 R n: 1 3 2 4", "1 H s: 0 3 2 4", "2 R n: 1 0 3 4", "3 H s: 1 0 2 4", "4 H s: 1 0 3 2")
	s.begins("0")
	s.begins("2")
	s.ends("0", JobEnded{})
	s.shows("the first is over", "2 R n")
	for _, c := range []struct{ depend, owner string }{{"runone:2", "bob"}, {"runone:9[1]", "ann"}, {"runone:", "ann"}, {"runone", "ann"}} {
		err := s.run(&SubmitJob{Owner: pbs.User{Name: c.owner, Host: "h"}, Attributes: attr.List{{Name: "depend", Value: c.depend}}})
		if pbs.CodeOf(err) != pbs.BadAttributeValue {
			t.Errorf("%s of %s: %v", c.depend, c.owner, err)
		}
	}
	s.ends("2", JobEnded{})
	s.ok(s.submit("runone:2"))
	s.shows("of one that is over")
	s.ok(s.submit(""))
	for range MaxRunOne - 1 {
		s.ok(s.submit("runone:6"))
	}
	if err := s.submit("runone:6"); pbs.CodeOf(err) != pbs.BadAttributeValue || !strings.Contains(err.Error(), fmt.Sprint(MaxRunOne)) {
		t.Errorf("one more than may be: %v", err)
	}
	if err := s.View().Check(); err != nil {
		t.Error(err)
	}
}

// TestRunOne_Deleted: who is deleted since another one is over is told so, and who waits for him.
func TestRunOne_Deleted(t *testing.T) {
	s := newSet(t)
	s.ok(s.submit(""))
	s.ok(s.submit("runone:0"))
	s.ok(s.submit("afterok:1"))
	s.ok(s.start("0"))
	s.begins("0")
	told := s.tells(&JobEnded{Source: s.source(), Job: "0.srv", RunCount: 1})
	want := []string{"1.srv Job deleted as result of dependency on job 0.srv", "2.srv Job deleted as result of dependency on job 1.srv"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
