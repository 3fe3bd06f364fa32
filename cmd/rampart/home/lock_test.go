package home

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server_priv", "server.lock")
	first, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != strconv.Itoa(os.Getpid())+"\n" {
		t.Errorf("the lock file holds %q, %v", text, err)
	}
	if _, err := Lock(path); !errors.Is(err, ErrRunning) {
		t.Errorf("a second lock: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(path)
	if err != nil {
		t.Fatalf("after the first was closed: %v", err)
	}
	defer again.Close()
}
