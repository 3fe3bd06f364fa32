package chaos

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// failures is the table of what may come between a release and its end: whatever it is, there is a
// scenario here that judges it by the laws, or a test that plays it step by step. A test is named by its
// package and its name; docs/ramp-down.md tells users what then is.
var failures = []struct {
	what      string
	scenarios []string
	tests     map[string][]string // by package
}{
	{"the job ends", []string{"releases, sisters die"}, map[string][]string{
		"fsm/command": {"TestReleaseNodes_JobEndsMeanwhile"}, "mom": {"TestRelease_JobEndsMeanwhile"},
	}},
	{"the job is deleted", []string{"releases, leaders die"}, map[string][]string{"fsm/command": {"TestReleaseNodes_JobEndsMeanwhile", "TestReleaseNodes_EndsSuspended"}}},
	{"the job is suspended", []string{"suspensions, leaders die and only cpus are given back"}, map[string][]string{
		"fsm/command": {"TestReleaseNodes_Suspended"}, "cluster/service": {"TestSuspend_WaitsForARelease", "TestRelease_OfASuspendedJob", "TestRelease_InTheSameMoment"},
	}},
	{"the job is queued again", []string{"releases, leaders die"}, map[string][]string{"fsm/command": {"TestReleaseNodes_Rerun"}}},
	{"a node is set offline", nil, map[string][]string{"fsm/command": {"TestReleaseNodes_NodeOffline"}}},
	{"there is no quorum", []string{"releases, all replicas die at once"}, nil},
	{"the leader dies when it is asked for", []string{"releases, the leader dies when one is asked for"}, nil},
	{"the leader dies when it is done", []string{"releases, the leader dies when one is done"}, nil},
	{"the leader dies when it is withdrawn", nil, map[string][]string{
		"cluster/dispatch": {"TestReleases_WithdrawnByWhoeverLeads"},
	}},
	{"the leader dies when a host has left", []string{"releases, the leader dies when a host has left"}, nil},
	{"the mother superior is started again", []string{"releases, mothers superior die"}, map[string][]string{"mom": {"TestRelease_MomsDie"}}},
	{"the mother superior is silent", []string{"releases, a mother superior is cut off"}, map[string][]string{"fsm/command": {"TestReleaseNodes_Withdrawn"}, "mom": {"TestRelease_Withdrawn"}}},
	{"the mother superior refuses", nil, map[string][]string{"fsm/command": {"TestReleaseNodes_MomRefuses"}}},
	{"a sister is dead for long", []string{"releases, sisters die", "releases, a sister is cut off"}, map[string][]string{"mom": {"TestRelease_MomsDie"}}},
	{"a sister's host is booted", []string{"releases, hosts of sisters are booted"}, map[string][]string{"mom": {"TestRelease_BootedSister"}}},
	{"a sister is lost", nil, map[string][]string{"fsm/command": {"TestReleaseNodes_LostHost", "TestReleaseNodes_LostHostOfOpenRelease"}}},
	{"another release is asked for", []string{"releases, leaders die"}, map[string][]string{"cluster/service": {"TestRelease_InTheSameMoment"}}},
	{"processes die and freeze", nil, map[string][]string{"chaos/real": {"TestReal_ReleasesUnderFire"}}},
}

// Every failure that the table names is played.
func TestReleases_EveryFailure(t *testing.T) {
	var known []string
	for _, s := range Scenarios() {
		known = append(known, s.Name)
	}
	for _, f := range failures {
		if len(f.scenarios)+len(f.tests) == 0 {
			t.Errorf("nothing plays that %s", f.what)
		}
		for _, name := range f.scenarios {
			if !slices.Contains(known, name) {
				t.Errorf("%s: there is no scenario %q", f.what, name)
			}
		}
		for folder, names := range f.tests {
			text := sources(t, folder)
			for _, name := range names {
				if !regexp.MustCompile(`(?m)^func ` + name + `\(`).MatchString(text) {
					t.Errorf("%s: %s has no test %s", f.what, folder, name)
				}
			}
		}
	}
}

// sources returns the tests of a package.
func sources(t *testing.T, folder string) (text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		one, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text += string(one)
	}
	return text
}
