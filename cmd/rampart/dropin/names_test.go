package dropin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rampart/cmd/rampart/home"
	"rampart/fsm/pbs"
	"rampart/transport/own"
)

func TestRun_CommandLines(t *testing.T) {
	for _, c := range []struct{ line, says string }{
		{"pbs_server -Z", "invalid option -- 'Z'"},
		{"pbs_server -t create", "-t create"},
		{"pbs_server -a true", "option -a is not supported"},
		{"pbs_server more", `"more" is one word too many`},
		{"pbs_server -e 511 -M 15002 -S 15004 -F -1 more", `"more" is one word too many`},
		{"pbs_server -s text more", `"more" is one word too many`},
		{"pbs_mom -p -r", "-p and -r"},
		{"pbs_mom -a 10 -n 5 -R 15003 -S 15001 -p -r", "-p and -r"},
		{"pbs_sched -a 300 -p out -S 15004 -t 2 -I a/b", `-I "a/b"`},
		{"pbs_mom -L log", "-L log: want an absolute path"},
		{"pbs_mom -C images", "-C images: want an absolute path"},
		{"pbs_server -L log", "-L log: want an absolute path"},
		{"pbs_sched -I a/b", `-I "a/b"`},
	} {
		t.Setenv("PBS_HOME", t.TempDir())
		words := strings.Fields(c.line)
		err := Run(t.Context(), World{Args: words, Stdout: io.Discard, Stderr: io.Discard}, words[0])
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.line, err)
		}
	}
	for _, name := range Names() {
		var out bytes.Buffer
		err := Run(t.Context(), World{Args: []string{name, "--version"}, Stdout: &out}, name)
		if err != nil || out.String() != "pbs_version = "+pbs.Version+"\n" {
			t.Errorf("%s --version: %q, %v", name, out.String(), err)
		}
	}
	if Knows("rampart") || Knows("qsub") {
		t.Error("rampart and qsub are no daemons")
	}
}

// TestFirstStart_ElsewhereSaysWhatToRun: nobody founds a second cluster by mistake.
func TestFirstStart_ElsewhereSaysWhatToRun(t *testing.T) {
	t.Setenv("PBS_HOME", t.TempDir())
	t.Setenv("PBS_SERVER", "first.invalid,second.invalid")
	t.Setenv("PBS_LEAF_NAME", "node1")
	for name, words := range map[string][]string{
		"pbs_server": {"rampart token create --role replica --host node1", "rampart server join", "--replica first.invalid:15001"},
		"pbs_mom":    {"rampart token create --role mom --host node1", "rampart mom join", "--replica first.invalid:15001"},
	} {
		w := World{Args: []string{name}, Stdout: io.Discard, Stderr: io.Discard, Address: func() string { return "127.0.0.1" }}
		err := Run(t.Context(), w, name)
		for _, word := range words {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v says nothing of %q", name, err, word)
			}
		}
	}
}

func TestSayUp(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	left := 3
	sayUp(t.Context(), write, func() string {
		left--
		if left > 0 {
			return "not yet"
		}
		return ""
	})
	if word, err := io.ReadAll(read); string(word) != "up" || err != nil || left != 0 {
		t.Errorf("said %q after %d looks: %v", word, 3-left, err)
	}
}

// TestFree_WaitsForOneThatEnds: a lock is refused while its file names a process, and waited
// for when that was told to end.
func TestFree_WaitsForOneThatEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.lock")
	lock, err := home.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	c := &call{}
	if err := c.free(t.Context(), path); !errors.Is(err, own.ErrRunning) {
		t.Errorf("one that runs: %v", err)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for what, pid := range map[string]string{"one that ends": "", "one that was killed": fmt.Sprintln(gone.Process.Pid)} {
		if err := os.WriteFile(path, []byte(pid), 0o644); err != nil {
			t.Fatal(err)
		}
		held := lock
		time.AfterFunc(100*time.Millisecond, func() { _ = held.Close() })
		if err := c.free(t.Context(), path); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if lock, err = home.Lock(path); err != nil {
			t.Fatal(err)
		}
	}
}
