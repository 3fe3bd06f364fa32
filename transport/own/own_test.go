package own

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server_priv", "server.lock")
	first, err := Lock(path, 4711)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "4711\n" {
		t.Errorf("the file of the pid holds %q, %v", text, err)
	}
	if _, err := Lock(path, 12); !errors.Is(err, ErrRunning) {
		t.Errorf("a second lock: %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "4711\n" {
		t.Errorf("after a lock that was refused the file of the pid holds %q, %v", text, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(path, 12)
	if err != nil {
		t.Fatalf("after the first was closed: %v", err)
	}
	defer again.Close()
	if text, err := os.ReadFile(path); string(text) != "12\n" {
		t.Errorf("a shorter pid leaves %q, %v", text, err)
	}
}

// TestLock_NobodyElseHoldsIt: whoever may read a file may lock it. What everybody may read
// is not what the daemon locks.
func TestLock_NobodyElseHoldsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server_priv", "server.lock")
	first, err := Lock(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) < 2 {
		t.Fatalf("the folder holds %v, %v", entries, err)
	}
	readable := 0
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o044 == 0 {
			continue
		}
		readable++
		f, err := os.Open(filepath.Join(filepath.Dir(path), e.Name())) // as any user of the host may
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
	}
	if readable != 1 {
		t.Errorf("%d files can be read by others, want that of the pid", readable)
	}
	again, err := Lock(path, 2)
	if err != nil {
		t.Fatalf("while another user locks what he may read: %v", err)
	}
	again.Close()
}

// TestHold_TakesNoOthersFile: a lock file is the daemon's, whatever it was before, and no link.
func TestHold_TakesNoOthersFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dev.lock")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file that is locked: %v, %v", info.Mode(), err)
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Hold(link); err == nil {
		t.Error("a link was followed")
	}
}

func TestFolder_OnlyItsOwnerWrites(t *testing.T) {
	dir := t.TempDir()
	for _, mode := range []fs.FileMode{0, 0o700, 0o755, 0o775, 0o777 | fs.ModeSticky} {
		path := filepath.Join(dir, mode.String())
		want := mode.Perm() &^ 0o022
		if mode == 0 {
			want = 0o751 // made
		} else if err := errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		if err := Folder(path, 0o751); err != nil {
			t.Errorf("%v: %v", mode, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != want|fs.ModeDir {
			t.Errorf("%v became %v, %v", mode, info.Mode(), err)
		}
	}
}

func TestClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	if err := Closed(path); err != nil {
		t.Errorf("no file: %v", err)
	}
	for mode, open := range map[fs.FileMode]bool{0o600: false, 0o644: false, 0o664: false, 0o646: true, 0o666: true} {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		if err := Closed(path); (err != nil) != open {
			t.Errorf("%v: %v", mode, err)
		}
	}
}
