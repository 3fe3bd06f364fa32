package mom

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A mom that was told other files reads its configuration there, and writes its log there, and nowhere else.
func TestMom_OtherFiles(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		other := t.TempDir()
		w.config.Settings, w.config.LogFile = filepath.Join(other, "config"), filepath.Join(other, "log")
		if err := os.WriteFile(w.config.Settings, []byte("$job_launch_delay 41\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.up()
		if text, err := os.ReadFile(w.config.LogFile); err != nil || !strings.Contains(string(text), "job_launch_delay;41") {
			t.Errorf("the log says %q, %v", text, err)
		}
		if files, _ := filepath.Glob(filepath.Join(w.home, "mom_logs", "*")); len(files) > 0 {
			t.Errorf("there is %v", files)
		}
	})
}

// A file that a mom was told must be there, and nobody else may replace it: else the old settings stay, and the log says why, in a new
// file where the old one was moved.
func TestMom_OtherFileIsGone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		other := filepath.Join(t.TempDir(), "other")
		w.config.Settings, w.config.LogFile = filepath.Join(other, "config"), filepath.Join(w.home, "log")
		if err := errors.Join(os.Mkdir(other, 0o755), os.WriteFile(w.config.Settings, []byte("$job_launch_delay 41\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		w.up()
		before := w.mom.settings.Load()
		refused := func(what, want string) {
			t.Helper()
			if err := os.Rename(w.config.LogFile, w.config.LogFile+"."+what); err != nil {
				t.Fatal(err)
			}
			if err := w.mom.Reload(); err == nil || w.mom.settings.Load() != before {
				t.Errorf("%s: %v, the settings are %+v", what, err, w.mom.settings.Load())
			}
			if text, err := os.ReadFile(w.config.LogFile); err != nil || !strings.Contains(string(text), "read_config") || !strings.Contains(string(text), want) {
				t.Errorf("%s: the log says %q, %v", what, text, err)
			}
		}
		if err := os.Chmod(other, 0o777); err != nil {
			t.Fatal(err)
		}
		refused("open", "non-secure")
		if err := errors.Join(os.Chmod(other, 0o755), os.Remove(w.config.Settings)); err != nil {
			t.Fatal(err)
		}
		refused("gone", "no such file")
	})
}
