package command

import (
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// A job that was ended for a limit says which in its comment, and in an abort mail, unless nobody wants one.
func TestJobEnded_Exceeded(t *testing.T) {
	for _, c := range []struct {
		exit   int32
		points string
		words  string
		mail   string
	}{
		{-29, "a", "walltime", "Aborted by PBS Server\nJob exceeded resource walltime"},
		{-28, "a", "cput", "Job exceeded resource cput"},
		{-27, "ae", "mem", "Job exceeded resource mem"},
		{-26, "a", "vmem", "Job exceeded resource vmem"},
		{-25, "a", "ncpus (sum)", "Job exceeded resource ncpus (sum)"},
		{-24, "a", "ncpus (burst)", "Job exceeded resource ncpus (burst)"},
		{-29, "n", "walltime", ""},
		{-29, "e", "walltime", "Execution terminated\nExit_status=-29"},
	} {
		w := newWriter(t)
		w.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "job_history_enable", Value: "True"}}}})
		w.must(&HostUp{Host: "a", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a", Available: resource.List{{Name: "ncpus", Value: "1"}}}}})
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: attr.List{{Name: "Mail_Points", Value: c.points}}})
		w.must(&StartJob{Job: "0.srv", ExecVnode: "(a:ncpus=1)", Comment: "Job run at noon on (a:ncpus=1)"})
		w.must(&JobStarted{Source: Source{"a", "s", 1}, Job: "0.srv", RunCount: 1, Session: 7})
		w.must(&JobEnded{Source: Source{"a", "s", 2}, Job: "0.srv", RunCount: 1, ExitStatus: c.exit})
		j, ok := w.View().Job("0.srv")
		if want := "Job run at noon on (a:ncpus=1) and exceeded resource " + c.words; !ok || j.Comment != want || j.LastRun().ExitStatus != c.exit {
			t.Errorf("%d: comment %q, want %q", c.exit, j.Comment, want)
		}
		var mails []string
		for m := range w.View().Mails() {
			mails = append(mails, m.Text)
		}
		if all := strings.Join(mails, "|"); c.mail == "" && all != "" || !strings.Contains(all, c.mail) {
			t.Errorf("%d, %s: mails %q, want %q", c.exit, c.points, all, c.mail)
		}
	}
}
