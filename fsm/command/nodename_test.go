package command

import (
	"cmp"
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// The name that a mom gives its natural vnode is that of the vnode: of one that it makes by itself, of one that qmgr makes with and
// without a word of whose it is, before and after the mom has told of it, and it is the host's again when the mom says no other.
func TestHostUp_NodeName(t *testing.T) {
	const other = "10.0.0.7"
	w := newWriter(t)
	up := func(name pbs.VnodeName) {
		t.Helper()
		offered := pbs.VnodeName("a")
		if name != "" {
			offered = name
		}
		w.must(&HostUp{
			Host: "a", Address: "a:1", SpoolID: "s", NodeName: name,
			Vnodes: []ReportedVnode{{Name: offered, Available: resource.List{{Name: "ncpus", Value: "2"}}}},
		})
	}
	nodes := func(want string) {
		t.Helper()
		var got []string
		v := w.View()
		for vn := range v.Vnodes() {
			text := string(vn.Name) + " of " + string(vn.Host) + " " + vn.State()
			if v.NaturalVnode(vn.Host) == vn.Name {
				text += " natural"
			}
			got = append(got, text)
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
	up("")
	nodes("a of a free natural")
	up(other)
	nodes("a of a Stale; 10.0.0.7 of a free natural")
	w.must(&HostUp{Host: "a", Address: "a:1", SpoolID: "s", NodeName: other, Vnodes: []ReportedVnode{
		{Name: other, Available: resource.List{{Name: "ncpus", Value: "2"}}}, {Name: "a", Available: resource.List{{Name: "ncpus", Value: "9"}}},
	}})
	nodes("a of a free; 10.0.0.7 of a free natural")
	vn, _ := w.View().Vnode(other)
	if ncpus, _ := vn.Available().Get("ncpus"); ncpus != "2" {
		t.Errorf("it offers %v", vn.Available())
	}
	up("")
	nodes("a of a free natural; 10.0.0.7 of a Stale")
	up(other)
	w.must(&ManageVnode{Verb: VerbDelete, Vnode: "a"})
	w.must(&ManageVnode{Verb: VerbDelete, Vnode: other})
	up(other)
	nodes("")
	w.must(&ManageVnode{Verb: VerbCreate, Vnode: other})
	nodes("10.0.0.7 of a state-unknown,down natural")
	up(other)
	nodes("10.0.0.7 of a free natural")

	w.must(&ManageVnode{Verb: VerbCreate, Vnode: "c"}) // of a mom that nobody knows yet
	up("c")
	nodes("10.0.0.7 of a Stale; c of a free natural")
	w.must(&HostUp{Host: "b", Address: "b:1", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "b"}}})
	up("b")
	nodes("10.0.0.7 of a Stale; c of a Stale natural; b of b free natural")
}

// TestHostUp_NodeNameFromTheBeginning: a host that has come by another name at first, and has its own now, goes by that.
func TestHostUp_NodeNameFromTheBeginning(t *testing.T) {
	w := newWriter(t)
	for _, name := range []pbs.VnodeName{"x", ""} {
		offered := cmp.Or(name, "a")
		w.must(&HostUp{
			Host: "a", Address: "a:1", SpoolID: "s", NodeName: name,
			Vnodes: []ReportedVnode{{Name: offered, Available: resource.List{{Name: "ncpus", Value: "2"}}}},
		})
		if got := w.View().NaturalVnode("a"); got != offered {
			t.Errorf("by the name %q: the natural vnode is %s, want %s", name, got, offered)
		}
	}
}
