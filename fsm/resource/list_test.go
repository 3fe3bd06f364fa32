package resource

import (
	"slices"
	"testing"

	"rampart/fsm/pbs"
)

// site is a table with resources of its own beside the built-in ones.
type site struct{}

func (site) Resource(name string) (Def, bool) {
	switch name {
	case "lic":
		return Def{Name: name, Type: Long, Flags: PerVnode | AtHost}, true
	case "foo":
		return Def{Name: name, Type: Boolean, Flags: AtHost}, true
	case "tags":
		return Def{Name: name, Type: StringArray, Flags: AtHost}, true
	case "speed":
		return Def{Name: name, Type: Long, Flags: AtHost}, true
	}
	return Lookup(name)
}

func list(pairs ...string) List {
	var l List
	for i := 0; i < len(pairs); i += 2 {
		l = l.Set(pairs[i], pairs[i+1])
	}
	return l
}

func TestList_SetAndUnset(t *testing.T) {
	first := list("ncpus", "2", "mem", "1gb")
	second := first.Set("mem", "2gb").Set("arch", "linux")
	third := second.Unset("ncpus").Unset("nosuch")
	for _, c := range []struct{ got, want List }{
		{first, List{{"mem", "1gb"}, {"ncpus", "2"}}},
		{second, List{{"arch", "linux"}, {"mem", "2gb"}, {"ncpus", "2"}}},
		{third, List{{"arch", "linux"}, {"mem", "2gb"}}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	if v, ok := third.Get("mem"); !ok || v != "2gb" {
		t.Errorf("Get(mem) = %q, %v", v, ok)
	}
	if _, ok := third.Get("ncpus"); ok {
		t.Error("ncpus is still there")
	}
}

func TestSorted(t *testing.T) {
	got := Sorted([]Item{{"b", "1"}, {"a", "2"}, {"b", "3"}})
	if want := (List{{"a", "2"}, {"b", "3"}}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAddSub(t *testing.T) {
	used, err := Add(nil, list("ncpus", "2", "mem", "1048576kb", "arch", "linux"), site{})
	if err != nil || !slices.Equal(used, list("ncpus", "2", "mem", "1048576kb")) {
		t.Fatalf("first: %v, %v", used, err)
	}
	used, err = Add(used, list("ncpus", "1", "lic", "3", "mem", "1gb"), site{})
	if err != nil || !slices.Equal(used, list("ncpus", "3", "lic", "3", "mem", "2097152kb")) {
		t.Fatalf("second: %v, %v", used, err)
	}
	used, err = Sub(used, list("ncpus", "3", "mem", "2gb", "lic", "3"), site{})
	if err != nil || !slices.Equal(used, list("ncpus", "0", "lic", "0", "mem", "0kb")) {
		t.Fatalf("back: %v, %v", used, err)
	}
	if _, err = Sub(used, list("mem", "1kb"), site{}); pbs.CodeOf(err) != pbs.BadAttributeValue {
		t.Errorf("below nothing: %v", err)
	}
	if _, err = Add(list("ncpus", "9223372036854775807"), list("ncpus", "1"), site{}); err == nil {
		t.Error("an overflow was not refused")
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		a, b List
		want bool
	}{
		{list("mem", "1gb"), list("mem", "1048576kb"), true},
		{list("ncpus", "0"), nil, true},
		{nil, list("mem", "0kb"), true},
		{list("ncpus", "1"), nil, false},
		{list("arch", "linux"), list("arch", "linux"), true},
		{list("arch", "linux"), list("arch", "aix"), false},
		{list("arch", "linux"), nil, false},
	} {
		if got := Equal(c.a, c.b, site{}); got != c.want {
			t.Errorf("Equal(%v, %v) = %v", c.a, c.b, got)
		}
	}
}

func TestFits(t *testing.T) {
	offered := list("ncpus", "4", "mem", "8gb", "arch", "linux", "foo", "True", "tags", "a,b", "speed", "10")
	used := list("ncpus", "1", "mem", "1048576kb")
	for _, c := range []struct {
		name    string
		request List
		want    string // empty: it fits
	}{
		{"all that is free", list("ncpus", "3", "mem", "7gb"), ""},
		{"too many cpus", list("ncpus", "4"), "Insufficient amount of resource: ncpus (R: 4 A: 3 T: 4)"},
		{"a kilobyte too much", list("mem", "7340033kb"), "Insufficient amount of resource: mem (R: 7340033kb A: 7340032kb T: 8gb)"},
		{"not offered", list("lic", "1"), "Insufficient amount of resource: lic (R: 1 A: 0 T: 0)"},
		{"none of what is not offered", list("lic", "0"), ""},
		{"string", list("arch", "linux"), ""},
		{"other string", list("arch", "aix"), "Insufficient amount of resource: arch (aix != linux)"},
		{"boolean", list("foo", "True"), ""},
		{"other boolean", list("foo", "False"), "Insufficient amount of resource: foo (False != True)"},
		{"one of an array", list("tags", "b"), ""},
		{"not in the array", list("tags", "c"), "Insufficient amount of resource: tags (c != a,b)"},
		{"at least as large", list("speed", "10"), ""},
		{"not as large", list("speed", "11"), "Insufficient amount of resource: speed (R: 11 A: 10 T: 10)"},
		{"layout of a chunk", list("mpiprocs", "99", "ompthreads", "99"), ""},
		{"unknown", list("nosuch", "1"), "Insufficient amount of resource: nosuch"},
		{"malformed", list("ncpus", "x"), "Insufficient amount of resource: ncpus"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if s := Fits(c.request, offered, used, site{}); s != nil {
				got = s.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFits_OfferLowered(t *testing.T) {
	s := Fits(list("ncpus", "1"), list("ncpus", "2"), list("ncpus", "3"), site{})
	if s == nil || s.Free != "0" {
		t.Errorf("got %v, want nothing free", s)
	}
	if s := Fits(list("mem", "0kb", "ncpus", "0"), list("ncpus", "2"), list("mem", "1gb", "ncpus", "3"), site{}); s != nil {
		t.Errorf("asking for nothing does not fit: %v", s)
	}
}

func TestFits_UnsetBoolean(t *testing.T) {
	if s := Fits(list("foo", "False"), nil, nil, site{}); s != nil {
		t.Errorf("an unset boolean is not False: %v", s)
	}
}

func TestOnly(t *testing.T) {
	got := Only(list("ncpus", "2", "walltime", "60", "nodect", "1", "lic", "1"), site{}, PerQueue)
	if want := list("ncpus", "2", "nodect", "1"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func BenchmarkFits(b *testing.B) {
	offered := list("arch", "linux", "host", "hosta", "mem", "8gb", "ncpus", "8", "vnode", "hosta")
	used := list("mem", "1048576kb", "ncpus", "1")
	request := list("mem", "1gb", "ncpus", "2")
	b.ReportAllocs()
	for b.Loop() {
		if s := Fits(request, offered, used, site{}); s != nil {
			b.Fatal(s)
		}
	}
}

// What is not consumed has the value that is asked for, and that which there is; what a vnode does not say is False, or nothing.
func TestUnlike(t *testing.T) {
	for _, c := range []struct {
		kind              Type
		want, offer, says string
	}{
		{String, "blue", "red", " (blue != red)"},
		{String, "blue", "", " (blue != )"},
		{StringArray, "c", "a,b", " (c != a,b)"},
		{Boolean, "true", "False", " (True != False)"},
		{Boolean, "true", "", " (True != False)"},
		{Long, "3", "2", " (R: 3 A: 2 T: 2)"},
		{Float, "1.5", "", " (R: 1.5 A: 0 T: 0)"},
		{Size, "2mb", "1mb", " (R: 2048kb A: 1024kb T: 1024kb)"},
		{Size, "2mb", "", " (R: 2048kb A: 0kb T: 0kb)"},
	} {
		def := Def{Name: "foo", Type: c.kind}
		want, err := def.Parse(c.want)
		if err != nil {
			t.Fatal(err)
		}
		if got := Unlike(def, want, c.offer).Error(); got != "Insufficient amount of resource: foo"+c.says {
			t.Errorf("a %s: %q", c.kind, got)
		}
	}
	if got := (&Shortage{Resource: "foo", Request: "blue", Free: "red"}).At("server"); got != "Insufficient amount of server resource: foo (blue != red)" {
		t.Error(got)
	}
}
