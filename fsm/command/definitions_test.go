package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// definedHost registers a host with a natural vnode and another one, as its definition
// files say.
func definedHost(w *writer) {
	w.t.Helper()
	w.must(&HostUp{Host: "hosta", Address: "hosta:15002", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{
		{Name: "hosta", Available: resource.List{}.Set("ncpus", "0")},
		{Name: "hosta[0]", Available: resource.List{}.Set("ncpus", "1"), Attrs: attr.List{}.Set("Priority", "", "5"), Sharing: "default_excl"},
	}})
}

func (w *writer) shown(name pbs.VnodeName, attribute, res string) string {
	v := w.View()
	vn, ok := v.Vnode(name)
	if !ok {
		return "no such vnode"
	}
	for _, e := range v.VnodeAttributes(vn) {
		if e.Name == attribute && e.Resource == res {
			return e.Value
		}
	}
	return ""
}

// Attributes set with qmgr win over those of the definition files, which show again when
// they are unset (specification: cli-contract section 9).
func TestManageVnode_WinsOverDefinitionFiles(t *testing.T) {
	w := newWriter(t)
	definedHost(w)
	change := func(verb Verb, name, res, value string) {
		t.Helper()
		ch := AttrChange{Entry: attr.Entry{Name: name, Resource: res, Value: value}}
		if verb == VerbUnset {
			ch.Op = OpUnset
		}
		w.must(&ManageVnode{Verb: verb, Vnode: "hosta[0]", Changes: []AttrChange{ch}})
	}
	check := func(priority, cpus string) {
		t.Helper()
		if p, n := w.shown("hosta[0]", "Priority", ""), w.shown("hosta[0]", "resources_available", "ncpus"); p != priority || n != cpus {
			t.Errorf("Priority %s, ncpus %s; want %s, %s", p, n, priority, cpus)
		}
	}
	check("5", "1")
	change(VerbSet, "Priority", "", "9")
	change(VerbSet, "resources_available", "ncpus", "3")
	check("9", "3")
	definedHost(w)
	check("9", "3")
	change(VerbUnset, "Priority", "", "")
	change(VerbUnset, "resources_available", "ncpus", "")
	check("5", "1")
}

// The vnodes of a host whose natural vnode was deleted do not come back with the mom's
// next registration, but when qmgr makes that one again.
func TestManageVnode_DeletedHostsStayDeleted(t *testing.T) {
	w := newWriter(t)
	definedHost(w)
	for _, name := range []pbs.VnodeName{"hosta", "hosta[0]"} {
		w.must(&ManageVnode{Verb: VerbDelete, Vnode: name})
	}
	definedHost(w)
	if n := w.View().VnodeCount(); n != 0 {
		t.Errorf("%d vnodes came back", n)
	}
	w.must(&ManageVnode{Verb: VerbCreate, Vnode: "hosta"})
	if v, _ := w.View().Vnode("hosta"); v.Flags&state.VnodeUnknown == 0 {
		t.Errorf("a vnode that its mom has not reported is %s", v.State())
	}
	definedHost(w)
	if n := w.View().VnodeCount(); n != 2 {
		t.Errorf("%d vnodes after the mom has told of them, want 2", n)
	}
	mom := AttrChange{Entry: attr.Entry{Name: "Mom", Value: "hosta"}}
	w.must(&ManageVnode{Verb: VerbCreate, Vnode: "hosta[0]", Changes: []AttrChange{mom}}) // as qmgr has printed it
	for name, c := range map[string]*ManageVnode{
		"the natural vnode": {Verb: VerbCreate, Vnode: "hosta"},
		"of another mom":    {Verb: VerbCreate, Vnode: "hosta[0]"},
	} {
		if err := w.run(c); pbs.CodeOf(err) != pbs.NodeExists {
			t.Errorf("%s is made twice: %v", name, err)
		}
	}
	w.must(&ManageVnode{Verb: VerbSet, Vnode: "hosta[0]", Changes: []AttrChange{{Entry: attr.Entry{Name: "comment", Value: "mine"}}}})
	if err := w.run(&ManageVnode{Verb: VerbCreate, Vnode: "hosta[0]", Changes: []AttrChange{mom}}); pbs.CodeOf(err) != pbs.NodeExists {
		t.Errorf("what somebody has changed is made anew: %v", err)
	}
}

// A vnode that qmgr makes for a host whose own was deleted stands for that host, by its name.
func TestManageVnode_StandsForItsHost(t *testing.T) {
	w := newWriter(t)
	definedHost(w)
	mom := []AttrChange{{Entry: attr.Entry{Name: "Mom", Value: "hosta"}}}
	w.must(&ManageVnode{Verb: VerbCreate, Vnode: "beside", Changes: mom})
	definedHost(w)
	if state := w.shown("beside", "state", ""); state != "Stale" {
		t.Errorf("a vnode beside the host's own is %s", state)
	}
	for _, name := range []pbs.VnodeName{"hosta", "hosta[0]", "beside"} {
		w.must(&ManageVnode{Verb: VerbDelete, Vnode: name})
	}
	w.must(&ManageVnode{Verb: VerbCreate, Vnode: "10.0.0.1", Changes: mom})
	definedHost(w)
	for _, c := range []struct{ vnode, name, res, want string }{
		{"10.0.0.1", "state", "", "free"},
		{"10.0.0.1", "Mom", "", "hosta"},
		{"10.0.0.1", "resources_available", "ncpus", "0"},
		{"10.0.0.1", "resources_available", "vnode", "10.0.0.1"},
		{"hosta[0]", "state", "", "free"},
		{"hosta", "state", "", "no such vnode"},
	} {
		if got := w.shown(pbs.VnodeName(c.vnode), c.name, c.res); got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.name+c.res, c.vnode, got, c.want)
		}
	}
	id := w.submit(nil)
	w.must(&StartJob{Job: id, ExecVnode: "(hosta[0]:ncpus=1)"})
	_, events := Run(w.Store, w.index+1, 1, Entry{Proposals: []Proposal{{Commands: []Command{&JobStarted{Source: Source{"hosta", "s", 1}, Job: id, RunCount: 1, Session: 7}}}}})
	w.index++
	w.Publish()
	for _, e := range events {
		if got := e.Job.Run.ExecHost.String(); e.Kind == state.JobStarted && got != "10.0.0.1/0" {
			t.Errorf("exec_host of the record is %s", got)
		}
	}
	v := w.View()
	j, _ := v.Job(id)
	if got := v.JobAttribute(j, "exec_host", ""); got != "10.0.0.1/0" || j.Run.ExecHost.String() != "hosta/0" || j.Run.MS != "hosta" {
		t.Errorf("exec_host is %s, on %s", got, j.Run.MS)
	}
	w.must(&HookWishes{Source: Source{"hosta", "s", 2}, Vnodes: []HookVnode{{Name: "hosta", Set: attr.List{{Name: "comment", Value: "mine"}}}}})
	if got := w.shown("10.0.0.1", "comment", ""); got != "mine" {
		t.Errorf("what a hook says of its host has become %q", got)
	}
	w.must(&HostUp{Host: "hosta", Address: "hosta:15002", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{
		{Name: "hosta", Available: resource.List{}.Set("ncpus", "0")},
		{Name: "10.0.0.1", Available: resource.List{}.Set("ncpus", "7")},
	}})
	if got := w.shown("10.0.0.1", "resources_available", "ncpus"); got != "7" || w.shown("hosta", "state", "") != "free" {
		t.Errorf("what the mom reports by the name has %s cpus", got)
	}
}

// A host whose natural vnode had another name can get its own back.
func TestManageVnode_NamedAnewAgain(t *testing.T) {
	w := newWriter(t)
	mom := []AttrChange{{Entry: attr.Entry{Name: "Mom", Value: "hosta"}}}
	w.must(&ManageVnode{Verb: VerbCreate, Vnode: "abc", Changes: mom}) // before the mom was heard of
	definedHost(w)
	if got := w.shown("abc", "state", ""); got != "free" || w.shown("hosta", "state", "") != "no such vnode" {
		t.Errorf("abc is %s", got)
	}
	for _, name := range []pbs.VnodeName{"abc", "hosta[0]"} {
		w.must(&ManageVnode{Verb: VerbDelete, Vnode: name})
	}
	definedHost(w)
	if n := w.View().VnodeCount(); n != 0 {
		t.Errorf("%d vnodes came back", n)
	}
	w.must(&ManageVnode{Verb: VerbCreate, Vnode: "hosta"})
	definedHost(w)
	if got := w.shown("hosta", "state", ""); got != "free" || w.View().VnodeCount() != 2 {
		t.Errorf("hosta is %s", got)
	}
}
