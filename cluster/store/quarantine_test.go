package store_test

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"

	"rampart/cluster/store"
)

// An index comes again when the cluster has lost entries: what was set aside at it before is
// not overwritten, and the newest is never the one that is dropped.
func TestSetAside_AnIndexComesAgain(t *testing.T) {
	dir := t.TempDir()
	var made []string
	for _, index := range []uint64{9, 7, 7, 7} {
		s, err := store.OpenFiles(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if last, err := s.Log().LastIndex(); last != 0 || err != nil {
			t.Fatalf("after %q the log ends at %d, %v", made, last, err)
		}
		if err := s.Log().StoreLog(&raft.Log{Index: 1, Data: []byte("x")}); err != nil {
			t.Fatal(err)
		}
		if err := s.Note("one line\n"); err != nil {
			t.Fatal(err)
		}
		where, err := s.Quarantine(index, func(w io.Writer) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, where)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.OpenFiles(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if made[1] == made[2] || made[3] == made[2] {
		t.Errorf("set aside at %q", made)
	}
	if _, err := os.Stat(filepath.Join(made[3], "log.db")); err != nil {
		t.Errorf("the newest is gone: %v", err)
	}
	kept, _ := filepath.Glob(filepath.Join(dir, "aside-*"))
	if len(kept) != 2 {
		t.Errorf("kept are %q", kept)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "recoveries.txt")); err != nil || string(text) != "one line\none line\none line\none line\n" {
		t.Errorf("noted is %q, %v", text, err)
	}
}
