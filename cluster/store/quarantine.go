package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rampart/transport/disk"
)

const (
	folderPrefix = "aside-"
	// moveNote names the folder that the next open moves the stores to.
	moveNote = "set-aside"
	// foldersKept bounds what a replica that drifts again and again leaves behind.
	foldersKept = 2
)

// Quarantine implements Backend: DIR/aside-INDEX gets the state now, and log and
// snapshots at the next open.
func (f *files) Quarantine(index uint64, write func(io.Writer) error) (string, error) {
	name, err := freeFolder(f.dir, index)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(f.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := writeFile(filepath.Join(dir, "state.snapshot"), write); err != nil {
		return "", err
	}
	if err := disk.SyncDir(dir); err != nil {
		return "", err
	}
	err = writeFile(filepath.Join(f.dir, moveNote), func(w io.Writer) error {
		_, err := io.WriteString(w, name)
		return err
	})
	return dir, errors.Join(err, disk.SyncDir(f.dir))
}

// freeFolder returns the name of a folder that holds no stores yet: an index may come again,
// when the cluster has lost entries.
func freeFolder(dir string, index uint64) (string, error) {
	name := fmt.Sprintf("%s%012d", folderPrefix, index)
	for free, i := name, 1; ; free, i = fmt.Sprintf("%s-%d", name, i), i+1 {
		_, err := os.Stat(filepath.Join(dir, free, logFile))
		if errors.Is(err, fs.ErrNotExist) {
			return free, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// recoveryNote tells people of recoveries, beside the log that went on.
const recoveryNote = "recoveries.txt"

// Note implements Backend.
func (f *files) Note(text string) error {
	file, err := os.OpenFile(filepath.Join(f.dir, recoveryNote), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, text)
	return errors.Join(err, file.Sync(), file.Close())
}

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Sync(), file.Close())
}

// finishQuarantine moves the stores out of the way, if the last process wanted that. It
// may be interrupted anywhere, and is done again.
func finishQuarantine(dir string) error {
	note := filepath.Join(dir, moveNote)
	name, err := os.ReadFile(note)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(name), folderPrefix) {
		return os.Remove(note) // cut off while it was written: nothing has been moved
	}
	aside := filepath.Join(dir, filepath.Base(string(name)))
	for _, what := range []string{snapshotsDir, logFile} {
		err := os.Rename(filepath.Join(dir, what), filepath.Join(aside, what))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := errors.Join(disk.SyncDir(aside), disk.SyncDir(dir)); err != nil {
		return err
	}
	if err := os.Remove(note); err != nil {
		return err
	}
	return dropOldest(dir, aside)
}

// dropOldest removes all but the latest, of which newest is one.
func dropOldest(dir, newest string) error {
	all, err := filepath.Glob(filepath.Join(dir, folderPrefix+"*"))
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(path string) bool { return path == newest })
	slices.Sort(all)
	for _, old := range all[:max(0, len(all)+1-foldersKept)] {
		if err := os.RemoveAll(old); err != nil {
			return err
		}
	}
	return nil
}
