package home

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gossip.key")
	keys := [][]byte{bytes.Repeat([]byte{1}, keySize), bytes.Repeat([]byte{2}, keySize)}
	for _, n := range []int{1, 2, 2, 1} {
		if err := ReplaceKeys(path, keys[:n]); err != nil {
			t.Fatal(err)
		}
		got, err := ReadKeys(path)
		if err != nil || len(got) != n || !bytes.Equal(got[0], keys[0]) {
			t.Errorf("%d keys came back as %d: %v", n, len(got), err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKeys(path); err == nil {
		t.Error("keys that others may read were taken")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, make([]byte, keySize-1)} {
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKeys(path); err == nil {
			t.Errorf("%d bytes passed for keys", len(bad))
		}
	}
}
