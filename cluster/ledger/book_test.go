package ledger

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// records returns n records from number first on, three to a day.
func records(first uint64, n int) []Record {
	out := make([]Record, n)
	for i := range out {
		number := first + uint64(i)
		day := fmt.Sprintf("202611%02d", 1+number/3)
		out[i] = Record{Number: number, Day: day, Line: fmt.Appendf(nil, "11/%s/2026 10:00:00;E;%d.srv;a=%d\n", day[6:], number, number*number)}
	}
	return out
}

// files returns the contents of a folder by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if e.Name() != ".logged" {
			all[e.Name()] = string(b)
		}
	}
	return all
}

func write(t *testing.T, dir string, rs []Record) *book {
	t.Helper()
	b, err := openBook(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.write(rs); err != nil {
		t.Fatal(err)
	}
	if err := b.close(); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBook_CrashAtEveryByte(t *testing.T) {
	whole := t.TempDir()
	write(t, whole, records(1, 7))
	want := files(t, whole)
	day := "20261103" // of records 6 and 7
	for _, name := range []string{day, indexName(day)} {
		for size := range len(want[name]) {
			dir := t.TempDir()
			for n, text := range want {
				if n == name {
					text = text[:size]
				}
				if err := os.WriteFile(filepath.Join(dir, n), []byte(text), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			write(t, dir, records(1, 7)) // replayed from the log
			got := files(t, dir)
			delete(got, day+".unnumbered")
			if !maps.Equal(got, want) {
				t.Fatalf("%s cut to %d bytes: after the replay %q", name, size, got)
			}
		}
	}
}

func TestBook_TornBytesAreCutAway(t *testing.T) {
	whole := t.TempDir()
	write(t, whole, records(1, 7))
	want := files(t, whole)
	day := "20261103"
	for i := range len(want[day]) {
		dir := t.TempDir()
		for n, text := range want {
			b := []byte(text)
			if n == day {
				b[i] ^= 0x55
			}
			if err := os.WriteFile(filepath.Join(dir, n), b, 0o640); err != nil {
				t.Fatal(err)
			}
		}
		write(t, dir, records(1, 7))
		got := files(t, dir)
		delete(got, day+".unnumbered")
		if !maps.Equal(got, want) {
			t.Fatalf("byte %d torn: after the replay %q", i, got)
		}
	}
}

func TestBook_RepeatsAndGaps(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, records(1, 4))
	b, err := openBook(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.write(records(1, 6)); err != nil || b.next != 7 {
		t.Errorf("repeat: next is %d, %v", b.next, err)
	}
	if err := b.write(records(9, 2)); err == nil || b.next != 7 {
		t.Errorf("gap: next is %d, %v", b.next, err)
	}
	if err := b.close(); err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, n := range slices.Sorted(maps.Keys(files(t, dir))) {
		if !strings.HasPrefix(n, ".") {
			got += files(t, dir)[n]
		}
	}
	var want bytes.Buffer
	for _, r := range records(1, 6) {
		want.Write(r.Line)
	}
	if got != want.String() {
		t.Errorf("files hold\n%swant\n%s", got, want.String())
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	all := records(1, 20)
	write(t, dir, all)
	for _, c := range []struct{ first, last uint64 }{{1, 20}, {5, 5}, {4, 11}, {15, 99}, {30, 40}, {0, 3}} {
		var want, got []uint64
		for _, r := range all {
			if r.Number >= c.first && r.Number <= c.last {
				want = append(want, r.Number)
			}
		}
		for r, err := range Read(dir, c.first, c.last) {
			if err != nil {
				t.Fatal(err)
			}
			if i := r.Number - 1; string(r.Line) != string(all[i].Line) || r.Day != all[i].Day {
				t.Errorf("record %d is %+v", r.Number, r)
			}
			got = append(got, r.Number)
		}
		if !slices.Equal(got, want) {
			t.Errorf("Read(%d, %d) = %v, want %v", c.first, c.last, got, want)
		}
	}
}

func TestBook_ForeignFileIsQuarantined(t *testing.T) {
	dir := t.TempDir()
	rs := records(1, 1)
	if err := os.WriteFile(filepath.Join(dir, rs[0].Day), []byte("old PBS\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	write(t, dir, rs)
	got := files(t, dir)
	if got[rs[0].Day] != string(rs[0].Line) || got[rs[0].Day+".unnumbered"] != "old PBS\n" {
		t.Errorf("folder holds %q", got)
	}
}
