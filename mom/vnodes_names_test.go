package mom

import (
	"strings"
	"testing"
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
