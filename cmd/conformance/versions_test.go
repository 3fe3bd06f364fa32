package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"rampart/fsm/command"
)

// root is the folder of the module, seen from the tests.
const root = "../.."

// levelFile is where a build says which feature level it knows.
const levelFile = "fsm/command/level.go"

var featureLevel = regexp.MustCompile(`(?m)^(const FeatureLevel uint32 = )(\d+)$`)

// A version is a build of the programs: present ones, older or newer ones.
type version struct {
	dir   string // of rampart and pbs
	level uint32 // the feature level that it knows
}

// present is the build that all other tests try.
func present() version { return version{bin, command.FeatureLevel} }

// buildAt builds the programs of this tree for another feature level: all that makes them
// older or newer is what they say and propose. No such build can be made by chance.
func buildAt(t *testing.T, level uint32) version {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, levelFile))
	if err != nil {
		t.Fatal(err)
	}
	if !featureLevel.Match(text) {
		t.Fatalf("%s says no feature level", levelFile)
	}
	other := featureLevel.ReplaceAll(text, fmt.Appendf(nil, "${1}%d", level))
	return version{buildWith(t, map[string][]byte{levelFile: other}), level}
}

// buildWith builds the programs with some files of the tree replaced; nil takes one away.
func buildWith(t *testing.T, replace map[string][]byte) (dir string) {
	t.Helper()
	dir = buildFolder(t)
	files, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	overlay := make(map[string]string)
	for file, text := range replace {
		at := ""
		if text != nil {
			at = filepath.Join(dir, strconv.Itoa(len(overlay)))
			if err := os.WriteFile(at, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		overlay[filepath.Join(files, file)] = at
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o600); err != nil {
		t.Fatal(err)
	}
	for program, tags := range map[string]string{"rampart": "", "pbs": "urfave_cli_no_docs"} {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-tags", tags,
			"-overlay", filepath.Join(dir, "overlay.json"), "-o", dir+"/", "./cmd/"+program)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
	}
	return dir
}

// buildFolder is one that everybody may enter.
func buildFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(scratch), "build-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
