package ledger

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"rampart/transport/build"
)

// back is a history in which the time zone moved the day back: records 1 to 3 are
// of one day, 4 and 5 of the next, and 6 to 8 of the first again.
func back() []Record {
	rs := records(1, 8)
	for i := range rs {
		rs[i].Day = "20261101"
		if n := rs[i].Number; n == 4 || n == 5 {
			rs[i].Day = "20261102"
		}
	}
	return rs
}

// A tear is what a crash left of the end of a file: bytes from cut on are gone, or
// were never written and are zeros.
type tear struct {
	cut   int
	zeros bool
}

func (t tear) of(text string) []byte {
	b := []byte(text)
	if !t.zeros {
		return b[:t.cut]
	}
	clear(b[t.cut:])
	return b
}

func (t tear) String() string { return fmt.Sprintf("%d bytes, zeros %v", t.cut, t.zeros) }

// tears are the ends that a file can have when all from synced on was not.
func tears(synced, size, step int) []tear {
	all := []tear{{size, false}}
	for cut := synced; cut < size; cut += step {
		all = append(all, tear{cut, false}, tear{cut, true})
	}
	return all
}

// Between an append and its sync the page cache may write any part of the lines and
// of the slots, one without the other. Whatever is left, the replay gives the same
// records, and in the file with the highest number the same bytes. (A torn end of an
// earlier day looks like an edit, and is mended as one.)
func TestCrash_BetweenAppendAndSync(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("one goroutine does all of it, and slowly under the race detector: make test plays it without")
	}
	for name, rs := range map[string][]Record{"one day": sameDay(records(1, 8)), "back to an earlier day": back()} {
		t.Run(name, func(t *testing.T) {
			whole := t.TempDir()
			write(t, whole, rs[:5])
			synced := files(t, whole)
			write(t, whole, rs)
			want := files(t, whole)
			day := rs[7].Day
			data, index := want[day], want[indexName(day)]
			from, slots := len(synced[day]), len(synced[indexName(day)])
			dir := t.TempDir()
			check := func(d, i tear, note uint64) {
				t.Helper()
				have := maps.Clone(want)
				have[day], have[indexName(day)] = string(d.of(data)), string(i.of(index))
				refill(t, dir, have)
				b, err := openBook(dir, note)
				if err != nil {
					t.Fatal(err)
				}
				if b.next < 6 || b.next > 9 {
					t.Fatalf("lines %v, slots %v, synced %d: goes on with %d", d, i, note, b.next)
				}
				if err := b.write(rs); err != nil {
					t.Fatal(err)
				}
				if err := b.close(); err != nil {
					t.Fatal(err)
				}
				if got := files(t, dir); !maps.Equal(got, want) && (day == "20261101" && len(want) == 2 || !holds(t, dir, rs)) {
					t.Fatalf("lines %v, slots %v, synced %d: after the replay %q", d, i, note, got)
				}
			}
			for n, d := range tears(from, len(data), 1) {
				for k, i := range tears(slots, len(index), 29) {
					if (n+k)%4 == 0 {
						check(d, i, 5)
					}
				}
			}
			for n, i := range tears(slots, len(index), 1) {
				for k, d := range tears(from, len(data), 31) {
					if (n+k)%4 == 0 {
						check(d, i, 3+uint64(n)%3) // the note may be older
					}
				}
			}
		})
	}
}

// holds reports whether a folder has just these records.
func holds(t *testing.T, dir string, rs []Record) bool {
	t.Helper()
	n := 0
	for r, err := range Read(dir, 0, 1000) {
		if err != nil || n == len(rs) || r.Number != rs[n].Number || string(r.Line) != string(rs[n].Line) {
			t.Logf("record %d: %+v, %v", n, r, err)
			return false
		}
		n++
	}
	return n == len(rs)
}

func sameDay(rs []Record) []Record {
	for i := range rs {
		rs[i].Day = "20261101"
	}
	return rs
}

// refill makes a folder hold just these files.
func refill(t *testing.T, dir string, have map[string]string) {
	t.Helper()
	for name := range files(t, dir) {
		remove(t, filepath.Join(dir, name))
	}
	for name, text := range have {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
}

// A slot or a line in the middle of what was not synced may be lost while those
// behind it are not: the log gives it again, or a peer does.
func TestCrash_HoleInWhatWasNotSynced(t *testing.T) {
	whole := t.TempDir()
	rs := sameDay(records(1, 8))
	write(t, whole, rs)
	want := files(t, whole)
	day := rs[0].Day
	for at := 5 * slotSize; at < 8*slotSize; at += 3 {
		for _, name := range []string{day, indexName(day)} {
			dir := t.TempDir()
			have := maps.Clone(want)
			b := []byte(want[name])
			if name == day {
				b[len(b)-1-(at-5*slotSize)%len(rs[7].Line)] = 0
			} else {
				b[at] ^= 0x55
			}
			have[name] = string(b)
			refill(t, dir, have)
			write(t, dir, rs)
			if got := files(t, dir); !maps.Equal(got, want) {
				t.Fatalf("byte %d of %s: after the replay %q", at, name, got)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		b := []byte(want[indexName(day)])
		b[6*slotSize+20] ^= 0x55
		have := maps.Clone(want)
		have[indexName(day)] = string(b)
		refill(t, dir, have)
		l, stop := start(t, dir, &memLog{}, &other{dir: whole})
		l.Expect(8)
		eventually(t, "fetched", func() bool { return maps.Equal(dayFiles(t, dir), want) })
		stop()
	})
}
