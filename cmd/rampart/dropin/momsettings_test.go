package dropin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"rampart/cmd/rampart/home"
	"rampart/transport/own"
)

// The file of pbs_mom -c is in mom_priv where its name is relative; it must be there, and nobody else may replace it.
func TestMomSettings(t *testing.T) {
	h := home.Home(t.TempDir())
	if err := os.Mkdir(h.MomPriv(), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(h.MomPriv(), "other")
	c := &call{home: h, options: map[string]string{}}
	if got, err := c.momSettings(); got != "" || err != nil {
		t.Errorf("without -c: %q, %v", got, err)
	}
	c.options["c"] = "other"
	if got, err := c.momSettings(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is missing: %q, %v", got, err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"other", path} {
		c.options["c"] = name
		if got, err := c.momSettings(); got != path || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := os.Chmod(h.MomPriv(), 0o777); err != nil {
		t.Fatal(err)
	}
	if got, err := c.momSettings(); !errors.Is(err, own.ErrForeign) {
		t.Errorf("one that others may replace: %q, %v", got, err)
	}
}
