package real

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/chaos"
	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/planted"
	"rampart/cmd/devrun"
)

var (
	kills = flag.Int("kills", 0, "how often TestReal_LeadersDie kills the leader (default: 100, a few with -short)")
	each  = flag.Int("each", 25, "how many of the kills each cluster of TestReal_LeadersDie takes")
	seed  = flag.Uint64("seed", 1, "of the load")
	built = flag.String("bin", "", "folder of the programs; else they are built")
	fires = flag.Int("rounds", 1, "how often TestReal_ReleasesUnderFire strikes all that take part")
	keep  = flag.Bool("keep", false, "keep the folders of the clusters; else only failures leave theirs")
)

// bin is the folder of the programs.
var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	status, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "rr-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // job owners must get through
		return 1, err
	}
	if bin = *built; bin != "" {
		return m.Run(), nil
	}
	bin = filepath.Join(dir, "bin")
	if err := devrun.Build(context.Background(), "../..", bin); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// play plays a scenario in a cluster of its own, and wants every law to hold.
func play(t *testing.T, seed uint64, s chaos.Scenario, fence time.Duration) (*World, *chaos.Report) {
	t.Helper()
	w := start(t, Config{Size: s.World, Fence: fence, Cores: 64})
	return w, playIn(t, w, seed, s)
}

// playIn plays a scenario in a cluster that runs.
func playIn(t *testing.T, w *World, seed uint64, s chaos.Scenario) *chaos.Report {
	t.Helper()
	r := watch(t, w, seed, s)
	if !r.Good() {
		t.Errorf("go test ./chaos/real -run '^%s$' -args -seed %d\n%s", t.Name(), seed, r)
	}
	return r
}

// watch plays a scenario and says what came of it.
func watch(t *testing.T, w *World, seed uint64, s chaos.Scenario) *chaos.Report {
	t.Helper()
	begun := time.Now()
	r := chaos.Play(t.Context(), w, s, seed)
	t.Logf("%s in %s; a replica had to be started again %d times", r.Summary(), time.Since(begun).Round(time.Millisecond), w.Sick())
	return r
}

// start starts a cluster of the programs that are named, else of those that are tested.
func start(t *testing.T, c Config) *World {
	t.Helper()
	dir, err := os.MkdirTemp("", "rr-") // short: paths of sockets are below it
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.Bin, c.Dir = cmp.Or(c.Bin, bin), dir
	w, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Stop()
		if t.Failed() || *keep {
			t.Logf("the cluster's folder is kept: %s", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return w
}

// Leaders die under load, one after the other, and start again: nothing is lost, nothing
// happens twice, and the gap is told.
func TestReal_LeadersDie(t *testing.T) {
	t.Parallel()
	n := *kills
	if n == 0 {
		n = 100
		if testing.Short() {
			n = 3
		}
	}
	var gaps Gaps
	for left := n; left > 0; left -= *each {
		s := LeaderKills(min(left, *each))
		w, r := play(t, *seed+uint64(n-left), s, 0)
		gaps = gaps.Join(w.Gaps(r))
		if t.Failed() {
			break
		}
	}
	if gaps.Kills < n || len(gaps.Acked) < n-1 {
		t.Errorf("%d kills, after %d of them a submission was acknowledged, want %d, and all but one at most", gaps.Kills, len(gaps.Acked), n)
	}
	t.Logf("\n%s", gaps)
}

// The jobs of a mom that is stopped for longer than its fence, or dead, are started
// elsewhere, when nothing of them lives any more (L2): that one has been, the world waits for.
func TestReal_MomFrozenBeyondItsFence(t *testing.T) {
	t.Parallel()
	play(t, *seed, MomSilentBeyondItsFence(fault.Freeze), fence)
}

func TestReal_MomDeadBeyondItsFence(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute for what a frozen mom shows as well: see make test-long")
	}
	t.Parallel()
	play(t, *seed, MomSilentBeyondItsFence(fault.Crash), fence)
}

// split is how many vnodes a host has of which jobs release some.
const split = 12

// Vnodes are released while those who bring it about die and freeze: nothing of a run lives where its
// vnodes are free for others (L3), nothing is lost, and each release is accounted for once (L10).
// Whether a strike meets a release is luck among real processes: a play in which none does is played
// again in another cluster, with other seeds.
func TestReal_ReleasesUnderFire(t *testing.T) {
	t.Parallel()
	const plays = 5
	s := Releases(*fires)
	for n := range uint64(plays) {
		w := start(t, Config{Size: s.World, Split: split})
		r := watch(t, w, *seed+n, s)
		t.Logf("%d hosts were given back", len(r.Evidence.Vacated))
		if r.Good() {
			return
		}
		if !r.SaysNothing() || n == plays-1 {
			t.Fatalf("go test ./chaos/real -run '^%s$' -args -seed %d\n%s", t.Name(), *seed+n, r)
		}
		t.Logf("too little was struck: %v", r.Verdict.Inconclusive)
		w.Stop()
	}
}

// What is wrong with a run of real processes is seen by its evidence: each edit breaks one
// law. The run itself is good.
func TestReal_ProcessesDieAndFreeze(t *testing.T) {
	t.Parallel()
	_, r := play(t, *seed, Everything(), 0)
	if t.Failed() {
		return
	}
	for law, edit := range edits {
		broken := *r.Evidence
		broken.Replicas = slices.Clone(r.Evidence.Replicas)
		edit(&broken)
		if v := check.Judge(&broken, Laws()); !strings.Contains(strings.Join(v.Broken, "\n"), law) {
			t.Errorf("%s is broken and not seen: %v", law, v.Broken)
		}
	}
}

// edits are what might have been found, by the law that it breaks.
var edits = map[string]func(*check.Evidence){
	"L1 ": func(e *check.Evidence) { e.Replicas[1].Jobs = e.Replicas[1].Jobs[1:] },
	"L2 ": func(e *check.Evidence) {
		twice := e.Runs[0]
		twice.Count++
		e.Runs = append(slices.Clone(e.Runs), twice)
	},
	"L4 ": func(e *check.Evidence) { e.Replicas[2].Sum++ },
	"L7 ": func(e *check.Evidence) { e.Replicas[0].Reread++ },
	"L8 ": func(e *check.Evidence) {
		e.Replicas[0].Jobs = append(slices.Clone(e.Replicas[0].Jobs), check.Job{ID: "9999.srv", Name: e.Replicas[0].Jobs[0].Name})
	},
	"L10 ": func(e *check.Evidence) {
		e.Replicas[1].Ledger = maps.Clone(e.Replicas[1].Ledger)
		for day, text := range e.Replicas[1].Ledger {
			e.Replicas[1].Ledger[day] = append(bytes.Clone(text), "11/21/2026 00:00:00;Q;0.srv;x\n"...)
		}
	},
	"L11 ": func(e *check.Evidence) { // an alteration that was made is not
		e.History = slices.Clone(e.History)
		for i, o := range e.History {
			if o.Kind == check.List && o.Result == check.Done {
				e.History[i].Seen = map[string]check.Seen{}
			}
		}
	},
}

// plantedPlays is how often daemons with a bug in them are played with: real processes do not always come to where it bites.
const plantedPlays = 3

// Daemons with a bug in them are found out by their processes alone.
func TestReal_PlantedBugsAreSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("builds daemons with bugs in them: see make test-long")
	}
	for _, b := range []struct {
		bug, law string
		fence    time.Duration
		split    int
		s        chaos.Scenario
	}{
		{planted.RequeueOnSilence, "L2 ", fence, 0, MomSilentBeyondItsFence(fault.Freeze)},
		{planted.ClosedQueuesOpen, "L11 ", 0, 0, LeaderKills(3)},
		{planted.HeldIsFree, "L3 held", 0, split, Releases(1)},
	} {
		t.Run(b.bug, func(t *testing.T) {
			dir := t.TempDir()
			if err := devrun.BuildPlanted(t.Context(), "../..", dir, b.bug); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			seen := false
			for n := uint64(0); n < plantedPlays && !seen; n++ {
				r := chaos.Play(t.Context(), start(t, Config{Bin: dir, Size: b.s.World, Fence: b.fence, Cores: 64, Split: b.split}), b.s, *seed+n)
				t.Logf("%s; broken: %q; trouble: %v", r.Summary(), r.Verdict.Broken, r.Trouble)
				seen = strings.Contains(strings.Join(r.Verdict.Broken, "\n"), b.law)
			}
			if !seen {
				t.Errorf("%s is not seen", b.bug)
			}
		})
	}
}
