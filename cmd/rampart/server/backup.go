package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rampart/cluster/ledger"
	"rampart/fsm/snapshot"
	"rampart/transport/api"
	"rampart/transport/disk"
)

// A backup is made under another name, and gets its own when it is whole and on the disk.
const (
	backupPrefix = "backup-"
	backupTime   = "20060102T150405Z"
	backupMaking = ".making"
)

// makeBackup puts a snapshot and the accounting that it counts into a new folder in dir,
// reads both back, and returns the folder.
func makeBackup(ctx context.Context, dir, accounting string, take func(context.Context) (io.ReadCloser, error), now time.Time) (string, error) {
	making := filepath.Join(dir, backupMaking)
	if err := os.RemoveAll(making); err != nil {
		return "", err
	}
	if err := os.MkdirAll(making, 0o700); err != nil {
		return "", err
	}
	if err := saveState(ctx, filepath.Join(making, backupState), take); err != nil {
		return "", err
	}
	v, err := readBackup(filepath.Join(making, backupState))
	if err != nil {
		return "", err
	}
	before := ""
	if all, err := listBackups(dir); err == nil && len(all) > 0 {
		before = filepath.Join(dir, all[0].GetName(), backupAccounting)
	}
	if err := saveAccounting(ctx, accounting, before, filepath.Join(making, backupAccounting), v.Cluster().LastRecord); err != nil {
		return "", err
	}
	made := filepath.Join(dir, backupPrefix+now.UTC().Format(backupTime))
	if err := errors.Join(disk.SyncDir(making), os.Rename(making, made)); err != nil {
		return "", err
	}
	return made, disk.SyncDir(dir)
}

// saveAccounting copies the accounting up to a record into a new folder and reads it back. It
// shares the files of finished days with the backup before, if there is one that is whole.
func saveAccounting(ctx context.Context, from, before, to string, last uint64) error {
	fill := func(share func() error) error {
		if err := errors.Join(os.RemoveAll(to), os.Mkdir(to, 0o700)); err != nil {
			return err
		}
		if err := share(); err != nil {
			return err
		}
		if err := ledger.Copy(ctx, from, to, last); err != nil {
			return err
		}
		_, err := ledger.Verify(ctx, to)
		return err
	}
	if before != "" && fill(func() error { return linkDays(before, to) }) == nil {
		return nil
	}
	return fill(func() error { return nil })
}

// saveState writes a snapshot file that survives a power cut.
func saveState(ctx context.Context, path string, take func(context.Context) (io.ReadCloser, error)) (err error) {
	saved, err := take(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, saved.Close()) }()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, saved)
	return errors.Join(err, f.Sync(), f.Close())
}

// linkDays takes over the accounting of an earlier backup: finished days as links, the last
// one, which is written on, as a copy.
func linkDays(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	last := ""
	for _, e := range entries {
		if day := dayOf(e.Name()); !strings.HasPrefix(day, ".") { // else it is no day's
			last = max(last, day)
		}
	}
	for _, e := range entries {
		old, now := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		if dayOf(e.Name()) != last && os.Link(old, now) == nil {
			continue
		}
		data, err := os.ReadFile(old)
		if err == nil {
			err = os.WriteFile(now, data, 0o640)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dayOf returns the day that an accounting file or its sidecar is of.
func dayOf(name string) string {
	if day, ok := strings.CutSuffix(name, ".index"); ok {
		return strings.TrimPrefix(day, ".")
	}
	return name
}

// listBackups returns the backups in a folder, the latest first.
func listBackups(dir string) ([]*api.Backup, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []*api.Backup
	for _, e := range entries {
		at, err := time.Parse(backupPrefix+backupTime, e.Name())
		if err != nil || !e.IsDir() {
			continue
		}
		b := &api.Backup{Name: e.Name(), Made: at.Unix()}
		describeBackup(b, filepath.Join(dir, e.Name(), backupState))
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *api.Backup) int { return strings.Compare(b.GetName(), a.GetName()) })
	return all, nil
}

// describeBackup tells of the snapshot what its header says.
func describeBackup(b *api.Backup, path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		b.Bytes = info.Size()
	}
	if h, err := snapshot.Inspect(f); err == nil {
		b.Index, b.Jobs = h.Index, uint64(h.Jobs)
	}
}

// rotate removes all but the latest backups.
func rotate(dir string, keep int) error {
	all, err := listBackups(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, b := range all[min(keep, len(all)):] {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, b.GetName())))
	}
	return errors.Join(errs...)
}

// VerifyBackup reads the folder of a backup whole. It returns the path of the snapshot and
// the number of the last accounting record.
func VerifyBackup(ctx context.Context, dir string) (file string, records uint64, err error) {
	file = filepath.Join(dir, backupState)
	if _, err := readBackup(file); err != nil {
		return file, 0, err
	}
	records, err = ledger.Verify(ctx, filepath.Join(dir, backupAccounting))
	if err != nil {
		return file, 0, fmt.Errorf("%s: %w", dir, err)
	}
	return file, records, nil
}
