package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"rampart/cmd/devrun"
	"rampart/fsm/planted"
)

var featureLevel = regexp.MustCompile(`(?m)^(const FeatureLevel uint32 = )(\d+)$`)

// newerBuild builds the programs of a version to come: all that it has more is a feature
// level.
func newerBuild(t *testing.T) (dir string, level uint32) {
	t.Helper()
	dir = buildFolder(t)
	source, err := filepath.Abs("../../fsm/command/level.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	at := featureLevel.FindSubmatch(text)
	if at == nil {
		t.Fatalf("%s says no feature level", source)
	}
	now, err := strconv.ParseUint(string(at[2]), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	next := featureLevel.ReplaceAll(text, fmt.Appendf(nil, "${1}%d", now+1))
	file := filepath.Join(dir, "level.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: file}})
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{file: next, filepath.Join(dir, "overlay.json"): overlay} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"./cmd/rampart", "./cmd/pbs"} {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-overlay", filepath.Join(dir, "overlay.json"), "-o", dir+"/", program)
		cmd.Dir, cmd.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
	}
	return dir, uint32(now + 1)
}

// buildFolder is one that everybody may enter.
func buildFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(bin), "build-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestStatus76_OldBuild: all replicas run a newer version, and the cluster has gone over to
// what only it knows; then one is started in the present version.
func TestStatus76_OldBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another version: see make test-long")
	}
	newer, level := newerBuild(t)
	c := clusterOf(t, newer, "--moms", "0")
	waitFor(t, patience, "the newer feature level", func() error {
		out, err := c.Output(t.Context(), "rampart", "cluster", "status", "--json")
		var s struct {
			Level uint32 `json:"feature_level"`
		}
		if err == nil {
			err = json.Unmarshal([]byte(out), &s)
		}
		if err == nil && s.Level != level {
			err = fmt.Errorf("it is %d", s.Level)
		}
		return err
	})
	victim := follower(t, c)
	kill(t, c, victim)
	refused(t, c, filepath.Join(bin, "rampart"), c.Home(victim), 76, "this build is too old for the cluster")
	restart(t, c, victim)
}

// TestStatus75_Drift: one replica runs a build with a bug by which its state differs from
// that of the others. It is found out, ends, and is installed anew by its next start.
func TestStatus75_Drift(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a version with a bug in it: see make test-long")
	}
	ill := buildFolder(t)
	if err := devrun.BuildPlanted(t.Context(), "../..", ill, planted.LostAlterations); err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, "--moms", "0")
	id, err := c.Output(t.Context(), "qsub", "-h", "--", "/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	victim := follower(t, c)
	kill(t, c, victim)
	ended := make(chan struct{})
	cmd := exec.CommandContext(t.Context(), filepath.Join(ill, "rampart"), "server")
	cmd.Env = append(slices.Clone(c.Env), "PBS_HOME="+c.Home(victim))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for n := 0; ; n++ { // every other one is lost
		if _, err := c.Output(t.Context(), "qalter", "-p", strconv.Itoa(n%1000), id); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ended:
			if got := cmd.ProcessState.ExitCode(); got != 75 {
				t.Fatalf("a replica that differs ended with %d, want 75", got)
			}
			restart(t, c, victim)
			return
		case <-time.After(500 * time.Millisecond):
			if n > 240 {
				t.Fatal("a replica that differs goes on")
			}
		}
	}
}
