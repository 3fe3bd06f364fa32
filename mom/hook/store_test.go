package hook

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	one, two := []byte("pass\n"), []byte("import pbs\n")
	m := &Manifest{Generation: 1, Hooks: []Hook{
		{Name: "b", Seq: 2, Script: sumOf(one), Attrs: map[string]string{"event": "execjob_begin", "enabled": "true", "order": "1"}},
		{Name: "a", Seq: 3, Script: sumOf(two), Config: sumOf(one), Attrs: map[string]string{"event": "execjob_begin,execjob_end", "enabled": "true", "order": "1"}},
	}}
	set := func(contents ...[]byte) Change {
		t.Helper()
		byS := map[string][]byte{}
		for _, c := range contents {
			byS[sumOf(c)] = c
		}
		c, err := s.Set(m, byS)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := set(); len(c.Missing) != 3 || len(s.At("execjob_begin")) != 0 {
		t.Errorf("nothing is there: %+v", c)
	}
	if c := set(one); !slices.Equal(c.Missing, []string{sumOf(two)}) || len(s.At("execjob_begin")) != 0 {
		t.Errorf("one file is there: %+v", c)
	}
	if c := set(two); len(c.Missing) != 0 || !slices.Equal(c.Sent, []string{"a.CF", "a.HK", "a.PY", "b.HK", "b.PY"}) {
		t.Errorf("all files are there: %+v", c)
	}
	if c := set(); len(c.Sent)+len(c.Missing)+len(c.Deleted) != 0 {
		t.Errorf("nothing new: %+v", c)
	}
	again, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := again.At("execjob_begin")
	if len(at) != 2 || at[0].Name != "b" || at[1].Name != "a" {
		t.Fatalf("hooks at the event: %+v", at)
	}
	if text, config, err := again.Script(&at[1]); err != nil || string(text) != string(two) || filepath.Base(config) != "a.CF" {
		t.Errorf("script %q, %s, %v", text, config, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b.PY"), []byte("spoilt"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := again.Script(&at[0]); err == nil {
		t.Error("a spoilt script runs")
	}
	if c := set(); !slices.Equal(c.Missing, []string{}) && len(c.Sent) != 1 && len(c.Missing) != 1 {
		t.Errorf("a spoilt script is asked for: %+v", c)
	}
	set(one)
	m = &Manifest{Generation: 2, Hooks: m.Hooks[:1]}
	if c := set(one); !slices.Equal(c.Deleted, []string{"a.CF", "a.HK", "a.PY"}) {
		t.Errorf("a hook is gone: %+v", c)
	}
	m = &Manifest{Hooks: []Hook{{Name: "../x"}}}
	if _, err := s.Set(m, nil); err == nil {
		t.Error("a hook writes where its name leads")
	}
}

// Others than root read a configuration file only where hooks run as the owners of jobs.
func TestStore_WhoReads(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	body := []byte("secret")
	for _, c := range []struct {
		user string
		mode os.FileMode
	}{{"pbsadmin", 0o600}, {pbsUser, 0o644}, {"pbsadmin", 0o600}, {"", 0o600}} {
		m := &Manifest{Hooks: []Hook{{Name: "x.CF", Config: sumOf(body), Script: sumOf(body), Attrs: map[string]string{"user": c.user}}}}
		if _, err := s.Set(m, map[string][]byte{sumOf(body): body}); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]os.FileMode{"x.CF.CF": c.mode, "x.CF.PY": 0o600, "x.CF.HK": 0o600} {
			if i, err := os.Stat(filepath.Join(dir, name)); err != nil || i.Mode().Perm() != want {
				t.Errorf("%s of a hook of %q: %v, %v, want %v", name, c.user, i, err, want)
			}
		}
	}
}
