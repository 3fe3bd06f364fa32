package spec_test

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

func TestParseNodes(t *testing.T) {
	for _, c := range []struct{ text, whole, sel, place string }{
		{"4", "", "4:ncpus=1", "scatter"},
		{"2:ppn=3", "", "2:ncpus=3:mpiprocs=3", "scatter"},
		{"2:ppn=3:cpp=2", "", "2:ncpus=6:mpiprocs=3", "scatter"},
		{"1:ncpus=4#excl", "", "1:ncpus=4", "scatter:excl"},
		{"hosta+2:ppn=2#shared", "", "1:host=hosta:ncpus=1+2:ncpus=2:mpiprocs=2", "scatter:shared"},
		{"2:accelerator", "", "2:accelerator=True:ncpus=1", "scatter"},
		{"accelerator:ppn=2", "", "1:accelerator=True:ncpus=2:mpiprocs=2", "scatter"},
		{"2:arch=linux:mem=1gb", "", "2:arch=linux:mem=1gb:ncpus=1", "scatter"},
		{"3", "mem=7kb ncpus=4 walltime=100", "3:mem=3kb:ncpus=2", "scatter"},
		{"2:ppn=2", "ncpus=1 mem=4gb", "2:ncpus=2:mpiprocs=2:mem=2097152kb", "scatter"},
	} {
		var whole resource.List
		for word := range strings.FieldsSeq(c.whole) {
			name, value, _ := strings.Cut(word, "=")
			whole = whole.Set(name, value)
		}
		sel, place, err := spec.ParseNodes(c.text, whole, resource.Builtins{})
		if err != nil || sel.String() != c.sel || place.String() != c.place {
			t.Errorf("nodes=%s %s: %s %s, %v; want %s %s", c.text, c.whole, sel, place, err, c.sel, c.place)
		}
	}
	for _, text := range []string{"", "0", "-1", "2:ppn=0", "2:ppn=x", "2:nosuch", "2+", "2#", "2#all", ":ppn=2", "2:=3", "99999999999", "2:ppn="} {
		if sel, _, err := spec.ParseNodes(text, nil, resource.Builtins{}); pbs.CodeOf(err) != pbs.BadAttributeValue {
			t.Errorf("nodes=%s: %s, %v", text, sel, err)
		}
	}
}

func FuzzParseNodes(f *testing.F) {
	f.Add("2:ppn=2+hosta:mem=1gb#excl")
	f.Fuzz(func(t *testing.T, text string) {
		sel, place, err := spec.ParseNodes(text, resource.List{{Name: "mem", Value: "5gb"}}, resource.Builtins{})
		if err != nil {
			return
		}
		if _, err := spec.ParsePlace(place.String()); err != nil || sel.Total() < 1 {
			t.Errorf("nodes=%s: %s, %v", text, sel, err)
		}
	})
}
