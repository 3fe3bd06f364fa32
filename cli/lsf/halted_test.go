package lsf

import (
	"strings"
	"testing"
	"time"

	"rampart/cli/timeline"
	"rampart/transport/api"
)

// Specification: reservation section 9.7: what commands say of suspended jobs.
func TestHalted(t *testing.T) {
	for _, c := range []struct{ substate, comment, event, reason string }{
		{"45 lsf_resumed", "Not Running: Not enough free nodes available", "Suspended by the user;", "Waiting for re-scheduling after being resumed by user;"},
		{"43", "Job run at Fri Apr 22 at 15:00 on (hosta:ncpus=1)", "Suspended by the user;", "The job was suspended by the user;"},
		{"43", "Suspended by the load of hosta, which is beyond loadStop: r1m", "Suspended by the user;", "The job was suspended by the user;"},
		{"45", "Job run at Fri Apr 22 at 15:00 on (hosta:ncpus=1)", "Suspended by the scheduler;", "The job waits for what it gave back while it was suspended;"},
		{
			"45", "Suspended by the load of hosta, which is beyond loadStop: r1m, pg", "Suspended by the load of host <hosta>;",
			"The host load exceeded the following threshold(s): 1-minute CPU queue length: r1m; Paging rate: pg;",
		},
	} {
		substate, resumed, _ := strings.Cut(c.substate, " ")
		j := newJob(&api.Object{Name: "1.srv", Attributes: []*api.Attribute{{Name: "job_state", Value: "S"}, {Name: "substate", Value: substate}, {Name: "comment", Value: c.comment}}})
		if resumed != "" {
			j.Attributes = append(j.Attributes, &api.Attribute{Name: resumed, Value: "True"})
		}
		if event, reason := j.suspendedEvent(), j.suspendingReason(); event != c.event || reason != c.reason {
			t.Errorf("%s %q: %q, %q", c.substate, c.comment, event, reason)
		}
	}
}

// What load has suspended is SSUSP in a history, what somebody has, USUSP.
func TestSpent_ByLoad(t *testing.T) {
	at := func(n int) time.Time { return time.Unix(int64(1000+n), 0) }
	span := func(from, to int) timeline.Span { return timeline.Span{Start: at(from), End: at(to)} }
	job := &timeline.Job{Queued: at(0), Now: at(100), Runs: []timeline.Run{{
		Start: at(10), End: at(90), Ending: "queued again", Phases: []timeline.Phase{{Span: span(10, 90)}},
		Suspended: []timeline.Halt{{Span: span(20, 25)}, {Span: span(30, 60), Load: "hosta:r1m+pg"}},
	}}}
	if got, want := spent(job), (times{pending: 20, running: 45, suspended: 5, stopped: 30}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	var texts []string
	for _, e := range events(job) {
		texts = append(texts, e.Text)
	}
	if want := "Suspended on <hosta>: The host load exceeded the following threshold(s): 1-minute CPU queue length: r1m; Paging rate: pg"; texts[3] != want || texts[1] != "Suspended" {
		t.Errorf("%q", texts)
	}
}
