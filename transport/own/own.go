// Package own keeps what belongs to one daemon out of the hands of the other users of its
// host: the lock that makes it the only one at its home, and the folders in which nobody
// else may make, replace or remove a file. It owns no file beyond the locks, starts nothing,
// and is safe for concurrent use, for it keeps no state.
package own

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrRunning is the refusal of a second daemon of a kind at one home.
var ErrRunning = errors.New("another one is running")

// foreign are the bits with which others than the owner change a folder or a file.
const foreign = 0o022

// Lock makes this process the only one that holds the lock beside the file, until it is
// closed, and writes the pid into the file. Everybody may read the file, for tools look
// there, and whoever may read a file may lock it: so what is locked is another one, which
// only the daemon's account can open. The folder is made if it is missing. ErrRunning:
// somebody holds it.
func Lock(path string, pid int) (*os.File, error) {
	if err := Folder(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	f, err := Hold(held(path))
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := writePID(path, pid); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f, nil
}

// held returns the file that is locked for the one with the pid: "server_priv/.server.lock".
func held(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
}

// Hold locks a file that only this account can open, which is made if it is missing.
// ErrRunning: somebody holds it.
func Hold(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	err = f.Chmod(0o600) // of a file that was copied here
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrRunning
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// writePID replaces what the file has in place: it keeps its mode, and nobody reads a
// file without a pid but for a moment.
func writePID(path string, pid int) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644)
	if err != nil {
		return err
	}
	text := strconv.Itoa(pid) + "\n"
	_, err = f.WriteAt([]byte(text), 0)
	if err == nil {
		err = f.Truncate(int64(len(text)))
	}
	return errors.Join(err, f.Close())
}

// Folder makes a folder of that mode, with those above it, in which only its owner can make
// and replace files. One in which others may, such as the spool of another batch system whose
// home this was, is closed to them.
func Folder(path string, mode fs.FileMode) error {
	if err := os.MkdirAll(path, mode); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to uid %d, who could replace what is in it: give it to the account of the daemon", path, st.Uid)
	}
	if info.Mode().Perm()&foreign == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("others may write in %s, and it is no folder that could be closed to them: %w", path, err)
	}
	return errors.Join(f.Chmod(info.Mode()&^(foreign|fs.ModeSticky)), f.Close())
}

// Closed refuses a file that everybody may write; one that is missing is none. What a daemon
// of root's reads there, such as the environment of all jobs, would be anybody's to choose.
func Closed(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Mode().Perm()&0o002 != 0 {
		err = fmt.Errorf("%s can be written by everybody (mode %04o); chmod o-w %s", path, info.Mode().Perm(), path)
	}
	return err
}

// ErrForeign is the refusal of a program that somebody else could replace or change.
var ErrForeign = errors.New("file has a non-secure file access")

// mostLinks bounds the links that are followed one after the other, as the kernel does.
const mostLinks = 40

// Program refuses a file that others than root and the daemon's account could replace or change, with ErrForeign: by writing it, or by
// having one of the folders in which it, or a link to it, lies.
func Program(path string) error {
	at, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	for range mostLinks {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			err = cmp.Or(closedWay(real), closedWay(filepath.Dir(at)))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		next, err := os.Readlink(at)
		if err != nil {
			return nil // it is no link
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(at), next)
		}
		at = next
	}
	return fmt.Errorf("%s: %w", path, unix.ELOOP)
}

// closedWay refuses a path of which others could change what is there, or one of the folders on the way to it.
func closedWay(path string) error {
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		others := ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid()
		open := info.Mode().Perm()&foreign != 0 && (!info.IsDir() || info.Mode()&fs.ModeSticky == 0)
		if others || open {
			return fmt.Errorf("%w: %s can be changed by others", ErrForeign, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}
