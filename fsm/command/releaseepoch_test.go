package command

import (
	"io"
	"slices"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// stepsOf returns the open orders about releases of a host, and the number of the last.
func (w *releasing) stepsOf(host pbs.HostName) (steps []state.ReleaseStep, last uint64) {
	for o := range w.View().Orders(host) {
		if o.Kind == state.OrderRelease {
			steps, last = append(steps, o.Step), o.Number
		}
	}
	return steps, last
}

// A state that goes on without what was acknowledged last may not know how far a release is with its
// mother superior: what is open is asked again, and what follows has a number above any that she may
// have seen.
func TestReleaseNodes_GoesOnInANewEpoch(t *testing.T) {
	begin := map[string]func(w *releasing){
		"recovered": func(w *releasing) { w.must(&NewEpoch{Epoch: 99, Skip: EpochSkip, Cause: "recovered"}) },
		"restored": func(w *releasing) {
			file := w.View()
			w.must(&StagePart{Key: "k", Data: []byte("the file")})
			w.must(&Restore{Key: "k", Parts: 1, Epoch: 99, read: func(io.Reader) (*state.Store, error) { return file.Copy(), nil }})
		},
	}
	for name, anew := range begin {
		t.Run(name, func(t *testing.T) {
			w := newReleasing(t)
			w.release("hostb[0]", "hostb[1]", "hostc")
			anew(w)
			w.check()
			if steps, last := w.stepsOf("hosta"); !slices.Equal(steps, []state.ReleaseStep{state.ReleaseAsked}) || last != 1 {
				t.Fatalf("open orders %v, the last has number %d", steps, last)
			}
			w.confirm("hosta", nil)
			if steps, last := w.stepsOf("hosta"); !slices.Equal(steps, []state.ReleaseStep{state.ReleaseDone}) || last <= EpochSkip {
				t.Errorf("open orders %v, the last has number %d", steps, last)
			}
			if open, err := w.now().ReleaseOutcome(1); open || err != nil {
				t.Errorf("open %v, %v", open, err)
			}
			w.confirm("hosta", nil)
			w.left("hostc")
			w.want(evOfJ1[:len(evOfJ1)-len("+(hostb:mem=1048576kb:ncpus=1+hostb[0]:mem=1048576kb:ncpus=1+hostb[1]:ncpus=1)+(hostc:ncpus=2:mem=2097152kb)")]+"+(hostb:mem=1048576kb:ncpus=1)",
				"hosta[0] hosta[1] hosta[2] hostb hostb[0] hostb[1]", "6 4194304kb")
			if w.records() != "Suc" {
				t.Errorf("records %s", w.records())
			}
		})
	}
}

// A run that is over by the time its state is put back takes its open release along.
func TestReleaseNodes_RestoredAfterTheRun(t *testing.T) {
	w := newReleasing(t)
	w.release("hostc")
	file := w.View()
	w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1})
	w.must(&StagePart{Key: "k", Data: []byte("the file")})
	w.must(&Restore{Key: "k", Parts: 1, Epoch: 99, read: func(io.Reader) (*state.Store, error) { return file.Copy(), nil }})
	w.check()
	j := w.now()
	if _, err := j.ReleaseOutcome(1); j.State != pbs.Queued || j.LastRun().Release != nil || pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("the job is %s, release %+v, %v", j.State, j.LastRun().Release, err)
	}
	if steps, _ := w.stepsOf("hosta"); len(steps) > 0 {
		t.Errorf("open orders %v", steps)
	}
}

// The part on a host that is about to be released is over: the run goes on without, as its mother
// superior sees it, too.
func TestReleaseNodes_HostOfAnOpenReleaseIsLost(t *testing.T) {
	for name, lose := range map[string]func(w *releasing){
		"its mom knows of no run": func(w *releasing) {
			w.must(&NewEpoch{Epoch: 99, Skip: EpochSkip})
			w.must(&HostUp{Host: "hostc", Address: "hostc:1", BootID: "b", SpoolID: "s", Epoch: 1, For: 99, Vnodes: []ReportedVnode{
				{Name: "hostc", Available: resource.List{{Name: "mem", Value: "2gb"}, {Name: "ncpus", Value: "2"}}},
			}})
		},
		"it was given up": func(w *releasing) {
			w.must(&HostDown{Host: "hostc"})
			w.must(&ForgetHost{Host: "hostc"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newReleasing(t)
			w.release("hostc")
			lose(w)
			w.check()
			if j := w.now(); j.State != pbs.Running || j.LastRun().Release == nil {
				t.Fatalf("the job is %s, release %+v", j.State, j.LastRun().Release)
			}
			w.confirm("hosta", nil)
			w.want(evOfJ1[:len(evOfJ1)-len("+(hostc:ncpus=2:mem=2097152kb)")], "hosta[0] hosta[1] hosta[2] hostb hostb[0] hostb[1]", "6 4194304kb")
		})
	}
}
