// Package configtest fuzzes the configurations that daemons keep in their homes.
package configtest

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"rampart/cmd/rampart/home"
)

// A Kind is the configuration of one daemon.
type Kind[C any] struct {
	Path  func(home.Home) string // of its file
	Load  func(home.Home) (C, error)
	Save  func(C) error
	Home  func(C) home.Home
	Sound func(C) bool // what is loaded is one that a daemon can run on
}

// Fuzz writes whatever into the file of a configuration: no file moves the home, and what is loaded from it
// is sound, and is saved and loaded as the same.
func Fuzz[C any](f *testing.F, k Kind[C], seeds ...string) {
	for _, text := range append(seeds, `{"version":2}`, `{"version":1,"host":"../x"}`, `{}`, ``, `null`, `{"home":"/x"}`) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h := home.Home(t.TempDir())
		if err := os.MkdirAll(filepath.Dir(k.Path(h)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(k.Path(h), data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := k.Load(h)
		if k.Home(c) != h {
			t.Fatalf("%q moves the home to %q", data, k.Home(c))
		}
		if err != nil {
			return
		}
		if !k.Sound(c) {
			t.Errorf("%q is loaded as %+v", data, c)
		}
		if err := k.Save(c); err != nil {
			t.Fatal(err)
		}
		if again, err := k.Load(h); err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%+v is saved and loaded as %+v, %v", c, again, err)
		}
	})
}
