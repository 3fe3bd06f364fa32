package command

import (
	"io"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// What people are still to be told of when a state is put back, they are told; and not again
// of the end of a job that only the file has as running.
func TestRestore_MailsAreSentOnce(t *testing.T) {
	w := newWriter(t)
	definedHost(w)
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List{}.Set("Mail_Points", "", "be").Set("Rerunable", "", "False")})
	w.must(&StartJob{Job: "0.srv", ExecVnode: "(hosta[0]:ncpus=1)"})
	w.must(&JobStarted{Source: Source{Host: "hosta", Spool: "s", Seq: 1}, Job: "0.srv", RunCount: 1, Session: 9})
	file := w.View()
	w.must(&JobEnded{Source: Source{Host: "hosta", Spool: "s", Seq: 2}, Job: "0.srv", RunCount: 1})
	told := func() (texts []string) {
		for m := range w.View().Mails() {
			texts = append(texts, m.Text)
		}
		return texts
	}
	if len(told()) != 2 {
		t.Fatalf("before: %q", told())
	}
	w.must(&StagePart{Key: "k", Data: []byte("the file")})
	w.must(&Restore{Key: "k", Parts: 1, Epoch: 2, read: func(io.Reader) (*state.Store, error) { return file.Copy(), nil }})
	if len(told()) != 2 {
		t.Errorf("after: %q", told())
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}
