package mom

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// Nothing is inserted or replaced by a name that begins with PBS.
func TestDefinitions_Reserved(t *testing.T) {
	d := Definitions{t.TempDir()}
	text := []byte(definitionHeader + "\nhosta[1]: Priority = 1\n")
	for what, put := range map[string]func(string, []byte) error{"insert": d.Insert, "replace": d.Replace} {
		if err := put("PBSvnodes", text); err == nil || !strings.Contains(err.Error(), "names beginning with PBS are reserved") {
			t.Errorf("%s: %v", what, err)
		}
		if err := put("pbs-"+what, text); err != nil {
			t.Error(err)
		}
	}
	if names, err := d.List(); err != nil || len(names) != 2 {
		t.Errorf("there are %q, %v", names, err)
	}
}

// The natural vnode has the host's name, or the one that pbs.conf gives it, whole; definition files add to it by that name.
func TestOffer_NodeName(t *testing.T) {
	for name, want := range map[pbs.VnodeName]string{"": "hosta", "10.0.0.7": "10.0.0.7"} {
		c := &Config{Host: "hosta", NodeName: name}
		list := c.offer([]definition{{vnode: want, name: "Priority", value: "5"}})
		if len(list) != 1 || list[0].GetName() != want {
			t.Errorf("%q: %v", name, list)
		}
	}
	c := &Config{NodeName: "two words"}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), `no vnode can be called "two words"`) {
		t.Errorf("a name that no vnode can have: %v", err)
	}
}
