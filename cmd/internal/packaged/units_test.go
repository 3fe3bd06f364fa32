package packaged

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// units copies the units to a folder, with programs that there are, and the drop-in for replicas
// without root as one more; it returns the files.
func units(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "packaging", "systemd", "*.service"))
	if err != nil || len(found) != 4 {
		t.Fatalf("units %v, %v", found, err)
	}
	dir, dropIn := t.TempDir(), filepath.Join(root, "packaging", "examples", "unprivileged.conf")
	program := regexp.MustCompile(`/opt/pbs/sbin/pbs_[a-z]+`)
	var files []string
	write := func(name string, sources ...string) {
		var all []byte
		for _, source := range sources {
			text, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text...)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, program.ReplaceAll(all, []byte("/bin/true")), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for _, unit := range found {
		write(filepath.Base(unit), unit)
	}
	write("unprivileged.service", filepath.Join(root, "packaging", "systemd", "rampart-server.service"), dropIn)
	return files
}

// oldest is the version of systemd from which on hosts know all lines of the units.
const oldest = 252

// version returns that of systemd.
func version(t *testing.T, analyze string) int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), analyze, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	var v int
	if _, err := fmt.Sscanf(string(out), "systemd %d", &v); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	return v
}

// TestUnits_SystemdKnowsThem: no line is unknown to the systemd of this machine, which is one of
// those that hosts have.
func TestUnits_SystemdKnowsThem(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	if v := version(t, analyze); v < oldest {
		t.Skipf("systemd %d is older than %d, for which the units are written", v, oldest)
	}
	out, err := exec.CommandContext(t.Context(), analyze, append([]string{"verify", "--man=no", "--recursive-errors=no"}, units(t)...)...).CombinedOutput()
	if err != nil || len(strings.TrimSpace(string(out))) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestUnits_NothingTooNew: systemd 252, the oldest that hosts have, passes over what came later
// with a warning, and leaves out what it was to do.
func TestUnits_NothingTooNew(t *testing.T) {
	later := regexp.MustCompile(`(?m)^(DelegateSubgroup|ImportCredential|MemoryPressureWatch|PrivatePIDs|ProtectControlGroupsEx|CoredumpReceive|SurviveFinalKillSignal|RestartSteps|RestartMaxDelaySec|RestartMode|RootEphemeral|OpenFile|ExtensionImagePolicy|FileDescriptorStorePreserve|PrivateUsersEx)=`)
	for _, file := range units(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m := later.Find(text); m != nil {
			t.Errorf("%s has %s", filepath.Base(file), m)
		}
	}
}

// TestUnits_ConfineReplicas: every unit but the mom's, whose jobs would inherit it, bounds what
// its daemon can do.
func TestUnits_ConfineReplicas(t *testing.T) {
	for _, file := range units(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"\nProtectSystem=", "\nCapabilityBoundingSet=", "\nSystemCallFilter="} {
			if mom := strings.HasSuffix(file, "rampart-mom.service"); strings.Contains(string(text), line) == mom {
				t.Errorf("%s: %q", filepath.Base(file), line)
			}
		}
	}
}
