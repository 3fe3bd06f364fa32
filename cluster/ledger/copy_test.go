package ledger

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// A copy that goes on behind an earlier one has the same files, byte for byte.
func TestCopy_GoesOnAndIsTheSame(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	write(t, from, records(1, 30))
	for _, last := range []uint64{7, 7, 12, 30, 99} {
		if err := Copy(t.Context(), from, to, last); err != nil {
			t.Fatal(err)
		}
		if got, err := Verify(t.Context(), to); err != nil || got != min(last, 30) {
			t.Errorf("copied up to %d: verified to %d, %v", last, got, err)
		}
	}
	if got, want := files(t, to), files(t, from); !maps.Equal(got, want) {
		t.Errorf("the files differ:\n%q\n%q", got, want)
	}
}

// What a crash left of an earlier copy is cut, and what is missing is gone over.
func TestCopy_MendsTornEndsAndGoesOverGaps(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	write(t, from, records(1, 10))
	write(t, to, records(1, 5))
	if err := os.Truncate(filepath.Join(to, "20261102"), 30); err != nil { // in the midst of records 3 to 5
		t.Fatal(err)
	}
	if err := Copy(t.Context(), from, to, 10); err != nil {
		t.Fatal(err)
	}
	if got, err := Verify(t.Context(), to); err != nil || got != 10 {
		t.Errorf("verified to %d, %v", got, err)
	}
	late := t.TempDir()
	write(t, late, records(1, 20))
	for _, day := range []string{"20261101", "20261102", "20261103", "20261104", "20261105"} {
		if err := errors.Join(os.Remove(filepath.Join(late, day)), os.Remove(filepath.Join(late, indexName(day)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := Copy(t.Context(), late, to, 20); err != nil {
		t.Fatal(err)
	}
	if got, err := Verify(t.Context(), to); err != nil || got != 20 {
		t.Errorf("behind a gap: verified to %d, %v", got, err)
	}
}

// A folder that is not whole is said to be.
func TestVerify_FindsDamage(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, records(1, 10))
	for name, text := range files(t, dir) {
		changed := []byte(text)
		changed[len(changed)/2] ^= 1
		if err := os.WriteFile(filepath.Join(dir, name), changed, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(t.Context(), dir); err == nil {
			t.Errorf("%s with a flipped bit is whole", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := Verify(t.Context(), dir); err != nil || last != 10 {
		t.Errorf("whole again: %d, %v", last, err)
	}
}
