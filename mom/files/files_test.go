package files

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lay makes files of a folder: "NAME=TEXT", "NAME/" is a folder, "NAME>TO" a link.
func lay(t *testing.T, dir string, all ...string) {
	t.Helper()
	for _, one := range all {
		name, text, isFile := strings.Cut(one, "=")
		link, to, isLink := strings.Cut(one, ">")
		var err error
		switch {
		case strings.HasSuffix(one, "/"):
			err = os.MkdirAll(filepath.Join(dir, one), 0o755)
		case isLink:
			err = os.Symlink(to, filepath.Join(dir, link))
		case isFile:
			if err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err == nil {
				err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// found lists a folder in the words of lay.
func found(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir():
			all = append(all, name+"/")
		case d.Type()&os.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			all = append(all, name+">"+to)
		default:
			text, _ := os.ReadFile(path)
			all = append(all, name+"="+string(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// outlast makes temporary files older than an attempt may be that is under way.
func outlast(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-2 * underWay)
	temps, err := filepath.Glob(dir + "/.*.tmp")
	for _, name := range temps {
		err = errors.Join(err, os.Chtimes(name, old, old))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What a daemon has left that died in the middle of a file goes with the next attempt, however soon that comes.
func TestReceiver_Crashed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".a.T.tmp"), []byte("te"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := NewReceiver(Target{Path: filepath.Join(dir, "a"), Tag: "T"})
	defer r.Close()
	err := r.Entry(Entry{Path: "a", Kind: File, Mode: 0o600, Size: 4})
	if err == nil {
		_, err = r.Write([]byte("text"))
	}
	if err := errors.Join(err, r.Finish()); err != nil {
		t.Fatal(err)
	}
	if got := found(t, dir); got != "a=text" {
		t.Errorf("there is %q", got)
	}
}

// An attempt whose other side was silent for long may go on beside the one that took its place: neither takes the other's file away.
func TestReceiver_TwoAttempts(t *testing.T) {
	for _, first := range []int{0, 1} {
		dir := t.TempDir()
		var attempts [2]*Receiver
		for i := range attempts {
			attempts[i] = NewReceiver(Target{Path: filepath.Join(dir, "a"), Tag: "T"})
			defer attempts[i].Close()
			if err := attempts[i].Entry(Entry{Path: "a", Kind: File, Mode: 0o600, Size: 4}); err != nil {
				t.Fatal(err)
			}
		}
		for _, i := range []int{first, 1 - first} {
			_, err := attempts[i].Write([]byte("text"))
			if err := errors.Join(err, attempts[i].Finish()); err != nil {
				t.Errorf("attempt %d, attempt %d before it: %v", i, first, err)
			}
			if got := found(t, dir); !strings.Contains(got, "a=text") {
				t.Errorf("after attempt %d there is %q", i, got)
			}
		}
		if got := found(t, dir); got != "a=text" {
			t.Errorf("left: %q", got)
		}
	}
}

func TestCopy(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to []string // what is there before
		path     string
		target   Target
		want     string // what is there after; empty: it fails
		failure  string
	}{
		{name: "file to file", from: []string{"a=1"}, path: "a", target: Target{Path: "b"}, want: "b=1"},
		{name: "file over a file", from: []string{"a=1"}, to: []string{"b=22"}, path: "a", target: Target{Path: "b"}, want: "b=1"},
		{name: "file into a folder", from: []string{"a=1"}, to: []string{"d/"}, path: "a", target: Target{Path: "d"}, want: "d/ d/a=1"},
		{name: "with another name", from: []string{"a=1"}, to: []string{"d/"}, path: "a", target: Target{Path: "d", Name: "x"}, want: "d/ d/x=1"},
		{name: "to a link", from: []string{"a=1"}, to: []string{"d/b=2", "b>d/b"}, path: "a", target: Target{Path: "b"}, want: "b>d/b d/ d/b=1"},
		{name: "folder to a new name", from: []string{"d/e/a=1", "d/l>e/a", "d/x/"}, path: "d", target: Target{Path: "n"}, want: "n/ n/e/ n/e/a=1 n/l>e/a n/x/"},
		{name: "folder into a folder", from: []string{"d/a=1"}, to: []string{"n/b=2"}, path: "d", target: Target{Path: "n"}, want: "n/ n/b=2 n/d/ n/d/a=1"},
		{name: "pattern", from: []string{"a.x=1", "b.x=2", "c=3"}, to: []string{"d/"}, path: "*.x", target: Target{Path: "d", Many: true}, want: "d/ d/a.x=1 d/b.x=2"},
		{name: "a name like a pattern", from: []string{"a[1]=1"}, path: "a[1]", target: Target{Path: "b"}, want: "b=1"},
		{name: "empty file", from: []string{"a="}, path: "a", target: Target{Path: "b"}, want: "b="},
		{name: "what an attempt has left", from: []string{"a=1"}, to: []string{".b.T.tmp=half"}, path: "a", target: Target{Path: "b"}, want: "b=1"},
		{name: "no file", path: "a", target: Target{Path: "b"}, failure: "no such file or directory"},
		{name: "no match", path: "*.x", target: Target{Path: ".", Many: true}, failure: "no file matches"},
		{name: "no folder", from: []string{"a=1"}, path: "a", target: Target{Path: "d/b"}, failure: "no such file or directory"},
		{name: "a folder that is not there", from: []string{"a=1"}, path: "a", target: Target{Path: "d/"}, failure: "no such file or directory"},
		{name: "a file for a folder", from: []string{"d/a=1"}, to: []string{"b=2"}, path: "d", target: Target{Path: "b"}, failure: "a file stands there"},
		{name: "several to a file", from: []string{"a=1", "b=2"}, to: []string{"c=3"}, path: "?", target: Target{Path: "c", Many: true}, failure: "not a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, to := t.TempDir(), t.TempDir()
			lay(t, from, c.from...)
			lay(t, to, c.to...)
			outlast(t, to)
			c.target.Path, c.target.Tag = Absolute(to, c.target.Path), "T"
			_, _, _, err := copyTo(Absolute(from, c.path), c.target)
			if c.failure != "" {
				var own *Error
				if !errors.As(err, &own) || !strings.Contains(err.Error(), c.failure) {
					t.Fatalf("%v, want %q", err, c.failure)
				}
				return
			}
			if got := found(t, to); err != nil || got != c.want {
				t.Errorf("%v, there is %q, want %q", err, got, c.want)
			}
		})
	}
}

// What is copied keeps its permissions and its time, and can be taken away by the lists.
func TestCopy_Lists(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	lay(t, from, "d/e/a=1")
	lay(t, to, "old/")
	if err := os.Chmod(from+"/d/e", 0o500); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1000, 5)
	if err := os.Chtimes(from+"/d/e/a", at, at); err != nil {
		t.Fatal(err)
	}
	_, wrote, same, err := copyTo(from+"/d", Target{Path: to + "/old", Tag: "T"})
	if err != nil || same {
		t.Fatal(err, same)
	}
	info, err := os.Stat(to + "/old/d/e/a")
	if err != nil || info.Mode().Perm() != 0o640 || !info.ModTime().Equal(at) {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := os.Stat(to + "/old/d/e"); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("%v, %v", info, err)
	}
	_ = os.Chmod(to+"/old/d/e", 0o700)
	lay(t, to, "old/d/mine=3")
	if err := Remove(wrote); err != nil {
		t.Fatal(err)
	}
	if got := found(t, to); got != "old/ old/d/ old/d/mine=3" {
		t.Errorf("left: %s", got)
	}
	if err := Remove(wrote); err != nil {
		t.Errorf("again: %v", err)
	}
}

// A file that is copied onto itself stays what it is, and is told.
func TestCopy_Same(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, "a=1", "e/", "l>.")
	for _, target := range []string{"a", "l/a", "."} {
		_, wrote, same, err := copyTo(dir+"/a", Target{Path: Absolute(dir, target), Tag: "T"})
		if err != nil || !same || len(wrote) > 0 {
			t.Errorf("%s: %v, same %v, wrote %v", target, err, same, wrote)
		}
	}
	if got := found(t, dir); got != "a=1 e/ l>." {
		t.Errorf("left: %s", got)
	}
}

func TestSend_NotAFile(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(dir+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	secret, err := os.Create(dir + "/secret")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	for _, path := range []string{dir + "/pipe", "/proc/self/maps", "/proc/self/fd/" + itoa(secret.Fd()), "/proc/self/root/etc/hostname", "/dev/null"} {
		if _, _, _, err := copyTo(path, Target{Path: dir + "/out", Tag: "T"}); err == nil {
			t.Errorf("%s was copied", path)
		}
	}
	// In a folder they are passed over.
	if _, _, _, err := copyTo(dir, Target{Path: t.TempDir(), Tag: "T"}); err != nil {
		t.Error(err)
	}
}

func itoa(n uintptr) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// What comes over the network may be anything: it stays in the target's folder.
func TestReceiver_Hostile(t *testing.T) {
	outside := t.TempDir()
	for _, entries := range [][]Entry{
		{{Path: "../a"}},
		{{Path: "/etc/a"}},
		{{Path: "d", Kind: Folder}, {Path: "d/../../a"}},
		{{Path: "d", Kind: Folder}, {Path: "d/l", Kind: Link, Link: outside}, {Path: "d/l/a"}},
		{{Path: "d/l", Kind: Link, Link: outside}},
		{{Path: "a"}, {Path: "a/b"}},
		{{Path: ""}},
		{{Path: "."}},
		{},
	} {
		dir := t.TempDir()
		lay(t, dir, "in/")
		r := NewReceiver(Target{Path: dir + "/in", Tag: "T", Many: true})
		var err error
		for _, e := range entries {
			if err = r.Entry(e); err != nil {
				break
			}
		}
		if err == nil {
			err = r.Finish()
		}
		r.Close()
		if err == nil {
			t.Errorf("%+v: accepted", entries)
		}
		if got := found(t, outside); got != "" {
			t.Errorf("%+v: outside is %s", entries, got)
		}
		if got := found(t, dir); strings.Contains(got, ".tmp") {
			t.Errorf("%+v: left %s", entries, got)
		}
	}
}

func TestReceiver_Device(t *testing.T) {
	from := t.TempDir()
	lay(t, from, "a=1")
	if _, _, _, err := copyTo(from+"/a", Target{Path: "/dev/null", Tag: "T"}); err != nil {
		t.Error(err)
	}
}

func TestAbsolute(t *testing.T) {
	for path, want := range map[string]string{
		"a": "/home/ann/a", "/a/../b": "/b", "d/": "/home/ann/d/", "../bob/x": "/home/bob/x", "": "/home/ann", "/": "/",
	} {
		if got := Absolute("/home/ann", path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// copyTo copies what path names to the target, on one host. It returns what was read and what
// was written; same says that some of it is one file and must not be removed.
func copyTo(path string, t Target) (sent, wrote []string, same bool, err error) {
	r := NewReceiver(t)
	defer r.Close()
	if sent, err = Send(path, r); err == nil {
		err = r.Finish()
	}
	return sent, r.Wrote(), r.Same(), err
}
