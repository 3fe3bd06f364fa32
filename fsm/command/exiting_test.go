package command

import (
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
			&RaiseLevel{Level: FeatureLevel},
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
