package command

import (
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A view tells since when nothing has come for which a scheduler looks at the jobs that wait.
func TestRun_Stirs(t *testing.T) {
	w := newWriter(t)
	submit := func(list attr.List) *SubmitJob {
		return &SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: list}
	}
	wait := &SetWaits{}
	wait.Add(JobWait{Job: "1.srv"}, state.Wait{Code: state.WaitQueueStopped})
	for _, c := range []struct {
		name    string
		after   time.Duration
		command Command
		stirs   bool
	}{
		{"a host is up", 0, &HostUp{Host: "a", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a", Available: resource.List{{Name: "ncpus", Value: "2"}}}}}, true},
		{"a job is queued", 0, submit(nil), true},
		{"one that is to wait", 0, submit(attr.List{}.Set("Execution_Time", "", "60")), true},
		{"one starts", 0, &StartJob{Job: "0.srv", ExecVnode: "(a:ncpus=1)"}, false},
		{"its host has got it", 0, &OrderConfirmed{Host: "a", Order: 1}, false},
		{"it runs", 0, &JobStarted{Source: Source{"a", "s", 1}, Job: "0.srv", RunCount: 1, Session: 7}, false},
		{"it uses something", 0, &UsageSample{Host: "a"}, false},
		{"the other is told why it waits", 0, wait, false},
		{"time goes by", time.Second, &TimeTick{}, false},
		{"a job wakes", 2 * time.Minute, &TimeTick{}, true},
		{"a job ends", 0, &JobEnded{Source: Source{"a", "s", 2}, Job: "0.srv", RunCount: 1}, true},
	} {
		w.at += pbs.Time(c.after)
		before := w.View().Stirred()
		w.must(c.command)
		if after := w.View().Stirred(); after != before != c.stirs || c.stirs && after != w.View().Index() {
			t.Errorf("%s: stirred by %d, before by %d, want a change: %v", c.name, after, before, c.stirs)
		}
	}
	before := w.View().Stirred()
	if err := w.run(&DeleteJob{Job: "7.srv"}); err == nil || w.View().Stirred() != before {
		t.Errorf("what is refused (%v) stirs", err)
	}
}
