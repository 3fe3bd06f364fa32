package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cgroups makes a cgroup in the hierarchies of this host that need no set-up, and returns its
// folders.
func cgroups(t *testing.T) []string {
	t.Helper()
	var folders []string
	for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/freezer"} {
		if _, err := os.Stat(filepath.Join(mount, cgroupProcs)); err != nil {
			continue
		}
		dir := filepath.Join(mount, fmt.Sprintf("rampart-test-%d", os.Getpid()), t.Name())
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Skipf("this host lets us make no cgroups: %v", err)
		}
		folders = append(folders, dir)
	}
	if len(folders) == 0 {
		t.Skip("this host has no cgroups mounted")
	}
	t.Cleanup(func() {
		for {
			if n, err := KillCgroup(folders); n == 0 || err != nil {
				break
			}
		}
		if err := RemoveCgroup(folders); err != nil {
			t.Error(err)
		}
		for _, dir := range folders {
			_ = os.Remove(filepath.Dir(dir))
		}
	})
	return folders
}

func TestBornInCgroup(t *testing.T) {
	l, dir, folders := newLinux(t), folder(t), cgroups(t)
	spec := shell(dir, "cat /proc/self/cgroup; sleep 1000")
	spec.Cgroups, spec.First = folders, true
	h := start(t, l, dir, spec)
	eventually(t, "the script has told its cgroups", func() (bool, string) {
		text := output(t, spec.Stdout)
		return strings.Count(text, "/"+t.Name()+"\n") == len(folders), text
	})
	shim, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", h.PID))
	if err != nil {
		t.Fatal(err)
	}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/cgroup", h.PID))
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if strings.Contains(string(text), t.Name()) {
			t.Errorf("a thread of the shim is in the job's cgroup: %s\n%s", task, text)
		}
	}
	if strings.Contains(string(shim), t.Name()) {
		t.Errorf("the shim is in the job's cgroup: %s", shim)
	}
	if err := l.Signal(h, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if _, err := l.Wait(within(t), dir, h); err != nil {
		t.Error(err)
	}
}

// stranger puts a process into the cgroup that is neither a shim's child nor of a job's session;
// gone is closed when it has ended.
func stranger(t *testing.T, folders []string) (gone chan struct{}) {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone = make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(gone)
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if err := EnterCgroup(folders, cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	return gone
}

// The fence empties the cgroup, whichever program's shim has seen it fall.
func TestFence_EmptiesTheCgroup(t *testing.T) {
	l, dir, folders := newLinux(t), folder(t), cgroups(t)
	gone := stranger(t, folders)
	spec := fenced(t, l, dir, "sleep 1000", 5*time.Second)
	spec.Cgroups = folders
	if end, err := l.Wait(within(t), dir, start(t, l, dir, spec)); err != nil || !end.Fenced {
		t.Errorf("end %+v, %v", end, err)
	}
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Error("a process in the job's cgroup has outlived the fence")
	}
}

func TestCgroupEndsWithFirst(t *testing.T) {
	l, dir, folders := newLinux(t), folder(t), cgroups(t)
	gone := stranger(t, folders)
	second := folder(t)
	spec := shell(second, "exit 0")
	spec.Cgroups = folders
	if _, err := l.Wait(within(t), second, start(t, l, second, spec)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
		t.Fatal("the end of one program has ended others")
	default:
	}
	spec = shell(dir, "sleep 1000 & sleep 0.1")
	spec.Cgroups, spec.First = folders, true
	if _, err := l.Wait(within(t), dir, start(t, l, dir, spec)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Fatal("a process in the job's cgroup has outlived its first program")
	}
	eventually(t, "the cgroup is empty", func() (bool, string) {
		left, err := CgroupProcesses(folders)
		return err == nil && len(left) == 0, fmt.Sprint(left, err)
	})
}

// A cgroup that is gone is the host's fault: the job may run elsewhere.
func TestNoCgroupToEnter(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	spec := shell(dir, "true")
	spec.Cgroups = []string{filepath.Join(dir, "gone")}
	_, err := l.Start(within(t), dir, spec)
	if own, ok := errors.AsType[*StartError](err); err == nil || ok {
		t.Errorf("error %v, the job's own %v; want one of the host", err, own)
	}
	if _, there, err := l.Forestall(dir); there || err != nil {
		t.Errorf("forestall: %v, %v; want: nothing runs and nothing will", there, err)
	}
}

func TestRemoveCgroup(t *testing.T) {
	folders := cgroups(t)
	for _, dir := range folders {
		if err := os.MkdirAll(filepath.Join(dir, "below", "deeper"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := RemoveCgroup(folders); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := KillCgroup(folders); n != 0 || err != nil {
		t.Errorf("killing what is gone: %d, %v", n, err)
	}
}
