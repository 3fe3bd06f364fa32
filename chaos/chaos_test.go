package chaos

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var (
	firstSeed = flag.Uint64("seed", 1, "the first seed of TestSchedules")
	runs      = flag.Int("runs", defaultRuns, "how many schedules TestSchedules runs")
	inFiles   = flag.Int("files", defaultFiles, "how many schedules TestRealStores runs")
	keep      = flag.String("keep", "", "folder for the logs of every run; else only failures leave theirs in the test's log")
)

func TestSchedules(t *testing.T) {
	for i := range *runs {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			play(t, Schedule(seed), seed)
		})
	}
}

// Schedules with the stores that a replica has in production: a crash leaves files.
func TestRealStores(t *testing.T) {
	for i := range *inFiles {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			playIn(t, Schedule(seed), seed, true)
		})
	}
}

func TestScenarios(t *testing.T) {
	for _, s := range Scenarios() {
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

// playIn runs a scenario in a bubble and prints all there is to know if it is not good.
func playIn(t *testing.T, s Scenario, seed uint64, files bool) {
	t.Helper()
	dir, log := homes(t), &lockedBuffer{}
	var sink io.Writer = log
	if *keep != "" {
		f, err := os.Create(filepath.Join(*keep, strings.ReplaceAll(t.Name(), "/", "_")+".log"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		sink = io.MultiWriter(f, log)
	}
	logger := slog.New(slog.NewTextHandler(sink, &slog.HandlerOptions{Level: slog.LevelDebug}))
	begun := time.Now()
	var report *Report
	synctest.Test(t, func(t *testing.T) {
		report = Run(t.Context(), s, seed, Options{Dir: dir, Files: files, Logger: logger})
	})
	t.Logf("%s in %s", report.Summary(), time.Since(begun).Round(time.Millisecond))
	if *keep != "" {
		fmt.Fprintln(sink, report)
	}
	if !report.Good() {
		t.Errorf("go test ./chaos -run '^%s$' -args -seed %d\n%s", t.Name(), seed, report)
	}
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

// lockedBuffer takes the log of many processes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
