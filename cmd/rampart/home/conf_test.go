package home

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHighRes_FromPBSConfAndTheEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pbs.conf")
	t.Setenv("PBS_CONF_FILE", file)
	if HighRes() {
		t.Error("without a file")
	}
	text := "# a site\nunknown words\nPBS_LOG_HIGHRES_TIMESTAMP=1\nPBS_SCP=/bin/scp\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if !HighRes() || Conf("PBS_SCP") != "/bin/scp" || Conf("PBS_RCP") != "" {
		t.Errorf("pbs.conf is not heeded: %v, %q", HighRes(), Conf("PBS_SCP"))
	}
	t.Setenv("PBS_LOG_HIGHRES_TIMESTAMP", "0")
	if HighRes() {
		t.Error("the environment does not win over pbs.conf")
	}
}
