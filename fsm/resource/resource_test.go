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

// Only what a site defines to be consumed at server and queues may be negative, and what is not consumed.
func TestDefParse_Negative(t *testing.T) {
	custom := func(kind Type, flags string) Def {
		f, err := ParseFlags(flags)
		if err != nil {
			t.Fatal(err)
		}
		return Def{Name: "foo", Type: kind, Flags: f}
	}
	ncpus, _ := Lookup("ncpus")
	nodect, _ := Lookup("nodect")
	nice, _ := Lookup("nice")
	for _, c := range []struct {
		def  Def
		want bool
	}{
		{ncpus, false},
		{nodect, false},
		{nice, true},
		{custom(Long, "q"), true},
		{custom(Float, "q"), true},
		{custom(Long, ""), true},
		{custom(Long, "h"), true},
		{custom(Long, "hn"), false},
		{custom(Long, "hf"), false},
		{custom(Long, "hnq"), false},
		{custom(Size, "q"), false},
		{custom(Time, "q"), false},
	} {
		if q, err := c.def.Parse("-3"); (err == nil) != c.want || err == nil && q.String() != "-3" {
			t.Errorf("%s, a %s with the flags %q: -3 is read as %q, %v", c.def.Name, c.def.Type, c.def.Flags, q, err)
		}
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
	for _, text := range []string{"x", "nhx", "H"} {
		if f, err := ParseFlags(text); err == nil {
			t.Errorf("%q becomes %q, want a refusal", text, f)
		}
	}
}

// What contradicts itself is refused in PBS's words; what stands alone is taken, of the built-in resources too.
func TestDefCheck(t *testing.T) {
	const consumed = "flag 'n', 'f', or 'q' on resource foo which is type string, string_array, or boolean."
	for _, c := range []struct {
		kind        Type
		flags, want string
	}{
		{Long, "", ""},
		{Long, "hnm", ""},
		{Size, "hfi", ""},
		{Float, "qr", ""},
		{String, "hm", ""},
		{StringArray, "hr", ""},
		{Boolean, "hi", ""},
		{Long, "n", "flag 'n' without 'h' on resource foo."},
		{Long, "f", "flag 'f' without 'h' on resource foo."},
		{Long, "nf", "flag 'n' without 'h' on resource foo."},
		{Long, "nfh", "flag 'n' and 'f' on resource foo."},
		{Long, "ir", "flag 'i' and 'r' on resource foo."},
		{String, "nir", "flag 'i' and 'r' on resource foo."},
		{String, "nh", consumed},
		{StringArray, "fh", consumed},
		{Boolean, "q", consumed},
	} {
		flags, err := ParseFlags(c.flags)
		if err != nil {
			t.Fatal(err)
		}
		want := c.want
		if want != "" {
			want = "Erroneous to have " + want
		}
		got := ""
		if err := (Def{Name: "foo", Type: c.kind, Flags: flags}).Check(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("a %s with %q: %q, want %q", c.kind, c.flags, got, want)
		}
	}
	for _, d := range Builtin() {
		if err := d.Check(); err != nil {
			t.Error(err)
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
