package dev

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCreate_LeavesOtherFoldersAlone: a folder that holds anything else keeps its mode and
// its entries; one of a cluster, whole or broken off, is taken again.
func TestCreate_LeavesOtherFoldersAlone(t *testing.T) {
	other := t.TempDir()
	if err := os.Chmod(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (layout{other}).create(); err == nil {
		t.Error("a folder with files of its own was taken")
	}
	info, err := os.Stat(other)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its mode is now %v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(other); err != nil || len(entries) != 1 {
		t.Errorf("it holds %v, %v", entries, err)
	}
	dir, err := os.MkdirTemp("", "rc-") // short: paths of sockets are below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l := layout{filepath.Join(dir, "new")}
	for _, when := range []string{"a new folder", "a start that was broken off"} {
		if err := l.create(); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	if err := os.WriteFile(filepath.Join(l.dir, "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.save(plan{Version: planVersion}); err != nil {
		t.Fatal(err)
	}
	if err := l.create(); err != nil {
		t.Errorf("a cluster's folder with a file of its user: %v", err)
	}
}
