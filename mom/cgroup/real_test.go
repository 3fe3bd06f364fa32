package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// newReal is this host; its cgroups are below a folder of the test.
func newReal(t *testing.T) *Manager {
	t.Helper()
	parent := fmt.Sprintf("rampart-test-%d", os.Getpid())
	m, err := Open(Options{
		Host: "hosta", Dir: t.TempDir(),
		Find: func() (Tree, error) { return FindTree("/", parent) },
		Warn: func(text string) { t.Skip(text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root makes cgroups")
	}
	if err := m.Set(Settings{Enabled: true, Events: allEvents}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tree, err := FindTree("/", parent)
		if err != nil {
			t.Error(err)
			return
		}
		tops := []string{filepath.Join(tree.delegated(), parent)}
		for _, point := range tree.Mounts {
			tops = append(tops, filepath.Join(point, parent))
		}
		for _, top := range tops {
			for _, below := range []string{"pbs_jobs.service/jobid", "pbs_jobs.service", ""} {
				if err := os.Remove(filepath.Join(top, below)); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Errorf("left behind: %v", err)
				}
			}
		}
	})
	return m
}

func TestRealHost(t *testing.T) {
	m := newReal(t)
	ctx := context.Background()
	r, err := m.Prepare(ctx, Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 1, 64, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Folders) == 0 {
		t.Skip("no controllers on this host")
	}
	t.Log(r.Folders)
	// It forks all the time, so that what is killed one by one would never be all.
	cmd := exec.Command("sh", "-c", "read go; while :; do sleep 1000 & sleep 0.001; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if err := m.Attach("1.srv", 1, cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Write([]byte("\n")) // what it forks before it is attached nobody would end
	deadline := time.Now().Add(10 * time.Second)
	for m.Usage("1.srv", 1).CPU == 0 {
		if time.Now().After(deadline) {
			t.Fatal("no cpu time is measured")
		}
	}
	for _, dir := range r.Folders {
		if strings.Contains(dir, "/memory/") {
			if got := strings.TrimSpace(read(filepath.Join(dir, "memory.limit_in_bytes"))); got != "67108864" {
				t.Errorf("memory limit %s", got)
			}
		}
		if strings.Contains(dir, "/cpuset/") {
			if got := parseList(read(filepath.Join(dir, "cpuset.cpus"))); len(got) != 1 {
				t.Errorf("cpus %v, want one", got)
			}
		}
	}
	if left, err := m.End(ctx, "1.srv", 1); left != 0 || err != nil {
		t.Fatalf("%d processes left, %v", left, err)
	}
	for _, dir := range r.Folders {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left", dir)
		}
	}
}

// A limit that the job is over already is refused, and the job lives.
func TestRealShrink(t *testing.T) {
	m := newReal(t)
	ctx := context.Background()
	r, err := m.Prepare(ctx, Want{Job: "2.srv", Run: 1, Parts: []Part{part("hosta", 2, 512, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(r.Folders, ":"), "memory") {
		t.Skip("no memory controller on this host")
	}
	defer func() {
		if left, err := m.End(ctx, "2.srv", 1); left != 0 || err != nil {
			t.Errorf("%d processes left, %v", left, err)
		}
	}()
	ready := filepath.Join(t.TempDir(), "ready")
	cmd := exec.Command("sh", "-c", "read go; x=$(head -c 60000000 /dev/zero | tr '\\0' x); : > "+ready+"; sleep 1000; echo $x")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	if err := m.Attach("2.srv", 1, cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Write([]byte("\n"))
	for deadline := time.Now().Add(20 * time.Second); ; {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the memory is not taken")
		}
	}
	if err := m.Resize(Want{Job: "2.srv", Run: 1, Parts: []Part{part("hosta", 1, 16, 0)}}); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("shrunk below what the job uses: %v", err)
	}
	if err := m.Resize(Want{Job: "2.srv", Run: 1, Parts: []Part{part("hosta", 1, 256, 0)}}); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the job has died: %v", err)
	}
}
