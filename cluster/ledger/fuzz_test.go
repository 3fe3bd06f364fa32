package ledger

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// put writes a file of a folder, unless it is to be missing.
func put(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o640); err != nil {
		t.Fatal(err)
	}
}

// Whatever stands in a day file and its sidecar, reading ends, and yields rising numbers whose
// lines are those of their checksums; repairing what a crash may have left then keeps them
// readable, and repairing twice changes nothing more.
func FuzzSidecar(f *testing.F) {
	var lines, slots []byte
	for _, r := range records(3, 3) {
		slots = newSlot(r.Number, uint64(len(lines)), r.Line).append(slots)
		lines = append(lines, r.Line...)
	}
	most := slices.Concat(slots[:slotSize], newSlot(1<<64-1, uint64(len(lines)), []byte("x\n")).append(nil))
	f.Add(lines, slots, true)
	f.Add(lines, most, true)
	f.Add(lines, slices.Concat(slots, slots), true)
	f.Add(lines[1:], slots[:len(slots)-5], true)
	f.Add([]byte(nil), slots, false)
	f.Add([]byte(nil), bytes.Repeat([]byte{0}, slotSize), true)
	f.Fuzz(func(t *testing.T, data, sidecar []byte, there bool) {
		const day = "20261102"
		dir := t.TempDir()
		if there {
			put(t, dir, day, data)
		}
		put(t, dir, indexName(day), sidecar)
		want := readAll(t, dir, there, data, sidecar)
		b, err := openBook(dir, 0)
		if err != nil {
			t.Fatalf("repair: %v", err)
		}
		if err := b.close(); err != nil {
			t.Fatal(err)
		}
		repaired := files(t, dir)
		again, err := openBook(dir, 0)
		if err != nil || again.next != b.next {
			t.Fatalf("repaired again it goes on with %d, not %d: %v", again.next, b.next, err)
		}
		if got := files(t, dir); fmt.Sprint(got) != fmt.Sprint(repaired) {
			t.Errorf("repairing again makes %q of %q", got, repaired)
		}
		for _, r := range readAll(t, dir, there, data, sidecar) {
			if r.Number >= b.next {
				t.Errorf("record %d was left, and %d comes next; before it was %v", r.Number, b.next, want)
			}
		}
	})
}

// readAll reads a folder of one day, and holds what it reads against the slots.
func readAll(t *testing.T, dir string, there bool, data, sidecar []byte) []Record {
	t.Helper()
	var all []Record
	for r, err := range Read(dir, 0, everything) {
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		if n := len(all); n > 0 && all[n-1].Number >= r.Number {
			t.Fatalf("%d comes after %d", r.Number, all[n-1].Number)
		}
		vouched := false
		for b := sidecar; len(b) >= slotSize && there; b = b[slotSize:] {
			s := parseSlot(b)
			vouched = vouched || s.number == r.Number && bytes.EqualFold(s.append(nil), b[:slotSize]) && s.check(r.Line) == s.sum
		}
		if !vouched || !bytes.Contains(data, r.Line) {
			t.Fatalf("%+v is in no slot", r)
		}
		all = append(all, r)
	}
	return all
}

// The row of slots is what it was after it was read, and a slot vouches for no other line.
func FuzzSlot(f *testing.F) {
	f.Add(newSlot(7, 100, []byte("a line\n")).append(nil), []byte("a line\n"))
	f.Add(slot{}.append(nil), []byte{})
	f.Add(make([]byte, slotSize), []byte{})
	f.Add(append(bytes.Repeat([]byte("f"), slotSize-1), '\n'), []byte("x"))
	f.Fuzz(func(t *testing.T, b, line []byte) {
		if len(b) < slotSize {
			return
		}
		s := parseSlot(b)
		if written := s.append(nil); s != (slot{}) && !bytes.EqualFold(written, b[:slotSize]) {
			t.Errorf("%q is written as %q", b[:slotSize], written)
		}
		mine := newSlot(s.number, s.offset, line)
		if again := parseSlot(mine.append(nil)); again != mine || again.check(line) != again.sum {
			t.Errorf("%+v came back as %+v", mine, again)
		}
		if other := append(bytes.Clone(line), '!'); mine.check(other) == mine.sum {
			t.Errorf("%+v vouches for %q", mine, other)
		}
	})
}

// The list of lost records is a set: rising stretches that do not touch, of which nothing is
// missed, whatever else stands in the file; noting it again adds nothing.
func FuzzReadLost(f *testing.F) {
	for _, text := range []string{
		"1 3\n", "5 9\n1 4\n7 20\n", "9 1\n", "0 18446744073709551615\n7 8\n", "1 18446744073709551615\n", "18446744073709551616 3\n",
		"1 2 3\n4", "\x00", "18446744073709551615 18446744073709551615\n1 1\n",
	} {
		f.Add(text, uint64(3), uint64(12))
	}
	f.Fuzz(func(t *testing.T, text string, first, last uint64) {
		dir := t.TempDir()
		put(t, dir, lostName, []byte(text))
		lost, err := readLost(dir)
		if err != nil {
			return
		}
		for i, r := range lost {
			if r.first > r.last || i > 0 && (r.first <= lost[i-1].last || r.first-1 == lost[i-1].last) {
				t.Fatalf("%q is read as %v", text, lost)
			}
			if in := (numbers{r}); len(in.without(lost)) > 0 {
				t.Fatalf("%q: %v is missed of %v", text, r, in)
			}
		}
		if first <= last {
			left := numbers{{first, last}}.without(lost)
			if back := left.plus(lost).without(lost); !slices.Equal(back, left) {
				t.Errorf("of %d to %d without %v is left %v; with it again, %v", first, last, lost, left, back)
			}
			for _, r := range left {
				if r.first < first || r.last > last || r.first > r.last {
					t.Errorf("%d to %d without %v leaves %v", first, last, lost, left)
				}
			}
		}
		if err := noteLost(dir, lost); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(text, "\n") || text == "" {
			if again, err := readLost(dir); err != nil || !slices.Equal(again, lost) {
				t.Errorf("%q noted again is %v, not %v: %v", text, again, lost, err)
			}
		}
	})
}

// What is kept is a number from 1 on, and what was removed before it stays removed: a text that
// is none counts as nothing removed.
func FuzzReadKept(f *testing.F) {
	for _, text := range []string{"1\n", "77\n", "0", "", "-3", "18446744073709551615\n", "18446744073709551616\n", " 12 \n", "12 13", "0x10"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		put(t, dir, keptName, []byte(text))
		kept, err := readKept(dir)
		if err != nil || kept < 1 {
			t.Fatalf("%q is read as %d, %v", text, kept, err)
		}
		if err := writeKept(dir, kept); err != nil {
			t.Fatal(err)
		}
		if again, err := readKept(dir); again != kept || err != nil {
			t.Errorf("%d came back as %d: %v", kept, again, err)
		}
	})
}

// A cursor is what was saved, or the beginning: it never goes past what a checksum vouches for.
func FuzzOpenCursor(f *testing.F) {
	f.Add([]byte(nil), uint64(3))
	f.Add(make([]byte, cursorSize), uint64(1))
	f.Add(bytes.Repeat([]byte{0xff}, cursorSize+1), uint64(0))
	f.Add(append(make([]byte, 15), 9, 1, 2, 3, 4), uint64(5))
	f.Fuzz(func(t *testing.T, data []byte, synced uint64) {
		dir := t.TempDir()
		put(t, dir, ".logged", data)
		c, err := openCursor(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		if c.index+c.synced != 0 && (len(data) < cursorSize || c.index != binary.BigEndian.Uint64(data)) {
			t.Errorf("%x is read as %+v", data, c)
		}
		if at := c.index; c.advance(at) || at < everything && !c.advance(at+1) {
			t.Errorf("%+v does not advance from %d", c, at)
		}
		if err := c.save(synced); err != nil {
			t.Fatal(err)
		}
		again, err := openCursor(dir)
		if err != nil || again.index != c.index || again.synced != synced {
			t.Errorf("%+v with %d came back as %+v, %v", c, synced, again, err)
		}
		if err := again.close(); err != nil {
			t.Fatal(err)
		}
	})
}

// The lines of a job are lines of its file, whole, in their order, and its own.
func FuzzOfJob(f *testing.F) {
	var text []byte
	for _, r := range records(1, 2) {
		text = append(text, r.Line...)
	}
	f.Add(text, "1.srv")
	f.Add(text[:len(text)-1], "2.srv")
	f.Add([]byte("\n;\n11/01/2026 10:00:00;Q;\n"), "")
	f.Add([]byte("11/01/2026 10:00:00;Q;1.srv;x\r\n\n"), "1.srv")
	f.Fuzz(func(t *testing.T, data []byte, id string) {
		dir := t.TempDir()
		const day = "20261102"
		put(t, dir, day, data)
		put(t, dir, indexName(day), nil)
		lines, err := ofJob(t.Context(), dir, id, day, day, false)
		if err != nil {
			return
		}
		var want [][]byte
		all := bytes.Split(data, []byte("\n"))
		for _, line := range all[:len(all)-1] {
			if len(line) >= idAt && strings.HasPrefix(string(line[idAt:]), id+";") {
				want = append(want, line)
			}
		}
		if slices.CompareFunc(lines, want, func(a, b []byte) int { return cmp.Compare(string(a), string(b)) }) != 0 {
			t.Errorf("the lines of %q in %q are %q, not %q", id, data, lines, want)
		}
	})
}
