package command

import (
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// A job whose program was never started does not wait for a sister that is down, whether that is known by then or becomes
// known later; one that is up is waited for. What may have started a program on a sister is (L2).
func TestJobEnded_WaitsForNoIdleSister(t *testing.T) {
	for _, c := range []struct {
		name    string
		started bool
		end     JobEnded
		idle    bool
	}{
		{"a sister did not join", false, JobEnded{NeverStarted: true, ExitStatus: pbs.ExitJoin}, true},
		{"the start failed", false, JobEnded{NeverStarted: true, ExitStatus: pbs.ExitRetry}, true},
		{"the mother superior was booted", false, JobEnded{NeverStarted: true, Lost: true, ExitStatus: pbs.ExitRetry}, false},
		{"its host does not know the run", false, JobEnded{NeverStarted: true, ExitStatus: pbs.ExitAborted}, false},
		{"it was started", true, JobEnded{Lost: true, ExitStatus: pbs.ExitAborted}, false},
		{"it was started, and that is forgotten", true, JobEnded{NeverStarted: true, ExitStatus: pbs.ExitRetry}, false},
	} {
		for _, late := range []bool{false, true} {
			w := newWriter(t)
			for _, host := range []pbs.HostName{"a", "b", "c"} {
				w.must(&HostUp{Host: host, SpoolID: "s", Vnodes: []ReportedVnode{{
					Name: pbs.VnodeName(host), Available: resource.List{{Name: "ncpus", Value: "2"}},
				}}})
			}
			w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}})
			w.must(&StartJob{Job: "0.srv", ExecVnode: "(a:ncpus=1)+(b:ncpus=1)+(c:ncpus=1)"})
			end := c.end
			end.Source, end.Job, end.RunCount = Source{"a", "s", 1}, "0.srv", 1
			if c.started {
				w.must(&JobStarted{Source: Source{"a", "s", 1}, Job: "0.srv", RunCount: 1, Session: 7})
				end.Source.Seq = 2
			}
			steps := []Command{&HostDown{Host: "b"}, &end}
			if late {
				steps[0], steps[1] = steps[1], steps[0]
			}
			w.must(steps[0])
			w.must(steps[1])
			waits := 2
			if c.idle {
				waits = 1
			}
			if j, _ := w.View().Job("0.srv"); j.State != pbs.Queued || len(j.Unconfirmed) != waits {
				t.Errorf("%s, the verdict is late %v: %s, waits for %v", c.name, late, j.State, j.Unconfirmed)
			}
			w.must(&JobEnded{Source: Source{"c", "s", 1}, Job: "0.srv", RunCount: 1, ExitStatus: 271})
			j, _ := w.View().Job("0.srv")
			if open := len(j.Unconfirmed) > 0; open == c.idle {
				t.Errorf("%s: when the other sister has ended it waits for %v", c.name, j.Unconfirmed)
			}
			if err := w.run(&StartJob{Job: "0.srv", ExecVnode: "(a:ncpus=1)+(c:ncpus=1)"}); (err == nil) != c.idle {
				t.Errorf("%s: starts elsewhere: %v", c.name, err)
			}
			if err := w.View().Check(); err != nil {
				t.Error(err)
			}
		}
	}
}
