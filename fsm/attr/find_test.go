package attr

import (
	"strings"
	"testing"
)

func TestFind_InAnyCase(t *testing.T) {
	for written, name := range map[string]string{"priority": "Priority", "PRIORITY": "Priority", "Comment": "comment", "comment": "comment"} {
		if d, ok := Find(Vnode, written); !ok || d.Name != name {
			t.Errorf("%s: %v, %v", written, d, ok)
		}
		if _, ok := Lookup(Vnode, written); ok != (written == name) {
			t.Errorf("Lookup of %s: %v", written, ok)
		}
	}
	for _, name := range []string{"", "prioritys", "priority "} {
		if d, ok := Find(Vnode, name); ok {
			t.Errorf("%q is %s", name, d.Name)
		}
	}
	for o := range objects { // no two names differ by case only
		for _, d := range All(o) {
			if found, _ := Find(o, strings.ToUpper(d.Name)); found != d {
				t.Errorf("%s: %s finds %s", o, d.Name, found.Name)
			}
		}
	}
}
