package packaged

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// standIn is a daemon for the init script: it notes how it was started, leaves its pid where a
// daemon does, and lives until it is told to end.
const standIn = `#!/bin/sh
echo "pbs_mom $*" >>"$PBS_HOME/started"
lock=$PBS_HOME/mom_priv/mom.lock
: >"$lock"
setsid -f sh -c 'trap "exit 0" INT; echo $$ >"$1"; while :; do sleep 0.05; done' pbs_mom "$lock" </dev/null >/dev/null 2>&1
while [ ! -s "$lock" ]; do sleep 0.02; done
`

// TestInitScript_Restart: the mom that is restarted adopts its jobs, one that is stopped and
// started does not; a login host's is one like any other.
func TestInitScript_Restart(t *testing.T) {
	dir := t.TempDir()
	exe, home := filepath.Join(dir, "exec"), filepath.Join(dir, "home")
	for _, d := range []string{filepath.Join(exe, "sbin"), filepath.Join(home, "mom_priv")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"pbs_mom", "pbs_server"} { // the script looks for the second
		if err := os.WriteFile(filepath.Join(exe, "sbin", name), []byte(standIn), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script, err := filepath.Abs(filepath.Join(root, "packaging", "libexec", "pbs_init.d"))
	if err != nil {
		t.Fatal(err)
	}
	command := func(word string) *exec.Cmd {
		cmd := exec.Command("sh", script, word)
		cmd.Env = append(os.Environ(), "PBS_CONF_FILE=/dev/null", "PBS_EXEC="+exe, "PBS_HOME="+home, "PBS_SERVER=head", "PBS_START_MOM=1", "PBS_START_SERVER=0")
		return cmd
	}
	t.Cleanup(func() { _ = command("stop").Run() })
	do := func(word string) string {
		t.Helper()
		out, err := command(word).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", word, err, out)
		}
		return string(out)
	}
	do("start")
	if out := do("status"); !strings.Contains(out, "pbs_mom is pid ") {
		t.Errorf("status: %s", out)
	}
	do("restart")
	if out := do("stop"); !regexp.MustCompile(`^Stopping PBS\nPBS mom - was pid: \d+\n$`).MatchString(out) {
		t.Errorf("stop: %s", out)
	}
	if err := os.Remove(filepath.Join(home, "mom_priv", "mom.lock")); err != nil {
		t.Fatal(err)
	}
	do("start")
	do("stop")
	started, err := os.ReadFile(filepath.Join(home, "started"))
	if want := "pbs_mom \npbs_mom -p\npbs_mom \n"; err != nil || string(started) != want {
		t.Errorf("started %q, want %q, %v", started, want, err)
	}
}
