package chaos

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/transport/build"
)

var (
	firstSeed = flag.Uint64("seed", 1, "the first seed of TestSchedules")
	runs      = flag.Int("runs", 0, "how many schedules TestSchedules runs; 0: a sample")
	inFiles   = flag.Int("files", 0, "how many schedules TestRealStores runs; 0: a sample")
	keep      = flag.String("keep", "", "folder for the logs of every run; else nobody writes them")
)

// sample is how much is played when nobody says otherwise, with the same seeds each time: little under the race detector, which
// makes everything slower, more in short tests, for a change to be judged in minutes, and all that there is to play in long ones.
// make test-long plays 20,000 schedules with new seeds besides.
func sample(detected bool, raced, short, long int) int {
	switch {
	case detected:
		return raced
	case testing.Short():
		return short
	}
	return long
}

// inStores is how many schedules TestRealStores runs.
func inStores(detected bool) int { return cmp.Or(*inFiles, sample(detected, 1, 2, 2)) }

func TestSchedules(t *testing.T) {
	for i := range cmp.Or(*runs, sample(build.Raced, 2, 16, 50)) {
		if build.Raced && *runs == 0 && i < inStores(build.Raced) {
			continue // with files, TestRealStores shows the detector the same schedule and more code
		}
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			play(t, Schedule(seed), seed)
		})
	}
}

// Schedules with the stores that a replica has in production: a crash leaves files.
func TestRealStores(t *testing.T) {
	for i := range inStores(build.Raced) {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			playIn(t, Schedule(seed), seed, true)
		})
	}
}

func TestScenarios(t *testing.T) {
	every := sample(build.Raced, 60, 4, 1)
	for i, s := range Scenarios() {
		if i%every != every/2 { // not the same ones with the detector and without it
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			play(t, s, *firstSeed)
		})
	}
}

func play(t *testing.T, s Scenario, seed uint64) {
	t.Helper()
	playIn(t, s, seed, false)
}

// attempts is how often a run is played that says nothing: the order of goroutines and
// the time-outs that Raft draws are others each time.
const attempts = 3

// playIn runs a scenario in a bubble and prints all there is to know if it is not good.
func playIn(t *testing.T, s Scenario, seed uint64, files bool) {
	t.Helper()
	var log io.Writer = io.Discard
	if *keep != "" {
		f, err := os.Create(filepath.Join(*keep, strings.ReplaceAll(t.Name(), "/", "_")+".log"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		log = f
	}
	var report *Report
	for range attempts {
		report = bubble(t, s, seed, files, log)
		if !report.SaysNothing() {
			break
		}
		t.Logf("inconclusive: %v", report.Verdict.Inconclusive)
	}
	if !report.Good() {
		t.Errorf("go test ./chaos -run '^%s$' -args -seed %d\n%s", t.Name(), seed, report)
	}
}

// bubble runs a scenario once.
func bubble(t *testing.T, s Scenario, seed uint64, files bool, log io.Writer) (report *Report) {
	t.Helper()
	level := slog.LevelDebug
	if log == io.Discard {
		level = slog.LevelInfo // what the world itself hears
	}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level}))
	dir, begun := homes(t), time.Now()
	synctest.Test(t, func(t *testing.T) {
		report = Run(t.Context(), s, seed, Options{Dir: dir, Files: files, Logger: logger})
	})
	t.Logf("%s in %s", report.Summary(), time.Since(begun).Round(time.Millisecond))
	fmt.Fprintln(log, report)
	return report
}

// homes is a folder for the files of a run: in memory if the machine has such a place,
// for what they would wait for there is a disk and not a law.
func homes(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "rampart-chaos-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
