package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Kind is what an entry is.
type Kind uint8

// The kinds. Others, such as devices, are not moved.
const (
	File Kind = iota
	Folder
	Link
)

// An Entry is one file, folder or symbolic link of what is sent.
type Entry struct {
	Path     string // relative, with the name of what was asked for in front
	Kind     Kind
	Mode     fs.FileMode // permissions
	Link     string      // where a link leads
	Size     int64
	Modified time.Time
	Inode    uint64
}

// A Sink takes what Send finds: a folder before what is in it, the data of a file after its
// entry, and of no other.
type Sink interface {
	Entry(e Entry) error
	Write(p []byte) (int, error)
}

// An Error is a failure that repeats however often it is tried: the path, the rights of its
// owner or the disk are at fault.
type Error struct{ Reason string }

// Error returns the reason.
func (e *Error) Error() string { return e.Reason }

func failed(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// because makes an Error of what the system says about a path.
func because(what, path string, err error) error {
	if err == nil {
		return nil
	}
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	if n, ok := errors.AsType[syscall.Errno](err); ok {
		return failed("%s %s: %s", what, path, n)
	}
	return failed("%s %s: %v", what, path, err)
}

// Absolute returns the path, which is below home if it is relative. A slash at its end, which
// asks for a folder, stays.
func Absolute(home, path string) string {
	full := path
	if !filepath.IsAbs(path) {
		full = home + "/" + path
	}
	clean := filepath.Clean(full)
	if strings.HasSuffix(path, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// IsPattern reports whether a path means all files whose names match.
func IsPattern(path string) bool { return strings.ContainsAny(path, "*?[") }

// open opens a path without a way through /proc, by which the files that the mom has open
// could be reached. It does not wait for the other end of a pipe.
func open(path string, flags int) (*os.File, error) {
	flags |= unix.O_CLOEXEC
	if flags&unix.O_PATH == 0 {
		flags |= unix.O_NONBLOCK
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_NO_MAGICLINKS})
	if errors.Is(err, unix.ENOSYS) { // a kernel before 5.6
		fd, err = unix.Open(path, flags, 0)
	}
	if err != nil {
		return nil, err
	}
	var at unix.Statfs_t
	if err := unix.Fstatfs(fd, &at); err == nil && (at.Type == unix.PROC_SUPER_MAGIC || at.Type == unix.SYSFS_MAGIC) {
		_ = unix.Close(fd)
		return nil, unix.EACCES
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openRoot opens a folder that is to hold what is received.
func openRoot(path string) (*os.Root, error) {
	dir, err := open(path, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()))
}

func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// Remove removes what Send or Receive has listed: files, and folders that are empty then.
// What is gone already is no error.
func Remove(paths []string) error {
	var first error
	for i := len(paths) - 1; i >= 0; i-- { // what is in a folder comes after it
		err := os.Remove(paths[i])
		if err != nil && first == nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			first = because("remove", paths[i], err)
		}
	}
	return first
}
