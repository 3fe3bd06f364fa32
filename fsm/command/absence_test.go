package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/resource"
)

// A vnode whose mom is down says so in its comment, as PBS does, until she is back; what an administrator
// has written stays. Of one that was never heard nothing is known.
func TestHostDown_Comment(t *testing.T) {
	w := newSuspending(t, "")
	comment := func() string {
		v, _ := w.View().Vnode("h")
		return shownAs(w.View().VnodeAttributes(v), "comment", "")
	}
	offer := resource.List{{Name: "ncpus", Value: "4"}}
	up := &HostUp{Host: "h", Address: "h:1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "h", Available: offer}}}
	w.must(up)
	for _, c := range []struct {
		name, want string
		do         Command
	}{
		{"up", "", nil},
		{"down", "node down: communication closed", &HostDown{Host: "h", Reason: "silent"}},
		{"back", "", up},
		{"not heard", "", &HostDown{Host: "h", Unheard: true}},
		{"back again", "", up},
		{"of an administrator", "mine", &ManageVnode{Verb: VerbSet, Vnode: "h", Changes: []AttrChange{{Entry: attr.Entry{Name: "comment", Value: "mine"}}}}},
		{"of an administrator, down", "mine", &HostDown{Host: "h"}},
	} {
		if c.do != nil {
			w.must(c.do)
		}
		if got := comment(); got != c.want {
			t.Errorf("%s: comment %q, want %q", c.name, got, c.want)
		}
	}
}
