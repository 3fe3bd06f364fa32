package proc

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// An Occupied is the refusal to use what another account, or no folder, has where a private
// folder of a job is to be.
type Occupied struct {
	Path string
	UID  uint32 // who owns what is there
}

// Error names the owner.
func (o *Occupied) Error() string {
	return fmt.Sprintf("make %s: something else stands there, of uid %d", o.Path, o.UID)
}

// attempts bounds how often a place is taken from somebody who takes it back.
const attempts = 5

// MakeDirFor makes a private folder of the owner at a place that is the mom's to give, such as
// $jobdir_root or $tmpdir, and where others may perhaps write too. What stands there and is not
// the owner's is renamed: moved is its new name, "" if there was nothing. A folder that is the
// owner's already is taken as it is.
func MakeDirFor(owner *Owner, path string) (moved string, err error) {
	uid, gid := os.Geteuid(), os.Getegid()
	if owner != nil {
		uid, gid = int(owner.UID), int(owner.GID)
	}
	for range attempts {
		if err = checkDir(path, uint32(uid)); err == nil {
			return "", nil
		}
		if _, occupied := errors.AsType[*Occupied](err); !occupied && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if moved, err = replaceDir(path, uid, gid); !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return moved, err
		}
	}
	return "", err
}

// checkDir reports whether a folder of that account stands there.
func checkDir(path string, uid uint32) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || st.Uid != uid {
		return &Occupied{path, st.Uid}
	}
	return nil
}

// replaceDir makes the folder under a name that nobody guesses, gives it to its owner, and gives
// it its place in one step: nobody can get in between.
func replaceDir(path string, uid, gid int) (moved string, err error) {
	made := path + "." + rand.Text()
	if err := os.Mkdir(made, 0o700); err != nil {
		return "", err
	}
	err = give(made, uid, gid)
	if err == nil {
		moved, err = putInPlace(made, path)
	}
	if err == nil {
		return moved, nil
	}
	_ = os.Remove(made)
	if errors.Is(err, unix.EXDEV) {
		err = give(path, uid, gid) // a folder of a lower layer of an overlay cannot be renamed
	}
	if err != nil {
		return "", fmt.Errorf("make %s: %w", path, err)
	}
	return "", nil
}

// give hands the folder at a path over to its owner.
func give(path string, uid, gid int) error {
	dir, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	return errors.Join(handOver(dir, uid, gid), dir.Close())
}

// handOver gives a new folder to its owner. Where others may rename what is not theirs, another
// folder can have got its name since: one that is not ours, not private or not empty is not it.
func handOver(dir *os.File, uid, gid int) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &st); err != nil {
		return err
	}
	names, _ := dir.Readdirnames(1)
	if st.Uid != uint32(os.Geteuid()) || st.Mode&0o777 != 0o700 || len(names) > 0 {
		return &Occupied{dir.Name(), st.Uid}
	}
	return dir.Chown(uid, gid)
}

// putInPlace renames a folder to path; what stands there gets the name that is returned.
func putInPlace(made, path string) (moved string, err error) {
	err = unix.Renameat2(unix.AT_FDCWD, made, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	switch {
	case errors.Is(err, unix.EEXIST):
		return made, unix.Renameat2(unix.AT_FDCWD, made, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
	case !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS):
		return "", err
	}
	// Network file systems know no flags. A plain rename of a folder replaces an empty folder only.
	if err = unix.Rename(made, path); err == nil || errors.Is(err, unix.ENOENT) {
		return "", err
	}
	moved = path + "." + rand.Text()
	if err = unix.Rename(path, moved); err != nil {
		return "", err
	}
	return moved, unix.Rename(made, path)
}
