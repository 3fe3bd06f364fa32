//go:build !race && !bug_planted

package chaos

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"rampart/fsm/planted"
)

// bugRuns is in how many schedules a bug must be seen.
const bugRuns = 60

// bugs are the planted bugs and who must see them: the schedules and scenarios, in
// words of their report, or the tests of a package.
var bugs = []struct{ name, seen, pkg, run string }{
	{name: planted.UnknownIsDone, seen: `L1 |L6 |L11 `},
	{name: planted.OverCommit, pkg: "./fsm/...", run: "."},
	{name: planted.MapOrder, seen: `L4 |digest`},
	{name: planted.IllegalMove, seen: `is held by .* in state H|L5 |L11 `},
	{name: planted.ThinSnapshots, seen: `snapshot is corrupt|L7 `},
	{name: planted.ForgottenRequests, seen: `L8 |L11 `},
	{name: planted.RequeueOnSilence, seen: `L2 `},
	{name: planted.OrdersTwice, pkg: "./mom/...", run: "."},
	{name: planted.VoidOrders, pkg: "./mom/...", run: "."},
	{name: planted.LedgerGaps, pkg: "./cluster/ledger", run: "."},
	{name: planted.RecordsTwice, pkg: "./cluster/ledger", run: "."},
	{name: planted.StaleReads, seen: `L11 `},
	{name: planted.ClosedQueuesOpen, seen: `L11 .*later enabled`},
	{name: planted.LostAlterations, seen: `L11 `},
	{name: planted.SwallowedErrors, pkg: "./cluster", run: "."},
}

// Every planted bug must be seen: a checker that has never found anything is not
// trusted. It builds the tests again, and takes minutes.
func TestPlantedBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and plays the bugs: see make test-long")
	}
	schedules := filepath.Join(t.TempDir(), "chaos.test")
	if out, err := goTool(t, "test", "-c", "-tags", "bug_planted", "-o", schedules, "."); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			if b.pkg == "" {
				seenBySchedules(t, schedules, b.name, b.seen)
			} else {
				seenByPackage(t, b.name, b.pkg, b.run)
			}
		})
	}
}

func seenBySchedules(t *testing.T, binary, bug, seen string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run", "TestSchedules|TestScenarios", "-bug", bug,
		"-runs", strconv.Itoa(bugRuns), "-files", "0", "-seed", strconv.FormatUint(*firstSeed, 10))
	out, err := cmd.CombinedOutput()
	if err == nil || !regexp.MustCompile(seen).Match(out) {
		t.Errorf("not seen (%q), %v:\n%s", seen, err, tail(out))
		return
	}
	runs := strings.Count(string(out), "--- FAIL: TestSchedules/") + strings.Count(string(out), "--- FAIL: TestScenarios/")
	t.Logf("seen in %d runs of %d (0: the first one ended the process)", runs, bugRuns+len(Scenarios()))
}

func seenByPackage(t *testing.T, bug, pkg, run string) {
	t.Helper()
	out, err := goTool(t, "test", "-tags", "bug_planted", "-ldflags", "-X rampart/fsm/planted.Bug="+bug, "-run", run, pkg)
	failed := regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`).FindAllSubmatch(out, -1)
	if err == nil || len(failed) == 0 {
		t.Errorf("not seen by %s, %v:\n%s", pkg, err, tail(out))
		return
	}
	for _, f := range failed {
		t.Logf("seen by %s", f[1])
	}
}

func goTool(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	if args[len(args)-1] != "." {
		cmd.Dir = ".."
	}
	return cmd.CombinedOutput()
}

func tail(out []byte) []byte { return out[max(0, len(out)-4000):] }
