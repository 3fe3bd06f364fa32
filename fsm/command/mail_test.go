package command

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// mails returns what was mailed so far: whom, and the first line.
func (w *writer) mails() []string {
	var all []string
	for m := range w.View().Mails() {
		first, _, _ := strings.Cut(m.Text, "\n")
		all = append(all, strings.Join(m.To, "+")+": "+first)
	}
	return all
}

// lifeOf submits a job with attributes, runs it, and reports its end.
func (w *suspending) lifeOf(list ...attr.Entry) {
	w.t.Helper()
	id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "login1"}, Attributes: list})
	w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=1)"})
	for _, c := range []func(Source) Command{
		func(s Source) Command { return &JobStarted{Source: s, Job: id, RunCount: 1, Session: 7} },
		func(s Source) Command {
			return &JobEnded{Source: s, Job: id, RunCount: 1, ExitStatus: 3, Used: resource.List{{Name: "cput", Value: "00:00:07"}}}
		},
	} {
		w.facts++
		w.must(c(Source{Host: "h", Spool: "s", Seq: w.facts}))
	}
}

func TestMail_Points(t *testing.T) {
	for _, c := range []struct {
		points string
		want   []string
	}{
		{"", nil},
		{"n", nil},
		{"a", nil},
		{"b", []string{"ann@login1: Begun execution"}},
		{"e", []string{"ann@login1: Execution terminated"}},
		{"abe", []string{"ann@login1: Begun execution", "ann@login1: Execution terminated"}},
	} {
		w := newSuspending(t, "")
		var list []attr.Entry
		if c.points != "" {
			list = append(list, attr.Entry{Name: "Mail_Points", Value: c.points})
		}
		w.lifeOf(list...)
		if got := w.mails(); !slices.Equal(got, c.want) {
			t.Errorf("-m %s: %q, want %q", c.points, got, c.want)
		}
		if err := w.View().Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestMail_WhomAndWhat(t *testing.T) {
	w := newSuspending(t, "")
	w.lifeOf(attr.Entry{Name: "Mail_Points", Value: "e"}, attr.Entry{Name: "Mail_Users", Value: "bob@b, -bs,carl"}, attr.Entry{Name: "Job_Name", Value: "work"})
	for m := range w.View().Mails() {
		if !slices.Equal(m.To, []string{"bob@b", "carl"}) || m.Name != "work" {
			t.Errorf("mail %+v", m)
		}
		for _, line := range []string{"Exit_status=3", "resources_used.cput=00:00:07"} {
			if !slices.Contains(strings.Split(m.Text, "\n"), line) {
				t.Errorf("no %s in %q", line, m.Text)
			}
		}
		w.must(&MailsDone{Seqs: []uint64{m.Seq}})
	}
	if got := w.mails(); got != nil {
		t.Errorf("after they were sent: %q", got)
	}
	w.must(&MailsDone{Seqs: []uint64{1, 999}}) // again: nothing
}

// Somebody else who deletes a job: its owner is told unasked. A dependent that can never
// run is told of as aborted.
func TestMail_Deleted(t *testing.T) {
	for _, c := range []struct {
		name  string
		quiet bool
		asker pbs.User
		want  []string
	}{
		{"by another", false, pbs.User{Name: "root", Host: "s1"}, []string{"ann@login1: Job to be deleted at request of root@s1", "ann@login1: Aborted by PBS Server"}},
		{"quietly", true, pbs.User{Name: "root", Host: "s1"}, []string{"ann@login1: Aborted by PBS Server"}},
		{"by the owner", false, pbs.User{Name: "ann", Host: "s1"}, []string{"ann@login1: Aborted by PBS Server"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newSuspending(t, "")
			w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "login1"}})
			w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "login1"}, Attributes: attr.List{{Name: "depend", Value: "afterok:0"}}})
			w.index++
			out, _ := Run(w.Store, w.index, 1, Entry{Time: pbs.Time(w.index), Proposals: []Proposal{
				{Asker: c.asker, Commands: []Command{&DeleteJob{Job: "0.srv", Quiet: c.quiet}}},
			}})
			w.Publish()
			if err := out[0].Err(); err != nil {
				t.Fatal(err)
			}
			if got := w.mails(); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestMail_Bounded(t *testing.T) {
	w := newSuspending(t, "")
	for i := range state.MaxMails + 3 {
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "login1"}})
		w.must(&DeleteJob{Job: pbs.JobID(strconv.Itoa(i) + ".srv")})
	}
	if n := len(w.mails()); n != state.MaxMails {
		t.Errorf("%d mails wait, want %d", n, state.MaxMails)
	}
}

func TestInteractive_IsNotRerunnable(t *testing.T) {
	w := newSuspending(t, "")
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: attr.List{{Name: "interactive", Value: "True"}, {Name: "Rerunable", Value: "True"}}})
	if j, _ := w.View().Job("0.srv"); !j.NotRerunnable {
		t.Error("an interactive job is rerunnable")
	}
	if err := w.run(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: attr.List{
		{Name: "interactive", Value: "True"}, {Name: "array_indices_submitted", Value: "1-3"},
	}}); err == nil {
		t.Error("an interactive array is queued")
	}
}
