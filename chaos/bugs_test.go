//go:build !race

package chaos

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rampart/chaos/planted"
)

// A bug is played ten seeds at a time, or a few scenarios, until two runs or more have seen
// it; one that this is too little for would be found by luck only.
const (
	bugBatch = 10
	bugMost  = 60
	bugRuns  = 2
)

// A planting is a bug and who must see it.
type planting struct {
	bug    string
	bubble sight
	tests  []sight
}

// A sight is one way to see a bug. In the bubble, run is drawn, or how the names of
// scenarios begin, and seen is what the report of a run says of the bug; of the tests of a
// package, each one that is named in run must fail.
type sight struct{ pkg, run, seen string }

const (
	drawn  = "schedules"
	exiles = "fence: a mom is cut off from everybody"
	deaths = "fence: a mom dies and its jobs do not"
	lies   = "gossip: "
	givers = "releases, "

	rivalling = "rivalries, "
	ailing    = "sickness, "
	plans     = "plans, "
)

var plantings = []planting{
	{bug: planted.UnknownIsDone, bubble: sight{run: drawn, seen: `L1 no job lost|L6 true|L11 lin`}},
	{bug: planted.RequeueOnSilence, bubble: sight{run: exiles, seen: `L2 one run`}},
	{bug: planted.FenceForgotten, bubble: sight{run: exiles, seen: `L2 one run`}, tests: []sight{
		{pkg: "./cluster/dispatch", run: "TestFence_ANewLeaderWaitsAnew"},
	}},
	{bug: planted.DeadlineIgnored, bubble: sight{run: deaths, seen: `L2 one run|no program was ended at its deadline`}, tests: []sight{
		{pkg: "./mom/proc", run: "TestFence_FallsByTimeLapseAndBoot|TestFence_NothingStartsBehindIt"},
		{pkg: "./mom", run: "TestFence_CutOffFromEverybody|TestFence_MomDeadOrServersDown"},
	}},
	{bug: planted.OldRunsCount, bubble: sight{run: exiles, seen: `L2 one run`}, tests: []sight{
		{pkg: "./fsm", run: "TestTranscripts/law2"},
	}},
	{bug: planted.OverCommit, bubble: sight{run: drawn, seen: `promised more than it has \(L3\)`}, tests: []sight{
		{pkg: "./fsm", run: "TestTranscripts/law3"},
		{pkg: "./cluster/sched", run: "TestMake_NeverPromisesTooMuch"},
	}},
	{bug: planted.MapOrder, bubble: sight{run: drawn, seen: `L4 same state`}},
	{bug: planted.UnknownIsSkipped, tests: []sight{{pkg: "./fsm/command", run: "TestDecode_Unknown"}}},
	{bug: planted.IllegalMove, bubble: sight{run: drawn, seen: `is held by .* in state H`}},
	{bug: planted.ThinSnapshots, bubble: sight{run: drawn, seen: `the store is damaged`}, tests: []sight{
		{pkg: "./fsm/snapshot", run: "TestRead_EverySection"},
	}},
	{bug: planted.ForgottenRequests, bubble: sight{run: drawn, seen: `L8 one job`}},
	{bug: planted.OperandsAlike, tests: []sight{{pkg: "./cli/pbs", run: "TestTranscripts/jobs.txt"}}},
	{bug: planted.OrdersTwice, tests: []sight{
		{pkg: "./mom", run: "TestDeliver_OvertakenRunStartsNothing"},
		{pkg: "./mom/spool", run: "TestOrders_AnswersEpochTermLowest"},
	}},
	{bug: planted.VoidOrders, tests: []sight{{pkg: "./mom", run: "TestDeliver_OlderThanTheRegistration"}}},
	{bug: planted.FactsForgotten, tests: []sight{{pkg: "./mom/spool", run: "TestPending_StaysUntilAcknowledged"}}},
	{bug: planted.LedgerGaps, tests: []sight{
		{pkg: "./cluster/ledger", run: "TestLedger_SameFilesEverywhere|TestGap_FullDisk"},
	}},
	{bug: planted.RecordsTwice, tests: []sight{
		{pkg: "./cluster/ledger", run: "TestLedger_SameFilesEverywhere|TestMidnight_SameFilesWhateverHappensInBetween"},
	}},
	{bug: planted.StaleReads, bubble: sight{run: drawn, seen: `L11 linearizable`}},
	{bug: planted.ClosedQueuesOpen, bubble: sight{run: drawn, seen: `L11 .*later enabled`}},
	{bug: planted.LostAlterations, bubble: sight{run: drawn, seen: `L11 linearizable`}},
	{bug: planted.SwallowedErrors, tests: []sight{
		{pkg: "./cluster/store", run: "TestGuard_OneFailureFailsAllLaterWrites"},
	}},
	{bug: planted.HeldIsFree, bubble: sight{run: givers, seen: `L3 held until left`}, tests: []sight{
		{pkg: "./fsm/command", run: "TestReleaseNodes_WholeHostIsFreedByItsMom"},
	}},
	{bug: planted.EndlessPreemption, bubble: sight{run: rivalling, seen: `L5 nobody makes way twice`}, tests: []sight{
		{pkg: "./cluster/sched", run: "TestPreempt_OnceAndForGood"},
	}},
	{bug: planted.SickHostsDraw, bubble: sight{run: ailing, seen: `L14 nobody waits`}, tests: []sight{
		{pkg: "./fsm/command", run: "TestBlame_SickHost"},
	}},
	{bug: planted.DoubleBooking, bubble: sight{run: drawn, seen: `\(L15\)`}, tests: []sight{
		{pkg: "./fsm/command", run: "TestReservation_NothingTwice"},
	}},
	{bug: planted.PlansPassed, bubble: sight{run: plans, seen: `L15 plans are kept`}},
	{bug: planted.GossipIsBelieved, bubble: sight{run: lies, seen: `L13 live moms`}, tests: []sight{
		{pkg: "./cluster/dispatch", run: "TestWatcher"},
	}},
}

// Every planted bug must be seen: a checker that has never found anything is not
// trusted. It builds the tests again, and takes minutes.
func TestPlantedBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and plays the bugs: see make test-long")
	}
	dir := t.TempDir()
	overlay, err := planted.Overlay("..", dir)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "chaos.test")
	// Without vet, which would look for a package where there is one in the overlay alone.
	if out, err := goTool(t, ".", "test", "-vet=off", "-c", "-overlay", overlay, "-o", binary, "."); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, p := range plantings {
		t.Run(p.bug, func(t *testing.T) {
			if p.bubble.run != "" {
				seenInBubble(t, binary, p.bug, p.bubble)
			}
			for _, s := range p.tests {
				seenByTests(t, overlay, p.bug, s)
			}
		})
	}
}

// A bug that nobody has to see might as well not be planted.
func TestPlantedBugs_AllAreListed(t *testing.T) {
	var listed []string
	for _, p := range plantings {
		if p.bubble.run == "" && len(p.tests) == 0 {
			t.Errorf("nobody has to see %s", p.bug)
		}
		listed = append(listed, p.bug)
	}
	slices.Sort(listed)
	if bugs := planted.Bugs(); !slices.Equal(bugs, listed) {
		t.Errorf("planted: %v\nlisted:  %v", bugs, listed)
	}
}

// seenInBubble plays seeds until enough runs have seen the bug.
func seenInBubble(t *testing.T, binary, bug string, s sight) {
	t.Helper()
	run, each := s.games()
	begun, seen, played, last := time.Now(), 0, 0, []byte(nil)
	for seed := *firstSeed; seen < bugRuns && played < bugMost; seed += bugBatch {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		cmd := exec.CommandContext(ctx, binary, "-test.run", run,
			"-runs", strconv.Itoa(bugBatch), "-seed", strconv.FormatUint(seed, 10))
		cmd.Env = append(os.Environ(), planted.Environment+"="+bug)
		last, _ = cmd.CombinedOutput()
		cancel()
		n, all := sightings(last, regexp.MustCompile(s.seen), each)
		seen, played = seen+n, played+all
	}
	if seen < bugRuns {
		t.Errorf("%q seen in %d runs of %d; the last ones:\n%s", s.seen, seen, played, tail(last))
		return
	}
	t.Logf("seen in %d runs of %d, in %s", seen, played, time.Since(begun).Round(time.Second))
}

// games returns what to run and how many runs that are.
func (s sight) games() (run string, n int) {
	if s.run == drawn {
		return "TestSchedules", bugBatch
	}
	for _, scenario := range Scenarios() {
		if strings.HasPrefix(scenario.Name, s.run) {
			n++
		}
	}
	return "TestScenarios/^" + s.run, n
}

// failure is where the report of a run begins, and a panic that ended all of them.
var failure = regexp.MustCompile(`(?m)^(    --- FAIL: Test\w+/|panic: |fatal error: )`)

// sightings counts the runs whose report shows the bug, among those that were played to
// their end. A run that ends the process is the last one of its batch.
func sightings(out []byte, seen *regexp.Regexp, runs int) (n, played int) {
	starts, died := failure.FindAllIndex(out, -1), false
	for i, at := range starts {
		end := len(out)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		died = died || !bytes.HasPrefix(out[at[0]:], []byte("    "))
		if seen.Match(out[at[0]:end]) {
			n++
		}
	}
	if died {
		runs = len(starts)
	}
	return n, runs
}

// What another run says, or the history of one, is not taken for a sight of the bug.
func TestPlantedBugs_Sightings(t *testing.T) {
	const fail, law = "    --- FAIL: TestSchedules/seed=1 (0.10s)\n", "            \tL5 legal moves: 1.srv\n"
	seen := regexp.MustCompile("L5 legal")
	for _, c := range []struct {
		name, out string
		n, runs   int
	}{
		{"nothing", "PASS\n", 0, 10},
		{"one of two", fail + law + fail + "L4 same state\n", 1, 10},
		{"twice in one", fail + law + law, 1, 10},
		{"before any report", law + fail, 0, 10},
		{"the process ended", fail + "L4 same state\npanic: L5 legal\n", 1, 2},
	} {
		if n, runs := sightings([]byte(c.out), seen, 10); n != c.n || runs != c.runs {
			t.Errorf("%s: seen in %d of %d, want %d of %d", c.name, n, runs, c.n, c.runs)
		}
	}
}

// seenByTests runs the named tests of a package: each of them must fail.
func seenByTests(t *testing.T, overlay, bug string, s sight) {
	t.Helper()
	begun, run := time.Now(), strings.Replace("^("+s.run+")$", "/", ")$/^(", 1)
	out, _ := goTool(t, "..", "test", "-vet=off", "-count", "1", "-timeout", "5m", "-overlay", overlay,
		"-ldflags", "-X "+planted.Variable+"="+bug, "-run", run, s.pkg)
	for _, test := range strings.Split(s.run, "|") {
		if !bytes.Contains(out, []byte("--- FAIL: "+test)) {
			t.Errorf("not seen by %s in %s:\n%s", test, s.pkg, tail(out))
			return
		}
	}
	t.Logf("seen by %s in %s, in %s", s.run, s.pkg, time.Since(begun).Round(time.Second))
}

func goTool(t *testing.T, dir string, args ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}

func tail(out []byte) []byte { return out[max(0, len(out)-4000):] }
