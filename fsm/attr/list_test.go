package attr

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestList(t *testing.T) {
	var l List
	l = l.Set("umask", "", "22").Set("Account_Name", "", "a").Set("default_chunk", "ncpus", "1").Set("default_chunk", "mem", "1gb")
	before := slices.Clone(l)
	changed := l.Set("umask", "", "77").Unset("default_chunk", "mem")
	if !slices.Equal(l, before) {
		t.Fatalf("the list was changed in place: %v", l)
	}
	want := List{{"Account_Name", "", "a"}, {"default_chunk", "ncpus", "1"}, {"umask", "", "77"}}
	if !slices.Equal(changed, want) {
		t.Errorf("got %v, want %v", changed, want)
	}
	if v, ok := l.Get("default_chunk", "mem"); !ok || v != "1gb" {
		t.Errorf("default_chunk.mem is %q, %v", v, ok)
	}
	if got := l.Of("default_chunk"); len(got) != 2 || got[0].Resource != "mem" {
		t.Errorf("default_chunk has %v", got)
	}
	if got := l.Unset("default_chunk", ""); len(got.Of("default_chunk")) != 0 || len(got) != 2 {
		t.Errorf("after unset of all resources: %v", got)
	}
	if got := l.Of("nosuch"); len(got) != 0 {
		t.Errorf("nosuch has %v", got)
	}
}

func TestList_Shown(t *testing.T) {
	l := List{}.Set("zz_unknown", "", "1").Set("mail_from", "", "adm").Set("default_chunk", "ncpus", "1").
		Set("scheduling", "", "True").Set("default_chunk", "mem", "1gb")
	var names []string
	for _, e := range l.Shown(Server) {
		names = append(names, e.Name+"."+e.Resource)
	}
	want := []string{"scheduling.", "mail_from.", "default_chunk.mem", "default_chunk.ncpus", "zz_unknown."}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

func TestProperty_ListIsAMap(t *testing.T) {
	type key struct{ name, resource string }
	word := rapid.SampledFrom([]string{"", "a", "b", "c"})
	rapid.Check(t, func(t *rapid.T) {
		var l List
		model := map[key]string{}
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			k := key{word.Draw(t, "name"), word.Draw(t, "resource")}
			if rapid.Bool().Draw(t, "set") {
				v := word.Draw(t, "value")
				l, model[k] = l.Set(k.name, k.resource, v), v
				continue
			}
			l = l.Unset(k.name, k.resource)
			for m := range model {
				if m == k || m.name == k.name && k.resource == "" {
					delete(model, m)
				}
			}
		}
		for k, want := range model {
			if got, ok := l.Get(k.name, k.resource); !ok || got != want {
				t.Fatalf("%v is %q, %v, want %q", k, got, ok, want)
			}
		}
		if len(l) != len(model) || !slices.IsSortedFunc(l, func(a, b Entry) int {
			if a.Name+"\x00"+a.Resource < b.Name+"\x00"+b.Resource {
				return -1
			}
			return 1
		}) {
			t.Fatalf("%v is not %v in order", l, model)
		}
	})
}
