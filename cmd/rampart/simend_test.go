package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// asRampart holds the command line, with a newline between words, that a process of this binary is to carry out as rampart.
const asRampart = "RAMPART_TEST_LINE"

func TestMain(m *testing.M) {
	line := os.Getenv(asRampart)
	if line == "" {
		os.Exit(m.Run())
	}
	os.Args = strings.Split(line, "\n")
	os.Exit(run())
}

// left are the folders of scenarios that a process has made and not removed.
func left(t *testing.T, pid int) []string {
	t.Helper()
	var all []string
	for _, dir := range []string{"/dev/shm", os.TempDir()} {
		found, err := filepath.Glob(filepath.Join(dir, "rampart-sim-"+strconv.Itoa(pid)+"-*"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// TestSim_LeavesNothing: whoever reads the output stops, or a signal comes; no folder stays in memory.
func TestSim_LeavesNothing(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.txtar")
	if err := os.WriteFile(file, []byte("at +1\n"+strings.Repeat("at +60\n", 5000)), 0o644); err != nil {
		t.Fatal(err)
	}
	heard := make(chan os.Signal, 1) // the children are to hear it where this process was started to ignore it
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	for name, end := range map[string]func(*exec.Cmd, *os.File) error{
		"the reader leaves": func(_ *exec.Cmd, out *os.File) error { return out.Close() },
		"SIGHUP":            func(c *exec.Cmd, _ *os.File) error { return c.Process.Signal(syscall.SIGHUP) },
		"SIGTERM":           func(c *exec.Cmd, _ *os.File) error { return c.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			out, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			child := exec.CommandContext(t.Context(), self)
			child.Env, child.Stdout = append(os.Environ(), asRampart+"=rampart\nsim\n-v\n"+file), in
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			_ = in.Close()
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if len(left(t, child.Process.Pid)) != 1 {
				t.Errorf("folders of the scenario: %q, want one", left(t, child.Process.Pid))
			}
			if err := end(child, out); err != nil {
				t.Fatal(err)
			}
			drained := make(chan struct{})
			go func() {
				defer close(drained)
				buffer := make([]byte, 1<<12)
				for err := error(nil); err == nil; {
					_, err = out.Read(buffer)
				}
			}()
			err = child.Wait()
			if status, ok := errors.AsType[*exec.ExitError](err); !ok || status.ExitCode() != 1 {
				t.Errorf("%v, want exit status 1", err)
			}
			<-drained
			if dirs := left(t, child.Process.Pid); len(dirs) > 0 {
				t.Errorf("left behind: %q", dirs)
			}
		})
	}
}

// TestSim_GoesOnUnderNohup: a terminal that closes ends nothing that was started to ignore it.
func TestSim_GoesOnUnderNohup(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.txtar")
	if err := os.WriteFile(file, []byte("at +1\n"+strings.Repeat("at +60\n", 50)), 0o644); err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), "sh", "-c", `trap "" HUP; exec "$0"`, self)
	child.Env = append(os.Environ(), asRampart+"=rampart\nsim\n-v\n"+file)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := child.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, lines); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Errorf("the scenario ends with %v", err)
	}
}
