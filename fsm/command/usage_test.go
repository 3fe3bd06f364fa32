package command

import (
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// reserves has a job that runs reserve what a requirement, and the select that is made of it, say.
func (w *suspending) reserves(id pbs.JobID, requirement, selected string, more ...AttrChange) error {
	err := w.run(&AlterJob{Job: id, Usage: true, Changes: append([]AttrChange{
		{Entry: attr.Entry{Name: "lsf_resreq", Value: requirement}}, {Entry: attr.Entry{Name: "Resource_List", Resource: "select", Value: selected}},
	}, more...)})
	if err := w.View().Check(); err != nil {
		w.t.Error(err)
	}
	return err
}

// has returns what a job has of its vnodes and in all.
func (w *suspending) has(id pbs.JobID) string {
	j, _ := w.View().Job(id)
	var words []string
	for _, name := range []string{"mem", "tmp"} {
		if n, ok := j.Resources.Get(name); ok {
			words = append(words, name+"="+n)
		}
	}
	return strings.Join(append(words, j.SchedSelect, j.LastRun().ExecVnode.String()), " ")
}

// What a job that runs reserves it holds from the change on, more or less than before; what is not there is refused, and changes nothing
// (L3).
func TestUsage(t *testing.T) {
	w := newFading(t, "")
	id := w.holding("rusage[tmp=30]", "ncpus=1:tmp=30mb")
	w.holding("rusage[tmp=800]", "ncpus=1:tmp=819200kb")
	for _, c := range []struct{ requirement, selected, refused, used, has string }{
		{"rusage[tmp=111]", "1:ncpus=1:tmp=111mb", "", "932864kb", "tmp=111mb 1:ncpus=1:tmp=111mb (h:ncpus=1:tmp=113664kb)"},
		{"rusage[tmp=112]", "1:ncpus=1:tmp=112mb", "Job requirements for reserving resource (tmp) not satisfied: h", "932864kb", "tmp=111mb 1:ncpus=1:tmp=111mb (h:ncpus=1:tmp=113664kb)"},
		{"rusage[tmp=5:mem=10]", "1:ncpus=1:tmp=5mb:mem=10mb", "", "824320kb", "mem=10mb tmp=5mb 1:ncpus=1:tmp=5mb:mem=10mb (h:ncpus=1:tmp=5120kb:mem=10240kb)"},
		{"rusage[swp=5]", "1:ncpus=1:swp=5mb", "Job requirements for reserving resource (swp) not satisfied: h", "824320kb", "mem=10mb tmp=5mb 1:ncpus=1:tmp=5mb:mem=10mb (h:ncpus=1:tmp=5120kb:mem=10240kb)"},
		{"rusage[tmp=5]", "1:ncpus=2:tmp=5mb", "Cannot modify attribute while job running  lsf_resreq", "824320kb", "mem=10mb tmp=5mb 1:ncpus=1:tmp=5mb:mem=10mb (h:ncpus=1:tmp=5120kb:mem=10240kb)"},
		{"rusage[tmp=5]", "2:ncpus=1:tmp=5mb", "Cannot modify attribute while job running  lsf_resreq", "824320kb", "mem=10mb tmp=5mb 1:ncpus=1:tmp=5mb:mem=10mb (h:ncpus=1:tmp=5120kb:mem=10240kb)"},
		{"type==any", "1:ncpus=1", "", "819200kb", "1:ncpus=1 (h:ncpus=1)"},
		{"rusage[tmp=1]", "1:ncpus=1:tmp=1mb", "", "820224kb", "tmp=1mb 1:ncpus=1:tmp=1mb (h:ncpus=1:tmp=1024kb)"},
	} {
		refused := ""
		if err := w.reserves(id, c.requirement, c.selected); err != nil {
			refused = err.Error()
		}
		if refused != c.refused || w.tmp() != c.used || w.has(id) != c.has {
			t.Errorf("%s: %q, %s, %s; want %q, %s, %s", c.requirement, refused, w.tmp(), w.has(id), c.refused, c.used, c.has)
		}
	}
	var told *state.Order
	for o := range w.View().Orders("h") {
		if o.Kind == state.OrderRelease && o.Job == id {
			told = o
		}
	}
	if told == nil || told.Step != state.ReleaseDone {
		t.Errorf("the mom is told %+v", told)
	}
	if err := w.signal(id, Suspend); err != nil {
		t.Fatal(err)
	}
	if err := w.reserves(id, "rusage[tmp=2]", "1:ncpus=1:tmp=2mb"); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("suspended: %v", err)
	}
}

// The new duration counts from the beginning of the run; what others have got of what was held no more they keep.
func TestUsage_Fades(t *testing.T) {
	w := newFading(t, "")
	id := w.holding("rusage[tmp=600:duration=20:decay=1]", "ncpus=1:tmp=600mb")
	w.after(600)
	w.holding("rusage[tmp=600]", "ncpus=1:tmp=614400kb") // half of the first one's are free
	if err := w.reserves(id, "rusage[tmp=600]", "1:ncpus=1:tmp=600mb"); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("for good: %v", err)
	}
	if err := w.reserves(id, "rusage[tmp=300]", "1:ncpus=1:tmp=300mb"); err != nil {
		t.Error(err)
	}
	if got := w.tmp(); got != "921600kb" {
		t.Errorf("for good: %s", got)
	}
	w.after(600)
	if got := w.tmp(); got != "921600kb" {
		t.Errorf("for good, later: %s", got)
	}
	if err := w.reserves(id, "rusage[tmp=300:duration=40:decay=1]", "1:ncpus=1:tmp=300mb"); err != nil {
		t.Error(err)
	}
	if got := w.tmp(); got != "768000kb" {
		t.Errorf("half of it is over: %s", got)
	}
}

// Each host gives once what is not for each slot; what a chunk has of several vnodes the first ones give, as far as they can.
func TestUsage_Places(t *testing.T) {
	w := newSuspending(t, "")
	offer := resource.List{{Name: "mem", Value: "1gb"}, {Name: "ncpus", Value: "4"}}
	w.must(&HostUp{Host: "k", Address: "k:1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "k", Available: offer}}})
	id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", "4:ncpus=1:mem=100mb+1:ncpus=2").
		Set("lsf_resreq", "", "rusage[mem=100]").Set("lsf_layout", "", "1:once=mem 2")})
	w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=1:mem=102400kb)+(h:ncpus=1)+(k:ncpus=1:mem=102400kb)+(k:ncpus=1)+(h:ncpus=1+h[1]:ncpus=1)"})
	w.facts++
	w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 1, Session: 7})
	layout := AttrChange{Entry: attr.Entry{Name: "lsf_layout", Value: "1:once=mem 2"}}
	if err := w.reserves(id, "rusage[mem=50]", "4:ncpus=1:mem=50mb+1:ncpus=2:mem=3gb", layout); err != nil {
		t.Fatal(err)
	}
	j, _ := w.View().Job(id)
	const want = "(h:ncpus=1:mem=51200kb)+(h:ncpus=1)+(k:ncpus=1:mem=51200kb)+(k:ncpus=1)+(h:ncpus=1:mem=2045952kb+h[1]:ncpus=1:mem=1099776kb)"
	if got := j.LastRun().ExecVnode.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := w.reserves(id, "rusage[mem=50]", "4:ncpus=1:mem=50mb+1:ncpus=2:mem=5gb", layout); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("more than both vnodes have: %v", err)
	}
}

// What several vnodes share of one of them is counted once, and what one gives back another may get.
func TestUsage_Indirect(t *testing.T) {
	w := newSharing(t)
	id := w.started("1:ncpus=1:lic=1+1:ncpus=1:lic=1", "(h[1]:ncpus=1:lic=1)+(h[2]:ncpus=1:lic=1)")
	for _, c := range []struct {
		selected string
		code     pbs.Code
		want     string
	}{
		{"1:ncpus=1:lic=2+1:ncpus=1:lic=2", 0, "4 @h @h"},
		{"1:ncpus=1:lic=3+1:ncpus=1:lic=2", pbs.ResourceBusy, "4 @h @h"},
		{"1:ncpus=1:lic=3+1:ncpus=1:lic=1", 0, "4 @h @h"},
		{"1:ncpus=1+1:ncpus=1:lic=4", 0, "4 @h @h"},
		{"1:ncpus=1:lic=1+1:ncpus=1:lic=1", 0, "2 @h @h"},
	} {
		if err := w.reserves(id, "rusage[lic=1]", c.selected); (err != nil) != (c.code != 0) || err != nil && pbs.CodeOf(err) != c.code {
			t.Errorf("%s: %v", c.selected, err)
		}
		w.wantLics(c.selected, c.want)
	}
}

// A checkpoint goes on counting when the run reserves other amounts, also of a run that goes on from one: the next one has these, on its hosts.
func TestUsage_Checkpoint(t *testing.T) {
	w := newSpread(t)
	offer := resource.List{{Name: "mem", Value: "1gb"}, {Name: "ncpus", Value: "4"}}
	w.must(&HostUp{Host: "g", Address: "g:1", BootID: "b", SpoolID: "sg", Vnodes: []ReportedVnode{{Name: "g", Available: offer}}})
	id := w.started("2:ncpus=1:mem=100mb", "(h:ncpus=1:mem=100mb)+(g:ncpus=1:mem=100mb)")
	w.made(id, 1)
	lost := func(run pbs.RunCount, amount string) {
		t.Helper()
		if got := w.discards(); len(got) > 0 {
			t.Errorf("%s drop a good checkpoint", got)
		}
		w.ended(JobEnded{Job: id, RunCount: run, ExitStatus: -4, Lost: true})
		w.left("g", id, run, uint64(run))
		w.expect(id, "Q n 1:ncpus=1:mem="+amount+":host=h+1:ncpus=1:mem="+amount+":host=g")
		if j, _ := w.View().Job(id); !j.Checkpointed() || j.Checkpoint.Select != "2:ncpus=1:mem="+amount {
			t.Errorf("it goes on from %+v", j.Checkpoint)
		}
	}
	if err := w.reserves(id, "rusage[mem=50]", "2:ncpus=1:mem=50mb"); err != nil {
		t.Fatal(err)
	}
	w.expect(id, "R n 2:ncpus=1:mem=50mb")
	lost(1, "50mb")
	w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=1:mem=50mb)+(g:ncpus=1:mem=50mb)"})
	w.facts++
	w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 2, Session: 8})
	if err := w.reserves(id, "rusage[mem=70]", "2:ncpus=1:mem=70mb"); err != nil {
		t.Fatal(err)
	}
	w.expect(id, "R n 1:ncpus=1:mem=70mb:host=h+1:ncpus=1:mem=70mb:host=g")
	lost(2, "70mb")
}
