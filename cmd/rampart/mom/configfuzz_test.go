package mom

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"rampart/cmd/rampart/home"
)

// A mom's configuration that is loaded can be told to others, and is saved and loaded as the same.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		`{"version":1,"host":"h1","replicas":["s1:15001"],"listen":"192.0.2.1:15002","gossip":"192.0.2.1:15003"}`,
		`{"version":1,"host":"h1","replicas":["[::1]:1"],"listen":"0.0.0.0:1","advertise":"h1:1","gossip":"[::1]:3","submit_only":true}`,
		`{"version":2}`, `{"version":1,"host":"../x"}`, `{"replicas":[null]}`, `{}`, ``, `null`, `{"home":"/x"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h := home.Home(t.TempDir())
		if err := os.MkdirAll(filepath.Dir(h.MomConfig()), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(h.MomConfig(), data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(h)
		if c.Home != h {
			t.Fatalf("%q moves the home to %q", data, c.Home)
		}
		if err != nil {
			return
		}
		if len(c.Replicas) == 0 || filepath.Base(c.Host) != c.Host && c.Host != "." {
			t.Errorf("%q is loaded as %+v", data, c)
		}
		if err := c.save(); err != nil {
			t.Fatal(err)
		}
		if again, err := Load(h); err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%+v is saved and loaded as %+v, %v", c, again, err)
		}
	})
}
