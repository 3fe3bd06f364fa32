package command

import (
	"fmt"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Who has files that did not travel gets mail, without having asked for it.
func TestFiles_Mail(t *testing.T) {
	for _, c := range []struct {
		points string
		end    JobEnded
		want   string
	}{
		{"a", JobEnded{NeverStarted: true, StageInFailed: true, ExitStatus: -3, Comment: "why"}, "File stage in failed"},
		{"a", JobEnded{StageoutStatus: -1, Comment: "why"}, "Post job file processing error; job 0.srv on host hosta"},
		{"n", JobEnded{StageoutStatus: -1, Comment: "why"}, ""},
		{"a", JobEnded{StageoutStatus: 1}, ""},
	} {
		s := state.NewStore()
		source := Source{Host: "hosta", Spool: "sp"}
		end := c.end
		end.Source, end.Job, end.RunCount = source, "0.srv", 1
		end.Source.Seq = 1
		var all []string
		for i, command := range []Command{
			&InitCluster{ID: "c1", Name: "srv", Epoch: 1, GossipKey: make([]byte, 16)},
			&HostUp{Host: "hosta", Address: "hosta:1", BootID: "b", SpoolID: "sp", Vnodes: []ReportedVnode{{Name: "hosta"}}},
			&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List{}.Set("Mail_Points", "", c.points).Set("Resource_List", "select", "1:ncpus=0")},
			&StartJob{Job: "0.srv", ExecVnode: "(hosta:ncpus=0)"},
			&end,
		} {
			out, _ := Run(s, uint64(i+1), 1, Entry{Time: pbs.Time(i+1) * 1e9, Proposals: []Proposal{{Commands: []Command{command}}}})
			if out[0].Refusal != nil {
				t.Fatalf("%T: %v", command, out[0].Refusal)
			}
		}
		for m := range s.Publish().Mails() {
			all = append(all, m.Text)
		}
		if text := strings.Join(all, "|"); c.want == "" && strings.Contains(text, "error") || !strings.Contains(text, c.want) || c.want != "" && !strings.Contains(text, "why") {
			t.Errorf("%+v: %q, want %q", c.end, text, c.want)
		}
	}
}

// A job whose last hooks run is exiting, keeps its vnodes, and can be deleted by force only, as in PBS; that it was
// deleted before stays as it is.
func TestJobExiting_Hooks(t *testing.T) {
	s := newSet(t)
	at := func(what, want string) {
		t.Helper()
		j, _ := s.View().Job("0.srv")
		vn, _ := s.View().Vnode("a")
		n, _ := vn.Assigned.Get("ncpus")
		if got := fmt.Sprintf("%s%d %s", j.Letter(), j.Substate, n); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
		if err := s.View().Check(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.ok(s.submit(""))
	s.ok(s.start("0"))
	s.begins("0")
	hooks := func() { s.must(&JobExiting{Source: s.source(), Job: "0.srv", RunCount: 1, Hooks: true}) }
	hooks()
	at("the hooks run", "E53 1")
	if err := s.run(&DeleteJob{Job: "0.srv"}); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("deleted meanwhile: %v", err)
	}
	s.must(&JobExiting{Source: s.source(), Job: "0.srv", RunCount: 1})
	at("files go", "E51 1")
	hooks() // the mom has died meanwhile
	at("the hooks run again", "E51 1")
	s.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "job_history_enable", Value: "True"}}}})
	s.ends("0", JobEnded{})
	at("it is over", "F92 0")

	s = newSet(t)
	s.ok(s.submit(""))
	s.ok(s.start("0"))
	s.begins("0")
	s.must(&RerunJob{Job: "0.srv"})
	before, _ := s.View().Job("0.srv")
	hooks()
	if j, _ := s.View().Job("0.srv"); j.State != before.State || j.Substate != before.Substate || j.Run.Ending != state.EndingRerun {
		t.Errorf("requeued meanwhile: %s%d", j.State, j.Substate)
	}
	s.ends("0", JobEnded{ExitStatus: 271})
	at("it is queued again", "Q10 0")
}
