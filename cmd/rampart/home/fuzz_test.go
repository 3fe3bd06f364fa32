package home

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// settings has every kind of value that a configuration of the programs has.
type settings struct {
	Version int               `json:"version"`
	Host    string            `json:"host"`
	Seeds   []string          `json:"seeds,omitempty"`
	Open    bool              `json:"open,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
}

// A configuration that is taken is written and read as the same, and is all that stands in its
// file; keys of gossip that are taken are the bytes of their file.
func FuzzFiles(f *testing.F) {
	for _, text := range []string{
		`{"version": 1, "host": "a", "seeds": ["b:1"], "open": true}`, `{"version": 1} {"version": 2}`, `{"version": 1}]`, "{}\n\n", "null",
		`{"nosuch": 1}`, `{"labels": {"a": null}}`, "", "[]", "\x01\x02",
	} {
		f.Add([]byte(text))
	}
	f.Add(bytes.Repeat([]byte{7}, 2*keySize))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if keys, err := ReadKeys(path); err == nil {
			if !bytes.Equal(bytes.Join(keys, nil), data) || len(keys) != len(data)/keySize {
				t.Errorf("%x is read as %x", data, keys)
			}
			if err := ReplaceKeys(path, keys); err != nil {
				t.Fatal(err)
			}
		}
		var c, again settings
		if err := ReadConfig(path, &c); err != nil {
			return
		}
		if err := os.WriteFile(path, append(data, " {}"...), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := ReadConfig(path, new(settings)); err == nil {
			t.Errorf("what follows the configuration %q is passed over", data)
		}
		if err := WriteConfig(path, c); err != nil {
			t.Fatal(err)
		}
		if err := ReadConfig(path, &again); err != nil {
			t.Fatal(err)
		}
		if len(c.Seeds) == 0 {
			c.Seeds = nil
		}
		if len(c.Labels) == 0 {
			c.Labels = nil
		}
		if !reflect.DeepEqual(c, again) {
			t.Errorf("%q is read as %+v, and written and read as %+v", data, c, again)
		}
	})
}
