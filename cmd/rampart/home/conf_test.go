package home

import (
	"os"
	"path/filepath"
	"testing"

	"rampart/transport/daylog"
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

// What says of which lines go to syslog, and where files are, is taken from pbs.conf and the environment; what is no number or no path is not there.
func TestSyslogAndPath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pbs.conf")
	t.Setenv("PBS_CONF_FILE", file)
	text := "PBS_SYSLOG=2\nPBS_SYSLOGSEVR=6\nPBS_LOCALLOG=0\nPBS_TMPDIR=/scratch/\nPBS_ENVIRONMENT=/etc/env\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, want := Syslog(), (daylog.Syslog{Facility: 2, Severity: 6, Only: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Path("PBS_TMPDIR"); got != "/scratch" {
		t.Errorf("PBS_TMPDIR is %q", got)
	}
	t.Setenv("PBS_SYSLOG", "daemon")
	t.Setenv("PBS_LOCALLOG", "1")
	t.Setenv("PBS_SYSLOGSEVR", "")
	t.Setenv("PBS_ENVIRONMENT", "PBS_BATCH") // as jobs have it
	if got := Syslog(); got != (daylog.Syslog{}) {
		t.Errorf("%+v without a number", got)
	}
	if got := Path("PBS_ENVIRONMENT") + Path("PBS_MOM_HOME"); got != "" {
		t.Errorf("%q is no absolute path", got)
	}
}
