package proc

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// open returns a folder in which everybody may make files, such as /tmp.
func open(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	dir, err := os.MkdirTemp("/tmp", "proc") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestMakeDirFor_Squatted: what others have put where a job's folder is to be is put aside
// whole; a folder that is the owner's is taken as it is.
func TestMakeDirFor_Squatted(t *testing.T) {
	dir := open(t)
	owner := &Owner{UID: 12345, GID: 23456}
	for name, plant := range map[string]func(path string) error{
		"nothing": func(string) error { return nil },
		"folder":  func(path string) error { return os.MkdirAll(filepath.Join(path, "deep"), 0o755) },
		"file":    func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"link":    func(path string) error { return os.Symlink("/etc", path) },
	} {
		path := filepath.Join(dir, name)
		err := plant(path)
		if name != "nothing" {
			err = errors.Join(err, os.Lchown(path, 54321, 54321))
		}
		if err != nil {
			t.Fatal(err)
		}
		if name != "nothing" {
			occupied, ok := errors.AsType[*Occupied](newLinux(t).MakeDir(owner, path))
			if !ok || occupied.UID != 54321 {
				t.Errorf("%s: in its owner's name: %v", name, occupied)
			}
		}
		aside, err := MakeDirFor(owner, path)
		if err != nil || (aside == "") != (name == "nothing") {
			t.Errorf("%s: aside %q, %v", name, aside, err)
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != os.ModeDir|0o700 || info.Sys().(*syscall.Stat_t).Uid != 12345 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if aside != "" {
			if was, err := os.Lstat(aside); err != nil || was.Sys().(*syscall.Stat_t).Uid != 54321 {
				t.Errorf("%s: put aside: %v, %v", name, was, err)
			}
		}
		if aside, err := MakeDirFor(owner, path); aside != "" || err != nil {
			t.Errorf("%s: the owner's own: %q, %v", name, aside, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "nothing", "deep")); err == nil {
		t.Error("the folder of somebody else was taken over")
	}
}

// TestMakeDirFor_LowerLayer: an empty private folder that root has left in the lower layer of an overlay,
// where it cannot be renamed, is given to the owner; one with something in it is refused.
func TestMakeDirFor_LowerLayer(t *testing.T) {
	dir := open(t)
	for _, name := range []string{"lower/left", "lower/used/deep", "upper", "work", "root"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(dir, "root")
	options := "lowerdir=" + dir + "/lower,upperdir=" + dir + "/upper,workdir=" + dir + "/work"
	if err := syscall.Mount("overlay", root, "overlay", 0, options); err != nil {
		t.Skip("no overlay can be mounted here:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(root, syscall.MNT_DETACH) })
	owner := &Owner{UID: 12345, GID: 23456}
	path := filepath.Join(root, "left")
	if aside, err := MakeDirFor(owner, path); err != nil || aside != "" {
		t.Errorf("aside %q, %v", aside, err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != os.ModeDir|0o700 || info.Sys().(*syscall.Stat_t).Uid != 12345 {
		t.Errorf("%v, %v", info, err)
	}
	_, err := MakeDirFor(owner, filepath.Join(root, "used"))
	if _, ok := errors.AsType[*Occupied](err); !ok {
		t.Errorf("with something in it: %v", err)
	}
	if names, err := os.ReadDir(root); err != nil || len(names) != 2 {
		t.Errorf("left over: %v, %v", names, err)
	}
}

// TestMove_TemporaryNameTaken: a file under the name that a delivery uses on its way is not in
// its way.
func TestMove_TemporaryNameTaken(t *testing.T) {
	dir := open(t)
	src, target := filepath.Join(folder(t), "1.srv.OU"), filepath.Join(dir, "o1")
	taken := filepath.Join(dir, ".1.srv.OU.tmp")
	err := errors.Join(os.WriteFile(src, []byte("text"), 0o600), os.WriteFile(taken, nil, 0o666), os.Chown(taken, 54321, 54321))
	if err != nil {
		t.Fatal(err)
	}
	if err := newLinux(t).Move(&Owner{UID: 12345, GID: 23456}, src, target, "o1"); err != nil {
		t.Fatal(err)
	}
	if got := output(t, target); got != "text" || output(t, taken) != "" {
		t.Errorf("delivered %q, and %q to the file of another", got, output(t, taken))
	}
}
