package command

import (
	"fmt"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// RD-34: suspended and resumed, held vnodes give back and take again what they have.
func TestReleaseNodes_Suspended(t *testing.T) {
	for _, restricted := range []string{"", "ncpus"} {
		w := newReleasing(t)
		if restricted != "" {
			w.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "restrict_res_to_release_on_suspend", Value: restricted}}}})
		}
		w.release("hostb", "hostc")
		w.confirm("hosta", nil)
		w.must(&SignalJob{Job: w.job, Signal: Suspend})
		w.confirm("hosta", nil)
		for v := range w.View().Vnodes() {
			if n, _ := v.Assigned.Get("ncpus"); n != "" && n != "0" {
				t.Errorf("%s has %s cpus assigned while the job is suspended", v.Name, n)
			}
		}
		if n, _ := w.View().AssignedToJobs().Get("ncpus"); n != "" {
			t.Errorf("%s cpus assigned to jobs", n)
		}
		if err := w.run(&ReleaseNodes{Job: w.job, Vnodes: []string{"hostb[0]"}}); pbs.CodeOf(err) != pbs.BadState {
			t.Errorf("while suspended: %v", err)
		}
		before := fmt.Sprint(w.View().AssignedToJobs())
		w.left("hostc")
		if now := fmt.Sprint(w.View().AssignedToJobs()); restricted == "" && now != before {
			t.Errorf("assigned %s, it was %s", now, before)
		}
		w.must(&SignalJob{Job: w.job, Signal: Resume})
		w.must(&SignalJob{Job: w.job, Signal: Resume, Scheduled: true})
		w.confirm("hosta", nil)
		w.want(strings.NewReplacer("hostb:mem=1048576kb:ncpus=1+", "", "+(hostc:ncpus=2:mem=2097152kb)", "").Replace(evOfJ1),
			"hosta[0] hosta[1] hosta[2] hostb hostb[0] hostb[1]", "6 4194304kb")
	}
}

// A job that has released vnodes and ends while it is suspended has what it kept until its hosts have
// confirmed that it is over, and then nothing.
func TestReleaseNodes_EndsSuspended(t *testing.T) {
	for _, restricted := range []string{"", "ncpus"} {
		for name, end := range map[string]Command{"qdel": &DeleteJob{}, "qrerun": &RerunJob{}} {
			w := newReleasing(t)
			if restricted != "" {
				w.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "restrict_res_to_release_on_suspend", Value: restricted}}}})
			}
			w.release("hostc")
			w.confirm("hosta", nil)
			w.must(&SignalJob{Job: w.job, Signal: Suspend})
			w.confirm("hosta", nil)
			assigned := func() (text string) {
				for v := range w.View().Vnodes() {
					text += fmt.Sprint(v.Name, v.Assigned)
				}
				return text
			}
			before := assigned()
			switch end := end.(type) {
			case *DeleteJob:
				end.Job = w.job
			case *RerunJob:
				end.Job = w.job
			}
			w.must(end)
			w.check()
			if now := assigned(); now != before {
				t.Errorf("%s, %q: assigned %s, it was %s", name, restricted, now, before)
			}
			for _, h := range []pbs.HostName{"hosta", "hostb", "hostc"} {
				w.must(&JobEnded{Source: w.fact(h), Job: w.job, RunCount: 1})
				w.check()
			}
			if busy := w.busy(); busy != "" || w.View().AssignedToJobs() != nil {
				t.Errorf("%s, %q: busy %s, assigned %v", name, restricted, busy, w.View().AssignedToJobs())
			}
		}
	}
}

// A released host that is given up has left the job; the job goes on.
func TestReleaseNodes_LostHost(t *testing.T) {
	w := newReleasing(t)
	w.release("hostc")
	w.confirm("hosta", nil)
	w.must(&HostDown{Host: "hostc"})
	if !strings.Contains(w.busy(), "hostc") {
		t.Error("freed by silence alone")
	}
	w.must(&ForgetHost{Host: "hostc"})
	w.check()
	if j := w.now(); j.State != pbs.Running || strings.Contains(w.busy(), "hostc") {
		t.Errorf("state %s on %s", j.State, w.busy())
	}
}

// A node that is set offline meanwhile is released as any other, and takes no job then.
func TestReleaseNodes_NodeOffline(t *testing.T) {
	w := newReleasing(t)
	w.release("hostc")
	w.must(&ManageVnode{Verb: VerbSet, Vnode: "hostc", Changes: []AttrChange{{Entry: attr.Entry{Name: "state", Value: "offline"}}}})
	w.confirm("hosta", nil)
	w.want(strings.Replace(evOfJ1, "+(hostc:ncpus=2:mem=2097152kb)", "", 1), allOfJ1, "8 6291456kb")
	w.left("hostc")
	w.looks(map[string][3]string{"hostc": {"offline", "", "0"}})
	if w.records() != "Suc" {
		t.Errorf("records %s", w.records())
	}
}

// A host is lost while its release is open: the run goes on without it if the release is done, and ends
// as it does with any host of its if that comes to nothing, unless the job bears it.
func TestReleaseNodes_LostHostOfOpenRelease(t *testing.T) {
	withdraw := func(w *releasing) {
		w.must(&WithdrawRelease{Job: w.job, RunCount: 1, Number: w.now().LastRun().Release.Number})
	}
	for name, test := range map[string]struct {
		answer  func(w *releasing)
		more    []attr.Entry
		runs    bool
		again   bool
		records string
	}{
		"done":              {func(w *releasing) { w.confirm("hosta", nil) }, nil, true, false, "Suc"},
		"withdrawn":         {withdraw, nil, false, true, "S"},
		"refused":           {func(w *releasing) { w.confirm("hosta", pbs.Refuse(pbs.SystemError)) }, nil, false, true, "S"},
		"withdrawn, once":   {withdraw, []attr.Entry{{Name: "Rerunable", Value: "False"}}, false, false, "S"},
		"withdrawn, bears":  {withdraw, []attr.Entry{{Name: "tolerate_node_failures", Value: "all"}}, true, false, "S"},
		"withdrawn, starts": {withdraw, []attr.Entry{{Name: "tolerate_node_failures", Value: "job_start"}}, false, true, "S"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newReleasing(t, test.more...)
			w.release("hostc")
			w.must(&HostDown{Host: "hostc"})
			w.must(&ForgetHost{Host: "hostc"})
			w.check()
			if j := w.now(); j.State != pbs.Running || j.LastRun().Release == nil || j.LastRun().Ending != 0 {
				t.Fatalf("state %s, ending %d, release %+v", j.State, j.LastRun().Ending, j.LastRun().Release)
			}
			test.answer(w)
			w.check()
			kills := 0
			for o := range w.View().Orders("hosta") {
				if o.Kind == state.OrderKill && o.Requeue == test.again {
					kills++
				}
			}
			j := w.now()
			if ends := kills == 1 && j.Comment == "Job ended, execution node hostc down"; ends == test.runs || j.LastRun().Release != nil || (j.State == pbs.Running) == test.again {
				t.Errorf("state %s, %q, %d orders to kill, release %+v", j.State, j.Comment, kills, j.LastRun().Release)
			}
			if again := j.LastRun().Ending == state.EndingRerun; again != test.again || w.records() != test.records {
				t.Errorf("it is ended %d, records %s", j.LastRun().Ending, w.records())
			}
		})
	}
}

// The end of the job ends what is held, and a release that is asked for comes to nothing.
func TestReleaseNodes_JobEndsMeanwhile(t *testing.T) {
	for name, end := range map[string]func(w *releasing){
		"exit":         func(w *releasing) { w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1}) },
		"qdel -Wforce": func(w *releasing) { w.must(&DeleteJob{Job: w.job, Force: true}) },
		"qdel": func(w *releasing) {
			w.must(&DeleteJob{Job: w.job})
			w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1})
		},
		"loss": func(w *releasing) {
			w.must(&HostDown{Host: "hosta"})
			w.must(&ForgetHost{Host: "hosta"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newReleasing(t)
			w.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "job_history_enable", Value: "True"}}}})
			w.release("hostb")
			w.confirm("hosta", nil)
			w.release("hostc")
			end(w)
			w.check()
			if w.busy() != "" {
				t.Errorf("the job is on %s", w.busy())
			}
			if j := w.now(); len(j.Refused) != 1 || j.LastRun().Release != nil {
				t.Errorf("%+v %v", j.LastRun().Release, j.Refused)
			}
		})
	}
}

// It is in the records of a stage-out that was over before anybody could be asked, too.
func TestReleaseNodes_OnShortStageOut(t *testing.T) {
	for _, asked := range []bool{false, true} {
		w := newReleasing(t, attr.Entry{Name: "release_nodes_on_stageout", Value: "True"}, attr.Entry{Name: "stageout", Value: "a@hostb:a"})
		if asked {
			w.must(&JobExiting{Source: w.fact("hosta"), Job: w.job, RunCount: 1})
		}
		w.left("hostb")
		w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1, StageoutStatus: 1})
		w.check()
		var kinds []state.OrderKind
		for o := range w.View().Orders("hosta") {
			kinds = append(kinds, o.Kind)
		}
		if fmt.Sprint(kinds) != fmt.Sprint([]state.OrderKind{state.OrderForget}) {
			t.Errorf("open orders of kinds %v", kinds)
		}
		if w.records() != "SuceE" || w.busy() != "" {
			t.Errorf("asked %v: records %s, on %s", asked, w.records(), w.busy())
		}
	}
}

// -a is done at the stage-out of a job that asked for it, once.
func TestReleaseNodes_OnStageOut(t *testing.T) {
	for _, c := range []struct{ wanted, staged, want string }{
		{"True", "a@hostb:a", "Suc"}, {"False", "a@hostb:a", "S"}, {"", "a@hostb:a", "S"}, {"True", "", "S"},
	} {
		var more []attr.Entry
		if c.wanted != "" {
			more = append(more, attr.Entry{Name: "release_nodes_on_stageout", Value: c.wanted})
		}
		if c.staged != "" {
			more = append(more, attr.Entry{Name: "stageout", Value: c.staged})
		}
		w := newReleasing(t, more...)
		w.must(&JobExiting{Source: w.fact("hosta"), Job: w.job, RunCount: 1})
		w.confirm("hosta", nil)
		if w.records() != c.want {
			t.Errorf("%+v: records %s", c, w.records())
		}
	}
}
