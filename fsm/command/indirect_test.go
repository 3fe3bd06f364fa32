package command

import (
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// newSharing is a state with three vnodes of a host, of which h has licences that the others
// share.
func newSharing(t *testing.T) *suspending {
	w := newSuspending(t, "")
	offer := resource.List{{Name: "mem", Value: "2gb"}, {Name: "ncpus", Value: "4"}}
	w.must(&ManageResource{Verb: VerbCreate, Name: "lic", Changes: []AttrChange{{Entry: attr.Entry{Name: "type", Value: "long"}}, {Entry: attr.Entry{Name: "flag", Value: "nh"}}}})
	w.must(&HostUp{Host: "h", Address: "h:1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{
		{Name: "h", Available: offer}, {Name: "h[1]", Available: offer.Set("lic", "@h")}, {Name: "h[2]", Available: offer},
	}})
	w.must(setLic("h", "4"))
	w.must(setLic("h[2]", "@h"))
	return w
}

func setLic(vnode pbs.VnodeName, value string) *ManageVnode {
	return &ManageVnode{Verb: VerbSet, Vnode: vnode, Changes: []AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "lic", Value: value}}}}
}

// lics returns what each vnode shows as assigned, and has the laws checked.
func (w *suspending) lics() string {
	w.t.Helper()
	if err := w.View().Check(); err != nil {
		w.t.Error(err)
	}
	var words []string
	for v := range w.View().Vnodes() {
		words = append(words, shownAs(w.View().VnodeAttributes(v), "resources_assigned", "lic"))
	}
	return strings.Join(words, " ")
}

func (w *suspending) wantLics(when, want string) {
	w.t.Helper()
	if got := w.lics(); got != want {
		w.t.Errorf("%s: %q assigned, want %q", when, got, want)
	}
}

// What vnodes share is charged to the vnode that has it, whoever gave it out.
func TestIndirect_Charges(t *testing.T) {
	w := newSharing(t)
	a := w.started("1:ncpus=1:lic=2", "(h[1]:ncpus=1:lic=2)")
	w.wantLics("one on h[1]", "2 @h @h")
	b := w.started("1:ncpus=1:lic=1", "(h[2]:ncpus=1:lic=1)")
	w.wantLics("one more on h[2]", "3 @h @h")

	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", "2:ncpus=1:lic=1")})
	for _, on := range []string{"(h:lic=2)", "(h[1]:lic=2)", "(h[1]:lic=1)+(h[2]:lic=1)", "(h[2]:lic=1)+(h:lic=1)", "(h:lic=1)+(h[1]:lic=1)"} {
		if err := w.run(&StartJob{Job: "2.srv", ExecVnode: on}); pbs.CodeOf(err) != pbs.ResourceBusy {
			t.Errorf("%s: %v, want a refusal", on, err)
		}
	}
	w.wantLics("after refusals", "3 @h @h")

	if err := w.signal(a, Suspend); err != nil {
		t.Fatal(err)
	}
	w.wantLics("suspended", "1 @h @h")
	w.must(&StartJob{Job: "2.srv", ExecVnode: "(h:lic=1)+(h[1]:lic=1)"})
	w.wantLics("of both kinds", "3 @h @h")
	w.must(&SignalJob{Job: a, Signal: Resume})
	if err := w.run(&SignalJob{Job: a, Signal: Resume, Scheduled: true}); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("resumed beyond what there is: %v", err)
	}
	if err := w.run(&ManageVnode{Verb: VerbDelete, Vnode: "h"}); pbs.CodeOf(err) != pbs.BusyObject {
		t.Errorf("deleted a vnode that lends: %v", err)
	}
	w.facts++
	w.must(&JobEnded{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: b, RunCount: 1})
	w.wantLics("one has ended", "2 @h @h")
	if err := w.run(&SignalJob{Job: a, Signal: Resume, Scheduled: true}); err != nil {
		t.Error(err)
	}
	w.wantLics("resumed", "4 @h @h")
}

// A job on two vnodes that share gets back what both take together, or nothing.
func TestIndirect_ResumesTogether(t *testing.T) {
	w := newSharing(t)
	a := w.started("2:ncpus=1:lic=2", "(h[1]:ncpus=1:lic=2)+(h[2]:ncpus=1:lic=2)")
	w.wantLics("running", "4 @h @h")
	if err := w.signal(a, Suspend); err != nil {
		t.Fatal(err)
	}
	w.started("1:lic=2", "(h:lic=2)")
	w.must(&SignalJob{Job: a, Signal: Resume})
	if err := w.run(&SignalJob{Job: a, Signal: Resume, Scheduled: true}); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("resumed: %v", err)
	}
	w.wantLics("still suspended", "2 @h @h")
}

// A change of what is shared moves what jobs hold; the laws hold on the way.
func TestIndirect_Redefined(t *testing.T) {
	w := newSharing(t)
	w.started("1:ncpus=1:lic=3", "(h[1]:ncpus=1:lic=3)")
	w.must(setLic("h[1]", "8"))
	w.wantLics("its own", "0 3 @h")
	w.must(setLic("h[1]", "@h"))
	w.wantLics("shared again", "3 @h @h")
	w.must(setLic("h", "1"))
	w.wantLics("less than in use", "3 @h @h")
	w.must(&ManageVnode{Verb: VerbUnset, Vnode: "h", Changes: []AttrChange{{Op: OpUnset, Entry: attr.Entry{Name: "resources_available", Resource: "lic"}}}})
	w.lics()
}

func TestIndirect_ExclusiveIsChargedWithItsOwn(t *testing.T) {
	w := newSharing(t)
	id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).
		Set("Resource_List", "select", "1:ncpus=1:lic=2").Set("Resource_List", "place", "excl")})
	w.must(&StartJob{Job: id, ExecVnode: "(h[1]:ncpus=1:lic=2)"})
	j, _ := w.View().Job(id)
	lic, _ := j.LastRun().Assigned.Get("lic")
	if ncpus, _ := j.LastRun().Assigned.Get("ncpus"); ncpus != "4" || lic != "2" {
		t.Errorf("charged with %v", j.LastRun().Assigned)
	}
	w.wantLics("exclusive", "2 @h @h")
}

func TestIndirect_Refusals(t *testing.T) {
	w := newSharing(t)
	w.must(&ManageResource{Verb: VerbCreate, Name: "colour", Changes: []AttrChange{{Entry: attr.Entry{Name: "type", Value: "string"}}, {Entry: attr.Entry{Name: "flag", Value: "h"}}}})
	const bad = "Illegal attribute or resource value resources_available."
	for _, c := range []struct{ vnode, res, value, want string }{
		{"h[1]", "lic", "@nosuch", "Unknown node nosuch"},
		{"h[1]", "lic", "@", "Unknown node "},
		{"h[1]", "lic", "@h[1]", bad + "lic: vnode h[1] cannot share with itself"},
		{"h[1]", "lic", "@h[2]", bad + "lic: vnode h[2] shares the amount of another vnode itself"},
		{"h", "lic", "@h[1]", bad + "lic: vnode h[1] shares the amount of another vnode itself"},
		{"h[1]", "ngpus", "@h", bad + "ngpus: vnode h has none"},
		{"h[1]", "colour", "@h", bad + "colour: only what is consumed at vnodes can be shared"},
		{"h[1]", "nosuch", "@h", "Unknown resource resources_available.nosuch"},
	} {
		err := w.run(&ManageVnode{Verb: VerbSet, Vnode: pbs.VnodeName(c.vnode), Changes: []AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: c.res, Value: c.value}}}})
		if err == nil || strings.TrimSpace(err.Error()) != strings.TrimSpace(c.want) {
			t.Errorf("%s %s=%s: %v, want %q", c.vnode, c.res, c.value, err, c.want)
		}
	}
	// A mom may report what cannot be: such an amount is none.
	w.must(&HostUp{Host: "i", Address: "i:1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{
		{Name: "i", Available: resource.List{{Name: "lic", Value: "@i"}}}, {Name: "i[1]", Available: resource.List{{Name: "lic", Value: "@nosuch"}}}, {Name: "i[2]", Available: resource.List{{Name: "lic", Value: "@h[1]"}}},
	}})
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", "1:lic=1")})
	for _, on := range []string{"(i:lic=1)", "(i[1]:lic=1)", "(i[2]:lic=1)"} {
		if err := w.run(&StartJob{Job: "0.srv", ExecVnode: on}); pbs.CodeOf(err) != pbs.ResourceBusy {
			t.Errorf("%s: %v, want a refusal", on, err)
		}
	}
	w.lics()
}
