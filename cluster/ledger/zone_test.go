package ledger

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
)

// nights are entries around midnights of zones with summer time, under a server
// attribute that moves the day forward and back: records of two days interleave.
func nights(t *testing.T) []Batch {
	t.Helper()
	zones := []string{"Europe/Berlin", "Africa/Cairo", "Pacific/Kiritimati", "Pacific/Niue", "America/Havana"}
	var all []Batch
	var number uint64
	for _, midnight := range []string{"2026-10-24T22:00:00Z", "2026-10-29T21:00:00Z", "2026-11-01T05:00:00Z", "2027-04-29T22:00:00Z"} {
		at, err := time.Parse(time.RFC3339, midnight)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			number += 2
			b := entry(number/2, number-1, number)
			b.Zone = zones[i%len(zones)]
			for k := range b.Events {
				b.Events[k].At = pbs.Time(at.Add(time.Duration(i-5) * time.Minute).UnixNano())
			}
			all = append(all, b)
		}
	}
	return all
}

// Replicas that write on, that restart after every entry, that crash with a torn
// end, and that fetch it all from another have the same files.
func TestMidnight_SameFilesWhateverHappensInBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := nights(t)
		last := 2 * uint64(len(all))
		there := t.TempDir()
		l, stop := start(t, there, &memLog{})
		for _, b := range all {
			l.Append(b)
		}
		if err := l.WaitSynced(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		stop()
		want := dayFiles(t, there)
		if got := numbersOf(there).String(); got != "1-80" || len(want) < 2*8 {
			t.Fatalf("records %s in %d files", got, len(want)/2)
		}

		restarts, crashes, fetches := t.TempDir(), t.TempDir(), t.TempDir()
		random := rand.New(rand.NewPCG(1, 2))
		for i := range all {
			for _, dir := range []string{restarts, crashes} {
				l, stop := start(t, dir, &memLog{})
				for _, b := range all[max(0, i-3) : i+1] {
					l.Append(b)
				}
				if err := l.WaitSynced(t.Context(), 2*uint64(i+1)); err != nil {
					t.Fatal(err)
				}
				stop()
			}
			tearNewest(t, crashes, random, 2*uint64(i))
		}
		l, stop = start(t, crashes, &memLog{}, &other{dir: there})
		l.Append(all[len(all)-1])
		g, stopG := start(t, fetches, &memLog{}, &other{dir: there})
		g.Expect(last)
		for name, dir := range map[string]string{"restarted": restarts, "crashed": crashes, "fetched": fetches} {
			eventually(t, name+" has the same files", func() bool { return maps.Equal(dayFiles(t, dir), want) })
		}
		stop()
		stopG()
		if lost, err := readLost(crashes); err != nil || len(lost) > 0 {
			t.Errorf("lost %v, %v", lost, err)
		}
	})
}

// tearNewest takes bytes from the ends of the file that was written last, and puts
// the note of what was synced back to where it may have been then.
func tearNewest(t *testing.T, dir string, random *rand.Rand, synced uint64) {
	t.Helper()
	all, err := spans(dir)
	if err != nil {
		t.Fatal(err)
	}
	day := all[len(all)-1].day
	for _, name := range []string{day, indexName(day)} {
		edit(t, filepath.Join(dir, name), func(b []byte) []byte { return b[:len(b)-random.IntN(slotSize)] })
	}
	c, err := openCursor(dir)
	if err == nil {
		err = c.save(synced)
	}
	if err == nil {
		err = c.close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, lostName)); err == nil {
		t.Fatal("a record was given up")
	}
}
