package server

import (
	"os"
	"path/filepath"
	"testing"
)

// Files of finished days are shared with the backup before; the last one, which is written
// on, must not be.
func TestBackup_SharesFinishedDaysOnly(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	names := []string{"20261119", ".20261119.idx", "20261120", ".20261120.idx", ".lost"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(from, name), []byte(name), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := linkDays(from, to); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		old, err1 := os.Stat(filepath.Join(from, name))
		now, err2 := os.Stat(filepath.Join(to, name))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if shared, want := os.SameFile(old, now), i != 2 && i != 3; shared != want {
			t.Errorf("%s is shared: %v, want %v", name, shared, want)
		}
	}
}

// Only whole backups count, the latest are kept, and nothing else is touched.
func TestBackup_Rotates(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"backup-20261119T000000Z", "backup-20261121T000000Z", "backup-20261120T000000Z", ".making", "mine", "backup-by-hand",
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := rotate(dir, 2); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if len(left) != 5 || left[1] != "backup-20261120T000000Z" || left[2] != "backup-20261121T000000Z" {
		t.Errorf("left: %q", left)
	}
}
