package hook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bombUID is an account that has no processes.
const bombUID = 54399

// processesOf counts those that run under an account.
func processesOf(t *testing.T, uid uint32) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if info, err := os.Stat(p); err == nil && info.Sys().(*syscall.Stat_t).Uid == uid {
			n++
		}
	}
	return n
}

// A script of a user that forks without end meets the limit of its account, and its alarm ends
// all of them.
func TestRuntime_ForkBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of processes")
	}
	if os.Getuid() != 0 {
		t.Skip("only root runs hooks of others")
	}
	r := newTestRuntime(t)
	dir := t.TempDir()
	met := filepath.Join(dir, "met")
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chown(dir, bombUID, bombUID)); err != nil {
		t.Fatal(err)
	}
	a, _ := try(t, r, queue(), `import os, time
while True:
    try:
        os.fork()
    except OSError as e:
        open('`+met+`', 'a').write(str(e))
        time.sleep(60)
`, func(run *Run) {
		run.Hook.Attrs["alarm"] = "10"
		run.User = &User{UID: bombUID, GID: bombUID, Groups: []uint32{bombUID}}
	})
	if !a.TimedOut {
		t.Errorf("the bomb: %+v", a)
	}
	if text, err := os.ReadFile(met); err != nil || !strings.Contains(string(text), "unavailable") {
		t.Errorf("it met %q, %v", text, err)
	}
	if a, _ := try(t, r, queue(), "import pbs\npbs.event().reject('next')"); a.Message != "next" {
		t.Errorf("the next script: %+v", a)
	}
	for end := time.Now().Add(30 * time.Second); processesOf(t, bombUID) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d processes are left", processesOf(t, bombUID))
		}
	}
}
