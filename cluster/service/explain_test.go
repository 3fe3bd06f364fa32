package service

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// Who may see a job may ask why it waits; the scheduler is asked of jobs that it is to start, and of no others.
func TestExplain(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	b.Batch.Scheduler.Explain = func(_ *state.View, j *state.Job) *api.Obstacle {
		return &api.Obstacle{Reason: "since it is " + string(j.ID)}
	}
	waits, held := b.mustSubmit("ann@h"), b.mustSubmit("ann@h", &api.Attribute{Name: "Hold_Types", Value: "u"})
	ask := func(who, job string) (*api.ExplainReply, error) {
		r, err := b.Batch.Explain(b.as(who), request(&api.ExplainRequest{Job: job}, ""))
		if err != nil {
			return nil, err
		}
		return r.Msg, nil
	}
	for job, want := range map[string]string{waits: "since it is " + waits, held: ""} {
		for _, who := range []string{"ann@h", "bob@h", "root@replica:s1"} {
			r, err := ask(who, job)
			if err != nil || r.GetJob() != job || r.GetObstacle().GetReason() != want || (r.GetObstacle() == nil) != (want == "") || len(r.GetAttributes()) < 4 {
				t.Errorf("%s asks for %s: %v, %v", who, job, r, err)
			}
		}
	}
	b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "query_other_jobs", Value: "False"}}}})
	if _, err := ask("bob@h", waits); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("who may not see it is told %v", err)
	}
	if _, err := ask("ann@h", waits); err != nil {
		t.Errorf("its owner is told %v", err)
	}
	if _, err := ask("ann@h", "99"); pbs.CodeOf(err) != pbs.UnknownJob {
		t.Errorf("of no job: %v", err)
	}
}
