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

// A program is as safe as the folders of the links that lead to it.
func TestProgram_Links(t *testing.T) {
	dir := t.TempDir()
	if err := Program(dir); err != nil {
		t.Skip(err)
	}
	program := filepath.Join(dir, "program")
	open := filepath.Join(dir, "open")
	if err := errors.Join(os.WriteFile(program, nil, 0o700), os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, link := range [][2]string{
		{"program", "safe"},
		{"safe", "further"},
		{program, "open/link"},
		{"open/link", "through"},
		{"loop", "loop"},
		{"nothing", "dangling"},
	} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]error{
		"program": nil, "safe": nil, "further": nil, "open/link": ErrForeign, "through": ErrForeign, "dangling": fs.ErrNotExist,
	} {
		if err := Program(filepath.Join(dir, name)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if err := Program(filepath.Join(dir, "loop")); err == nil {
		t.Error("a link to itself is taken")
	}
}
