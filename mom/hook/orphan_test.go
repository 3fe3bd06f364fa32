package hook

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A daemon that is killed leaves no hook behind, nor what the hook has started: the interpreter
// ends them when nobody is at its door any more.
func TestWorker_EndsHooksOfADeadDaemon(t *testing.T) {
	r := newTestRuntime(t)
	file := filepath.Join(t.TempDir(), "pids")
	script := `
import os, subprocess, sys, time
if os.path.exists("` + file + `"):
    sys.exit()  # it runs again, for its interpreter has ended
child = subprocess.Popen(["sleep", "1000"])
with open("` + file + `.new", "w") as f:
    f.write("%d %d" % (os.getpid(), child.pid))
os.rename("` + file + `.new", "` + file + `")
time.sleep(1000)
`
	done := make(chan struct{})
	go func() {
		defer close(done)
		run := Run{Hook: Hook{Name: "h", Attrs: map[string]string{"alarm": "600", "event": "queuejob"}}, Script: []byte(script), Event: queue(), Dir: "/"}
		_, _ = r.Do(t.Context(), run)
	}()
	var pids []string
	deadline := time.Now().Add(20 * time.Second)
	for len(pids) == 0 && time.Now().Before(deadline) {
		text, err := os.ReadFile(file)
		if err != nil {
			<-time.After(10 * time.Millisecond)
			continue
		}
		pids = strings.Fields(string(text))
	}
	if len(pids) != 2 {
		t.Fatalf("the hook has not started: %v", pids)
	}
	r.mu.Lock()
	door := r.worker.door
	r.mu.Unlock()
	if err := door.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		for lives(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d of the hook is still there", pid)
			}
			<-time.After(10 * time.Millisecond)
		}
	}
	<-done
}

// lives reports whether a process is there and is no zombie.
func lives(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(state, "Z")
}
