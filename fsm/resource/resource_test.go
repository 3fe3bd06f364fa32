package resource

import (
	"slices"
	"testing"
)

func TestBuiltin_SortedAndWhole(t *testing.T) {
	defs := Builtin()
	if !slices.IsSortedFunc(defs, func(a, b Def) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	}) {
		t.Error("the built-in resources are not sorted, or one comes twice")
	}
	for _, d := range defs {
		got, ok := Lookup(d.Name)
		if !ok || got != d || !d.Builtin || d.Type.String() == "?" || !ValidName(d.Name) {
			t.Errorf("%+v is found as %+v, %v", d, got, ok)
		}
		if f, err := ParseFlags(d.Flags.String()); err != nil || f != d.Flags {
			t.Errorf("%s: flags %s become %s, %v", d.Name, d.Flags, f, err)
		}
	}
	if _, ok := (Builtins{}).Resource("nosuch"); ok {
		t.Error("nosuch is a built-in resource")
	}
}

func TestConsumable(t *testing.T) {
	for name, want := range map[string][2]bool{ // consumable, at vnodes
		"ncpus": {true, true}, "mem": {true, true}, "nodect": {true, false}, "mpiprocs": {true, false},
		"walltime": {false, false}, "arch": {false, false}, "ngpus": {true, true},
	} {
		d, _ := Lookup(name)
		if d.Consumable() != want[0] || d.AtVnodes() != want[1] {
			t.Errorf("%s: consumable %v, at vnodes %v", name, d.Consumable(), d.AtVnodes())
		}
	}
}

func TestDefParse_NothingNegativeIsConsumed(t *testing.T) {
	ncpus, _ := Lookup("ncpus")
	if _, err := ncpus.Parse("-1"); err == nil {
		t.Error("ncpus=-1 was accepted")
	}
	nice, _ := Lookup("nice")
	if _, err := nice.Parse("-5"); err != nil {
		t.Errorf("nice=-5: %v", err)
	}
}

func TestFlags(t *testing.T) {
	for text, want := range map[string]string{
		"nh": "hn", "hn": "hn", "q": "q", "": "", "fh": "hf", "n,h,m": "hnm", "hnqirm": "hnqirm",
	} {
		if f, err := ParseFlags(text); err != nil || f.String() != want {
			t.Errorf("%q becomes %q, %v, want %q", text, f, err, want)
		}
	}
	for _, text := range []string{"x", "n", "f", "nfh", "H"} {
		if f, err := ParseFlags(text); err == nil {
			t.Errorf("%q becomes %q, want a refusal", text, f)
		}
	}
}

func TestParseType(t *testing.T) {
	for typ := Long; typ <= Boolean; typ++ {
		if got, err := ParseType(typ.String()); err != nil || got != typ {
			t.Errorf("%s becomes %s, %v", typ, got, err)
		}
	}
	for _, text := range []string{"", "nosuch", "?"} {
		if _, err := ParseType(text); err == nil {
			t.Errorf("%q is a type", text)
		}
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"foo": true, "foo_2-b": true, "": false, "2foo": false, "_x": false, "a.b": false, "a b": false, "ä": false,
	} {
		if ValidName(name) != want {
			t.Errorf("ValidName(%q) = %v", name, !want)
		}
	}
}
