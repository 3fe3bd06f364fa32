package home

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWarnShared(t *testing.T) {
	for name, c := range map[string]struct {
		folder, file os.FileMode
		warns        bool
	}{
		"closed file":                   {0o755, 0o600, false},
		"file for all":                  {0o755, 0o644, true},
		"file for a group":              {0o755, 0o640, true},
		"file for all, folder for none": {0o700, 0o644, false},
	} {
		dir := filepath.Join(t.TempDir(), "backup")
		file := filepath.Join(dir, "state.snapshot")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(file, nil, 0o600), os.Chmod(file, c.file), os.Chmod(dir, c.folder)); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		WarnShared(&said, dir)
		if (said.Len() > 0) != c.warns || c.warns && !strings.Contains(said.String(), file) {
			t.Errorf("%s: said %q", name, said.String())
		}
	}
}
