package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// TestLedger_FullDiskIsToldAndOverWhenThereIsRoom: the accounting folder is on a file
// system of its own that is full. Nothing is lost (L10).
func TestLedger_FullDiskIsToldAndOverWhenThereIsRoom(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	synctest.Test(t, func(t *testing.T) {
		l, stop := start(t, dir, &memLog{})
		defer stop()
		l.Append(entry(1, 1))
		until(t, "the first record", func() bool { return l.Synced() == 1 })

		filler := filepath.Join(dir, "filler")
		if err := os.WriteFile(filler, bytes.Repeat([]byte{1}, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("fill the disk: %v", err)
		}
		for i := uint64(2); i < 200; i++ { // more than the last page of the files takes
			l.Append(entry(i, i))
		}
		until(t, "the trouble", func() bool { why, _ := l.Trouble(); return strings.Contains(why, "no space left") })
		if _, holdsUp := l.Trouble(); holdsUp {
			t.Error("it holds up the log")
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		until(t, "all records", func() bool { return l.Synced() == 199 })
		until(t, "no trouble", func() bool { why, _ := l.Trouble(); return why == "" })
	})
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s", what)
		}
	}
}
