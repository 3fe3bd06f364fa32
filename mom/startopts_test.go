package mom

import (
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
