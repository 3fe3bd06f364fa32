package command

import (
	"fmt"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// sickBench returns the writer of a cluster with the hosts a and b, of nine cpus each, and nine jobs.
func sickBench(t *testing.T) *writer {
	w := newWriter(t)
	for _, host := range []pbs.HostName{"a", "b"} {
		w.must(&HostUp{Host: host, SpoolID: "s", Vnodes: []ReportedVnode{{
			Name: pbs.VnodeName(host), Available: resource.List{{Name: "ncpus", Value: "9"}},
		}}})
	}
	for range 9 {
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}})
	}
	return w
}

// refused starts a job on a host that cannot save it.
func (w *writer) refused(job pbs.JobID, host pbs.HostName) *state.Job {
	w.must(&StartJob{Job: job, ExecVnode: fmt.Sprintf("(%s:ncpus=1)", host)})
	h, _ := w.View().Host(host)
	w.must(&OrderConfirmed{Host: host, Order: h.NextOrder, Refusal: pbs.Errorf(pbs.SystemError, "cannot save job: no space left on device")})
	j, _ := w.View().Job(job)
	return j
}

func nth(n int) pbs.JobID { return pbs.JobID(fmt.Sprintf("%d.srv", n)) }

// Three starts in a row that fail through a host make it sick; it takes jobs again when its mom has
// proved that it is well, and not before. What one start failed for, another job's start forgives.
func TestBlame_SickHost(t *testing.T) {
	w := sickBench(t)
	w.refused(nth(0), "a")
	w.refused(nth(1), "a")
	w.must(&StartJob{Job: nth(2), ExecVnode: "(a:ncpus=1)"})
	w.must(&JobStarted{Source: Source{"a", "s", 1}, Job: nth(2), RunCount: 1, Session: 7})
	for n := 3; n < 6; n++ {
		if v, _ := w.View().Vnode("a"); v.State() != "free" {
			t.Fatalf("before job %d: %s", n, v.State())
		}
		if j := w.refused(nth(n), "a"); j.State != pbs.Queued || j.FailedRuns != 0 || len(j.Avoid) != 1 || j.Avoid[0] != "a" {
			t.Errorf("job %d: %s, %d failed runs, avoids %v", n, j.State, j.FailedRuns, j.Avoid)
		}
	}
	sick := func(want string, words ...string) {
		t.Helper()
		v, _ := w.View().Vnode("a")
		h, _ := w.View().Host("a")
		comment := h.Ailment()
		if v.State() != want || want == "free" && comment != "" {
			t.Errorf("state %s, comment %q, want %s", v.State(), comment, want)
		}
		for _, word := range words {
			if !strings.Contains(comment, word) {
				t.Errorf("comment %q: no %q", comment, word)
			}
		}
	}
	sick("down", "3 starts in a row failed", "no space left on device")
	if j, _ := w.View().Job(nth(2)); j.State != pbs.Running {
		t.Errorf("the job that ran there: %s", j.State)
	}
	h, _ := w.View().Host("a")
	w.must(&HostTrouble{Host: "a", Proved: h.SickSince - 1})
	w.must(&HostUp{Host: "a", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a", Available: resource.List{{Name: "ncpus", Value: "9"}}}}})
	sick("down", "3 starts in a row failed")
	w.must(&HostTrouble{Host: "a", Text: "the spool cannot be written", Proved: h.SickSince})
	sick("down", "the spool cannot be written")
	w.must(&HostTrouble{Host: "a"})
	sick("free")
	if h, _ := w.View().Host("a"); h.Relapses != 1 || h.Fails != 0 {
		t.Errorf("%d relapses, %d failed starts", h.Relapses, h.Fails)
	}
}

// A job that fails wherever it is tried does not take one host after the other out of service, and
// is tried ever later.
func TestBlame_JobThatFailsEverywhere(t *testing.T) {
	w := sickBench(t)
	for _, host := range []pbs.HostName{"c", "d", "e", "f", "g"} {
		w.must(&HostUp{Host: host, SpoolID: "s", Vnodes: []ReportedVnode{{Name: pbs.VnodeName(host), Available: resource.List{{Name: "ncpus", Value: "9"}}}}})
	}
	failed := []uint32{0, 0, 0, 1, 2, 3, 4, 5}
	for i, host := range []pbs.HostName{"a", "b", "c", "d", "e", "a", "a", "a"} {
		if j := w.refused("0.srv", host); uint32(j.FailedRuns) != failed[i] {
			t.Errorf("after %d starts: %d failed runs, want %d", i+1, j.FailedRuns, failed[i])
		}
	}
	for h := range w.View().Hosts() {
		if h.Fails > 1 || h.Sick != "" {
			t.Errorf("%s: %d failed starts, sick %q", h.Name, h.Fails, h.Sick)
		}
	}
}

// A run that its mom gives back is queued again, and the host is blamed; the fact of its end, when
// it comes, is that of an earlier run. One that has started, or another run, is left alone.
func TestHostTrouble_GivesRunsBack(t *testing.T) {
	w := sickBench(t)
	w.must(&StartJob{Job: "0.srv", ExecVnode: "(a:ncpus=1)"})
	w.must(&StartJob{Job: "1.srv", ExecVnode: "(a:ncpus=1)"})
	w.must(&JobStarted{Source: Source{"a", "s", 1}, Job: "1.srv", RunCount: 1, Session: 7})
	give := &HostTrouble{Host: "a", Text: "the spool cannot be written", Unstarted: []UnstartedRun{
		{Job: "0.srv", RunCount: 1, Reason: "no space"}, {Job: "1.srv", RunCount: 1}, {Job: "2.srv", RunCount: 1},
	}}
	for range 2 {
		w.must(give)
		j, _ := w.View().Job("0.srv")
		one, _ := w.View().Job("1.srv")
		if j.State != pbs.Queued || len(j.Avoid) != 1 || len(j.Unconfirmed) != 0 || one.State != pbs.Running {
			t.Fatalf("0.srv %s, avoids %v, unconfirmed %v; 1.srv %s", j.State, j.Avoid, j.Unconfirmed, one.State)
		}
	}
	w.must(&StartJob{Job: "0.srv", ExecVnode: "(b:ncpus=1)"})
	w.must(&JobEnded{Source: Source{"a", "s", 2}, Job: "0.srv", RunCount: 1, ExitStatus: -3, NeverStarted: true, Fault: "a"})
	if j, _ := w.View().Job("0.srv"); j.State != pbs.Running || j.LastRun().MS != "b" {
		t.Errorf("after the fact: %s at %s", j.State, j.LastRun().MS)
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}

// A large array that fails wherever it is tried is one job in that: it takes no more hosts out of service than one. Those that
// have failed it all its subjobs avoid, until one starts there or the array is released.
func TestBlame_Array(t *testing.T) {
	w := sickBench(t)
	for _, host := range []pbs.HostName{"c", "d", "e", "f"} {
		w.must(&HostUp{Host: host, SpoolID: "s", Vnodes: []ReportedVnode{{Name: pbs.VnodeName(host), Available: resource.List{{Name: "ncpus", Value: "99"}}}}})
	}
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: attr.List{}.Set("array_indices_submitted", "", "0-49")})
	sub := 0
	for _, host := range []pbs.HostName{"a", "b", "c", "d", "e", "f"} {
		for range 3 {
			w.refused(pbs.JobID("9[].srv").Subjob(uint32(sub)), host)
			sub++
		}
	}
	sick := ""
	for h := range w.View().Hosts() {
		if h.Sick != "" {
			sick += string(h.Name)
		}
	}
	avoided := func() string {
		array, _ := w.View().Job("9[].srv")
		return fmt.Sprint(array.Avoid)
	}
	if sick != "ab" || avoided() != "[a b c d e f]" {
		t.Errorf("sick are %q, it avoids %s", sick, avoided())
	}
	w.must(&StartJob{Job: "9[40].srv", ExecVnode: "(d:ncpus=1)"})
	w.must(&JobStarted{Source: Source{"d", "s", 1}, Job: "9[40].srv", RunCount: 1, Session: 7})
	if avoided() != "[a b c e f]" {
		t.Errorf("after a start on d it avoids %s", avoided())
	}
	w.must(&HoldJob{Job: "9[].srv", Holds: pbs.HoldUser})
	w.must(&ReleaseJob{Job: "9[].srv", Holds: pbs.HoldUser})
	if j, _ := w.View().Job("9[0].srv"); avoided() != "[]" || len(j.Avoid) != 0 {
		t.Errorf("released it avoids %s, and a subjob %v", avoided(), j.Avoid)
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}

// A release forgives what a job was refused for.
func TestReleaseJob_ForgetsWhomToAvoid(t *testing.T) {
	w := sickBench(t)
	w.refused("0.srv", "a")
	w.must(&HoldJob{Job: "0.srv", Holds: pbs.HoldUser})
	w.must(&ReleaseJob{Job: "0.srv", Holds: pbs.HoldUser})
	if j, _ := w.View().Job("0.srv"); len(j.Avoid) != 0 {
		t.Errorf("it avoids %v", j.Avoid)
	}
}
