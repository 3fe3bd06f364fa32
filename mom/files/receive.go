package files

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Target says where a Receiver puts what it gets.
type Target struct {
	Path string // absolute; a folder that is there, or a slash at the end, takes what comes by its name
	Name string // of a single file in such a folder; empty: its own
	Many bool   // Path must be a folder
	Tag  string // tells temporary files from those of others; the same for every attempt
}

// A Receiver is a Sink that writes files. Each gets its name when all of it has come.
type Receiver struct {
	target  Target
	root    *os.Root
	base    string // path of root
	only    string // name of the one thing that comes; empty: its own
	started bool

	file    *os.File
	name    string // of file, below root
	temp    string // its name until it is whole
	made    os.FileInfo
	entry   Entry
	discard bool // file is there already
	modes   []Entry
	wrote   []string
	same    bool
	device  bool
}

// NewReceiver returns a Receiver. Whoever makes one ends it with Close.
func NewReceiver(t Target) *Receiver { return &Receiver{target: t} }

// Wrote returns the files and folders that were made, a folder before what is in it. A folder
// that was there before is not among them, nor is what the receiver was given from itself.
func (r *Receiver) Wrote() []string { return r.wrote }

// Same reports whether something that came was there already, as the very same file: both sides
// see one file system.
func (r *Receiver) Same() bool { return r.same }

// begin finds out what the target is, when the first entry is known.
func (r *Receiver) begin(e Entry) error {
	r.started = true
	path := r.target.Path
	slash := strings.HasSuffix(path, "/")
	if real, err := filepath.EvalSymlinks(path); err == nil && !slash {
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir() || slash || r.target.Many:
		r.base = filepath.Clean(path)
		if r.target.Name != "" && e.Kind == File && !r.target.Many {
			r.only = r.target.Name
		}
	case err == nil && !info.Mode().IsRegular() && e.Kind == File: // such as /dev/null
		return r.openDevice(path)
	default:
		r.base, r.only = filepath.Dir(path), filepath.Base(path)
	}
	r.root, err = openRoot(r.base)
	return because("write to", r.base, err)
}

func (r *Receiver) openDevice(path string) error {
	f, err := open(path, unix.O_WRONLY)
	r.file, r.device = f, true
	return because("write to", path, err)
}

// Entry implements Sink.
func (r *Receiver) Entry(e Entry) error {
	if err := r.finishFile(); err != nil {
		return err
	}
	if !filepath.IsLocal(e.Path) || e.Path == "." {
		return failed("write %q: it leads out of its folder", e.Path)
	}
	if !r.started {
		if err := r.begin(e); err != nil || r.device {
			return err
		}
	}
	if r.device {
		return failed("write to %s: it is no folder", r.target.Path)
	}
	name := filepath.Clean(e.Path)
	if r.only != "" {
		_, rest, deep := strings.Cut(name, "/")
		if name = r.only; deep {
			name = filepath.Join(r.only, rest)
		}
	}
	switch e.Kind {
	case Folder:
		return because("make", r.path(name), r.folder(name, e))
	case Link:
		return because("make", r.path(name), r.link(name, e))
	}
	return because("write", r.path(name), r.begun(name, e))
}

func (r *Receiver) path(name string) string { return filepath.Join(r.base, name) }

func (r *Receiver) folder(name string, e Entry) error {
	err := r.root.Mkdir(name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		info, statErr := r.root.Stat(name)
		if statErr == nil && !info.IsDir() {
			return failed("make %s: a file stands there", r.path(name))
		}
		if statErr == nil && inode(info) == e.Inode && info.ModTime().Equal(e.Modified) {
			r.same = true
		}
		return statErr
	}
	if err != nil {
		return err
	}
	e.Path = name
	r.modes, r.wrote = append(r.modes, e), append(r.wrote, r.path(name))
	return nil
}

func (r *Receiver) link(name string, e Entry) error {
	if there, err := r.root.Readlink(name); err == nil && there == e.Link {
		return nil
	}
	if err := r.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.wrote = append(r.wrote, r.path(name))
	return r.root.Symlink(e.Link, name)
}

// begun opens a temporary file beside the one that is to come.
func (r *Receiver) begun(name string, e Entry) error {
	r.entry, r.name = e, name
	info, err := r.root.Stat(name)
	if err == nil && info.IsDir() {
		return failed("write %s: a folder stands there", r.path(name))
	}
	if err == nil && e.Inode != 0 && inode(info) == e.Inode && info.Size() == e.Size && info.ModTime().Equal(e.Modified) {
		r.discard, r.same = true, true
		return nil
	}
	if err := r.chooseTemp(name); err != nil {
		return err
	}
	// Where others may write, one of them may have made it to read along.
	r.file, err = r.root.OpenFile(r.temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrPermission) && info != nil && info.Mode().IsRegular() { // the folder is closed, the file perhaps not
		r.temp = ""
		r.file, err = r.root.OpenFile(name, os.O_WRONLY|os.O_TRUNC|syscall.O_NONBLOCK, 0)
	}
	if err == nil {
		_ = unix.Flock(int(r.file.Fd()), unix.LOCK_EX|unix.LOCK_NB) // what says that it is under way
		r.made, err = r.file.Stat()
	}
	return err
}

// underWay is how long an attempt is taken to be under way that has written nothing more, where files cannot be locked: its other side may
// have been silent, and come back beside the attempt that took its place.
const underWay = time.Minute

// busy reports whether a temporary file is of an attempt that is under way, and not of a process that has ended.
func (r *Receiver) busy(info fs.FileInfo) bool {
	recent := time.Since(info.ModTime()) < underWay
	if !info.Mode().IsRegular() {
		return recent
	}
	f, err := r.root.OpenFile(r.temp, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return recent
	}
	defer f.Close()
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case err == nil:
		return false
	case errors.Is(err, unix.EWOULDBLOCK):
		return true
	}
	return recent
}

// chooseTemp names a temporary file that is not there. One of an attempt that crashed is removed; one of an attempt that may be under
// way is left alone, and so is one that somebody else has put there, where others may write.
func (r *Receiver) chooseTemp(name string) error {
	r.temp = filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+r.target.Tag+".tmp")
	if len(filepath.Base(r.temp)) > 255 {
		r.temp = filepath.Join(filepath.Dir(name), "."+r.target.Tag+".tmp")
	}
	info, err := r.root.Lstat(r.temp)
	busy := err == nil && r.busy(info)
	if !busy {
		err = r.root.Remove(r.temp)
	}
	if _, there := r.root.Lstat(r.temp); (busy || err != nil) && there == nil {
		r.temp, err = filepath.Join(filepath.Dir(name), "."+r.target.Tag+"."+rand.Text()+".tmp"), nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Write implements Sink.
func (r *Receiver) Write(p []byte) (int, error) {
	if r.discard {
		return len(p), nil
	}
	if r.file == nil {
		return 0, failed("write to %s: data of no file", r.target.Path)
	}
	n, err := r.file.Write(p)
	return n, because("write", r.path(r.name), err)
}

// finishFile gives the file that has come its name.
func (r *Receiver) finishFile() error {
	r.discard = false
	f := r.file
	if f == nil {
		return nil
	}
	r.file = nil
	if r.device {
		return because("write to", r.target.Path, f.Close())
	}
	err := f.Sync()
	if r.temp == "" {
		return because("write", r.path(r.name), errors.Join(err, f.Close()))
	}
	err = errors.Join(f.Chmod(r.entry.Mode.Perm()), err, f.Close())
	if err == nil && !r.entry.Modified.IsZero() {
		err = r.root.Chtimes(r.temp, r.entry.Modified, r.entry.Modified)
	}
	if err == nil && !r.mine() {
		return failed("write %s: another attempt is under way", r.path(r.name))
	}
	if err == nil {
		err = r.root.Rename(r.temp, r.name)
	}
	if err != nil {
		r.dropTemp()
		return because("write", r.path(r.name), err)
	}
	r.wrote = append(r.wrote, r.path(r.name))
	return nil
}

// mine reports whether the temporary file is still the one that this receiver has made: another
// attempt may have taken its place, since this one's other side was silent for long.
func (r *Receiver) mine() bool {
	info, err := r.root.Lstat(r.temp)
	return err == nil && r.made != nil && os.SameFile(info, r.made)
}

// dropTemp removes what has not come whole. What stays, the next attempt removes.
func (r *Receiver) dropTemp() {
	if r.temp != "" && r.mine() {
		_ = r.root.Remove(r.temp)
	}
}

// Finish ends what has come whole: only then is the last file there.
func (r *Receiver) Finish() error {
	if !r.started {
		return failed("write to %s: nothing came", r.target.Path)
	}
	if err := r.finishFile(); err != nil {
		return err
	}
	for i := len(r.modes) - 1; i >= 0; i-- { // what is in a folder is written by now
		if err := r.root.Chmod(r.modes[i].Path, r.modes[i].Mode.Perm()); err != nil {
			return because("write", r.path(r.modes[i].Path), err)
		}
	}
	return nil
}

// Close lets go of everything; what has not come whole is gone.
func (r *Receiver) Close() {
	if r.file != nil {
		_ = r.file.Close()
		r.dropTemp()
	}
	if r.root != nil {
		_ = r.root.Close()
	}
}
