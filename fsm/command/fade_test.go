package command

import (
	"slices"
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// fading is a host with 911 MB of tmp.
func newFading(t *testing.T, restricted string) *suspending {
	w := newSuspending(t, restricted)
	w.must(&HostUp{Host: "h", Address: "h:1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "h", Available: resource.List{
		{Name: "mem", Value: "2gb"}, {Name: "ncpus", Value: "4"}, {Name: "tmp", Value: "911mb"},
	}}}})
	return w
}

// holding starts a job with a requirement.
func (w *suspending) holding(requirement, items string) pbs.JobID {
	w.t.Helper()
	id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", "1:"+items).Set("lsf_resreq", "", requirement)})
	w.must(&StartJob{Job: id, ExecVnode: "(h:" + items + ")"})
	w.facts++
	w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 1, Session: 7})
	return id
}

// after moves the log's clock on.
func (w *suspending) after(seconds int) {
	w.at += pbs.Time(seconds) * pbs.Time(time.Second)
	w.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "comment", Value: "x"}}}})
	if err := w.View().Check(); err != nil {
		w.t.Error(err)
	}
}

// tmp returns what is in use of the host's tmp, in the order in which it is asked.
func (w *suspending) tmp() string {
	vn, _ := w.View().Vnode("h")
	used, _ := w.View().InUse(vn).Get("tmp")
	def, _ := resource.Lookup("tmp")
	return def.Measured(def.Measure(used))
}

// RSV-14, RSV-15: what is held becomes less, others are given the rest, and nothing is given back twice at the end.
func TestFade(t *testing.T) {
	for _, c := range []struct {
		decay string
		at    []int
		want  []string
	}{
		{"1", []int{0, 60, 600, 930, 1740, 1800}, []string{"30720kb", "29696kb", "20480kb", "14848kb", "1024kb", "0kb"}},
		{"0", []int{0, 1799, 1800}, []string{"30720kb", "30720kb", "0kb"}},
	} {
		w := newFading(t, "")
		id := w.holding("rusage[tmp=30:duration=30:decay="+c.decay+"]", "ncpus=1:tmp=30mb")
		passed := 0
		for i, at := range c.at {
			w.after(at - passed)
			passed = at
			if got := w.tmp(); got != c.want[i] {
				t.Errorf("decay=%s: after %d s %s, want %s", c.decay, at, got, c.want[i])
			}
		}
		other := w.holding("rusage[tmp=911]", "ncpus=1:tmp=911mb") // all of the host: the first holds nothing
		if err := w.View().Check(); err != nil {
			t.Error(err)
		}
		w.must(&DeleteJob{Job: id, Force: true})
		if got := w.tmp(); got != "932864kb" {
			t.Errorf("decay=%s: the first is gone, and %s is in use", c.decay, got)
		}
		w.must(&DeleteJob{Job: other, Force: true})
		if got := w.tmp(); got != "0kb" {
			t.Errorf("decay=%s: both are gone, and %s is in use", c.decay, got)
		}
		if w.View().Fades() {
			t.Error("something becomes less of what nobody has")
		}
	}
}

// A start that needs what is held no more is refused before, and not after.
func TestFade_Starts(t *testing.T) {
	w := newFading(t, "")
	w.holding("rusage[tmp=100:duration=10]", "ncpus=1:tmp=100mb")
	next := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", "1:ncpus=1:tmp=900mb")})
	start := &StartJob{Job: next, ExecVnode: "(h:ncpus=1:tmp=900mb)"}
	w.after(598)
	if err := w.run(start); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("before: %v", err)
	}
	w.after(2)
	w.must(start)
}

// RSV-18: while a run is suspended its time stands still; what it holds then it needs back, and no more.
func TestFade_Suspended(t *testing.T) {
	for _, restricted := range []string{"ncpus", ""} {
		w := newFading(t, restricted)
		id := w.holding("rusage[tmp=30:duration=30:decay=1]", "ncpus=1:tmp=30mb")
		w.after(600)
		if err := w.signal(id, Suspend); err != nil {
			t.Fatal(err)
		}
		held := "20480kb"
		if restricted == "" {
			held = "0kb"
			w.holding("rusage[tmp=891]", "ncpus=1:tmp=891mb") // 20 MB are left
		}
		used := func(want string) {
			t.Helper()
			got := w.tmp()
			if restricted == "" {
				vn, _ := w.View().Vnode("h")
				now, _ := w.View().InUse(vn).Get("tmp")
				left, _ := resource.Sub(resource.List{{Name: "tmp", Value: now}}, resource.List{{Name: "tmp", Value: "891mb"}}, w.View())
				got, _ = left.Get("tmp")
			}
			if got != want {
				t.Errorf("released %q: %s, want %s", restricted, got, want)
			}
		}
		used(held)
		w.after(600)
		used(held)
		if err := w.signal(id, Resume); err != nil {
			t.Fatal(err)
		}
		used("20480kb")
		w.after(600)
		used("10240kb")
		w.after(600)
		used("0kb")
	}
}

// A view of a later time has what is held then: of the vnode, its jobs, the queue and the server.
func TestFade_View(t *testing.T) {
	w := newFading(t, "")
	id := w.holding("rusage[tmp=30:duration=30:decay=1]", "ncpus=1:tmp=30mb")
	start, _ := w.View().Job(id)
	later := w.View().At(start.Started+600*pbs.Time(time.Second), nil)
	vn, _ := later.Vnode("h")
	if used, _ := vn.Assigned.Get("tmp"); used != "20480kb" {
		t.Errorf("assigned: %s", used)
	}
	for name, list := range map[string]attr.List{"vnode": later.VnodeAttributes(vn), "server": later.ServerAttributes()} {
		if !slices.Contains(list, attr.Entry{Name: "resources_assigned", Resource: "tmp", Value: "20480kb"}) {
			t.Errorf("%s: %v", name, list)
		}
	}
	again := w.View().At(start.Started+600*pbs.Time(time.Second), later.Presents())
	if same, _ := again.Vnode("h"); same != vn {
		t.Error("the same holdings have another record")
	}
	if w.View().At(start.Started, nil) == w.View() {
		t.Error("a view of which amounts become less is its own")
	}
}

// What several hosts share, what a section Limit bounds and what runs in a reservation is held to the end; and so it is where the terms of a
// compound requirement say different things.
func TestFades(t *testing.T) {
	w := newFading(t, "")
	for text, want := range map[string][]state.Fade{
		"rusage[tmp=30:duration=30:decay=1]":                        {{Resource: "tmp", Duration: 1800, Decay: true}},
		"rusage[tmp=30]":                                            nil,
		"rusage[tmp=30,mem=10:duration=20s]":                        {{Resource: "mem", Duration: 20}},
		"rusage[r1m=1:duration=30]":                                 {{Resource: "r1m", Duration: 1800}}, // RSV-20
		"rusage[it=1:duration=30]":                                  nil,
		"1*{rusage[tmp=1:duration=5]}+1*{rusage[tmp=2:duration=5]}": {{Resource: "tmp", Duration: 300}},
		"1*{rusage[tmp=1:duration=5]}+1*{rusage[tmp=2:duration=6]}": nil,
		"1*{rusage[tmp=1:duration=5:mem=3]}":                        nil,
		"1*{rusage[tmp=1:duration=5]}+1*{rusage[mem=2]}":            {{Resource: "tmp", Duration: 300}},
	} {
		id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", "1:ncpus=1").Set("lsf_resreq", "", text)})
		w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=1)"})
		j, _ := w.View().Job(id)
		got := j.LastRun().Fades
		if len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		w.must(&DeleteJob{Job: id, Force: true})
	}
}

// A job that starts gets one of its alternatives, and has the choice again when it is queued again (specification: reservation section 2.8).
func TestChoose(t *testing.T) {
	w := newFading(t, "")
	id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	const alternatives = "1:ncpus=1:mem=20mb || 1:ncpus=1:mem=10mb:tmp=20mb"
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", "1:ncpus=1:mem=20mb").
		Set("lsf_resreq", "", "rusage[mem=20||mem=10:tmp=20:duration=5]").Set("lsf_alternatives", "", alternatives)})
	if err := w.run(&StartJob{Job: id, ExecVnode: "(h:ncpus=1:mem=10mb)", Choice: 2}); pbs.CodeOf(err) != pbs.InvalidRequest {
		t.Errorf("a third one: %v", err)
	}
	look := func(sel, mem, tmp, effective string) {
		t.Helper()
		v := w.View()
		j, _ := v.Job(id)
		got := [4]string{v.JobAttribute(j, "Resource_List", "select"), v.JobAttribute(j, "Resource_List", "mem"), v.JobAttribute(j, "Resource_List", "tmp"), v.JobAttribute(j, "lsf_effective", "")}
		if want := [4]string{sel, mem, tmp, effective}; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if err := v.Check(); err != nil {
			t.Error(err)
		}
	}
	look("1:ncpus=1:mem=20mb", "20mb", "", "")
	j, _ := w.View().Job(id)
	if err := w.run(&StartJob{Job: id, ExecVnode: "(h:ncpus=1:mem=10mb:tmp=20mb)", Choice: 1, Select: j.SchedSelect, More: j.More() + "x"}); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("placed when it had other alternatives: %v", err)
	}
	if err := w.run(&StartJob{Job: id, ExecVnode: "(h:ncpus=1:mem=10mb:tmp=20mb)", Choice: 1, Select: j.SchedSelect}); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("placed when it had none: %v", err)
	}
	w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=1:mem=10mb:tmp=20mb)", Choice: 1, More: j.More()})
	look("1:ncpus=1:mem=10mb:tmp=20mb", "10mb", "20mb", "rusage[mem=10:tmp=20:duration=5]")
	if j, _ := w.View().Job(id); len(j.LastRun().Fades) != 2 {
		t.Errorf("it holds for a time %v", j.LastRun().Fades)
	}
	w.facts++
	w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 1, Session: 7})
	w.must(&RerunJob{Job: id})
	w.facts++
	w.must(&JobEnded{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 1})
	look("1:ncpus=1:mem=20mb", "20mb", "", "")
}

// A job that is queued again when its first alternative cannot be had any more asks for what it ran with.
func TestChoose_FirstIsGone(t *testing.T) {
	w := newFading(t, "")
	id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", "1:ncpus=1:mem=20mb").
		Set("lsf_resreq", "", "rusage[mem=20||mem=10]").Set("lsf_alternatives", "", "1:ncpus=1:mem=20mb || 1:ncpus=1:mem=10mb")})
	w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=1:mem=10mb)", Choice: 1})
	tx := w.Tx()
	ran, _ := tx.Job(id)
	gone := *ran
	gone.Attrs = ran.Attrs.Set("lsf_alternatives", "", "1:nosuch=1 || 1:ncpus=1:mem=10mb")
	tx.PutJob(&gone)
	w.Commit(tx)
	w.facts++
	w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 1, Session: 7})
	w.must(&RerunJob{Job: id})
	w.facts++
	w.must(&JobEnded{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 1})
	v := w.View()
	j, _ := v.Job(id)
	if sel, more := v.JobAttribute(j, "Resource_List", "select"), j.More(); j.State != pbs.Queued || sel != "1:ncpus=1:mem=10mb" || more != "" {
		t.Errorf("%c, select %q, more %q", j.State, sel, more)
	}
}
