package devrun

import (
	"os/exec"
	"syscall"
	"testing"
)

// A process counts as stopped when it stands, and as one when it is gone.
func TestAwaitStop(t *testing.T) {
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	pid := sleeper.Process.Pid
	if stopped(pid) {
		t.Error("it goes on, and counts as stopped")
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := awaitStop(pid); err != nil || !stopped(pid) {
		t.Errorf("it stands: %v", err)
	}
	if err := sleeper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = sleeper.Wait() // it was killed
	if err := awaitStop(pid); err != nil {
		t.Errorf("it is gone: %v", err)
	}
}
