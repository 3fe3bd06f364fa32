package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asOwner calls fn with the owner's rights to files, as the kernel and a remote file
// server see them. The rights belong to one thread, which ends with the call.
func asOwner(o *Owner, fn func() error) error {
	if o == nil {
		return fn()
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread must not serve anybody else
		if err := becomeOwner(o); err != nil {
			done <- err
			return
		}
		done <- fn()
	}()
	return <-done
}

// AsOwner calls fn with the owner's rights to files, and no more, in a thread of its own;
// nil is the mom itself. fn is to end soon after ctx has; if it does not, for a file system
// may hang, AsOwner returns the context's cause and leaves fn alone. So fn must touch only
// what is its own, and what is there for ever.
func AsOwner(ctx context.Context, o *Owner, fn func() error) error {
	done := make(chan error, 1)
	go func() { done <- asOwner(o, fn) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(hangs)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return context.Cause(ctx)
	}
}

// hangs is after how long a file operation that was to end counts as one that hangs.
const hangs = 2 * time.Second

// becomeOwner changes this thread only; the wrappers of package syscall would change
// the whole process.
func becomeOwner(o *Owner) error {
	var first unsafe.Pointer
	if len(o.Groups) > 0 {
		first = unsafe.Pointer(&o.Groups[0])
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(o.Groups)), uintptr(first), 0); errno != 0 {
		return fmt.Errorf("become uid %d: setgroups: %w", o.UID, errno)
	}
	if err := setfs(unix.SYS_SETFSGID, o.GID); err != nil {
		return fmt.Errorf("become uid %d: setfsgid: %w", o.UID, err)
	}
	if err := setfs(unix.SYS_SETFSUID, o.UID); err != nil {
		return fmt.Errorf("become uid %d: setfsuid: %w", o.UID, err)
	}
	return nil
}

// setfs checks by asking again, because these calls never report a failure.
func setfs(call uintptr, id uint32) error {
	_, _, _ = unix.RawSyscall(call, uintptr(id), 0, 0)
	if now, _, _ := unix.RawSyscall(call, ^uintptr(0), 0, 0); uint32(now) != id {
		return unix.EPERM
	}
	return nil
}

// moveFile is System.Move on real files. A source that is gone was moved before.
func moveFile(owner *Owner, file, target, name string) error {
	src, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = asOwner(owner, func() error { return place(src, target, name) })
	if err = errors.Join(err, src.Close()); err != nil {
		return err
	}
	return os.Remove(file)
}

// place copies src to target with the rights of the calling thread.
func place(src *os.File, target, name string) error {
	if real, err := filepath.EvalSymlinks(target); err == nil && !strings.HasSuffix(target, "/") {
		target = real
	}
	info, err := os.Stat(target)
	switch {
	case strings.HasSuffix(target, "/"), err == nil && info.IsDir():
		return deposit(src, filepath.Join(target, name))
	case err == nil && !info.Mode().IsRegular(): // such as /dev/null
		return overwrite(src, target, syscall.O_NONBLOCK)
	}
	return deposit(src, target)
}

func deposit(src *os.File, target string) error {
	err := replace(src, target)
	if errors.Is(err, fs.ErrPermission) { // the folder is closed, the file perhaps is not
		if info, statErr := os.Stat(target); statErr == nil && info.Mode().IsRegular() {
			return overwrite(src, target, os.O_TRUNC)
		}
	}
	return err
}

func replace(src *os.File, target string) error {
	info, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := beside(filepath.Join(filepath.Dir(target), "."+filepath.Base(src.Name())))
	if err != nil {
		return err
	}
	tmp := dst.Name()
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Chmod(info.Mode().Perm())
	}
	if err == nil && info.Size() > 0 {
		err = dst.Sync()
	}
	if err = errors.Join(err, dst.Close()); err == nil {
		err = os.Rename(tmp, target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

// beside makes a new file of that name with an ending; that of an attempt that crashed is
// removed. Where others may write, one of them may have made it, to read along or to be in
// the way: then it gets a name that nobody guesses.
func beside(name string) (*os.File, error) {
	err := os.Remove(name + ".tmp")
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		var f *os.File
		if f, err = os.OpenFile(name+".tmp", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
			return f, nil
		}
	}
	if _, there := os.Lstat(name + ".tmp"); there != nil {
		return nil, err // the folder is closed
	}
	return os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.tmp")
}

// overwrite begins at the start of src: an attempt to replace may have read it.
func overwrite(src *os.File, target string, flags int) error {
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return err
	}
	dst, err := os.OpenFile(target, os.O_WRONLY|flags, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// makeDir makes a private folder; one that is there must be the owner's own, for
// others may write where it stands.
func makeDir(owner *Owner, path string) error {
	return asOwner(owner, func() error {
		err := os.Mkdir(path, 0o700)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		mine := uint32(os.Geteuid())
		if owner != nil {
			mine = owner.UID
		}
		return checkDir(path, mine)
	})
}

// RemoveEmptyDir removes the folder that MakeDirFor has made, when its owner has removed what
// is in it.
func RemoveEmptyDir(path string) error {
	err := unix.Rmdir(path)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

func removeDir(owner *Owner, path string) error {
	return asOwner(owner, func() error { return os.RemoveAll(path) })
}
