package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"rampart/cluster/raftlog"
	"rampart/transport/disk"
)

// files are DIR/log.db, with the log, votes, terms and records, and DIR/snapshots.
type files struct {
	dir       string
	db        *raftboltdb.BoltStore
	snapshots raft.SnapshotStore
}

var _ Backend = (*files)(nil)

const (
	logFile      = "log.db"
	snapshotsDir = "snapshots" // of raft.FileSnapshotStore
	// snapshotsKept is how many snapshots are kept.
	snapshotsKept = 2
	// lockPatience is how long we wait for another process to let go of the file.
	lockPatience = 2 * time.Second
	// compactBatch bounds the transactions of a compaction.
	compactBatch = 4 << 20
	// compactFloor: below this many bytes, free pages are not worth the copy.
	compactFloor = 8 << 20
)

// OpenFiles opens the stores in dir, which it makes if need be, readable by
// nobody else: log and snapshots hold the gossip key. A log that is more than
// half free space is compacted first. The error of a full disk wraps ErrFailed: it ends
// this process, but not the next one.
func OpenFiles(dir string, logger *slog.Logger) (_ Backend, err error) {
	defer func() {
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			err = fmt.Errorf("%w: %w", ErrFailed, err)
		}
	}()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open stores: %w", err)
	}
	if err := finishQuarantine(dir); err != nil {
		return nil, fmt.Errorf("set aside what is in %s: %w", dir, err)
	}
	path := filepath.Join(dir, logFile)
	if err := checkPages(path); err != nil {
		return nil, fmt.Errorf("open stores: %w", damaged(err, dir))
	}
	if err := compact(path, logger); err != nil {
		return nil, fmt.Errorf("compact %s: %w", path, err)
	}
	db, err := raftboltdb.New(raftboltdb.Options{Path: path, BoltOptions: boltOptions(), MsgpackUseNewTimeFormat: true})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, snapshotsKept, raftlog.New(logger))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open snapshots in %s: %w", dir, err), db.Close())
	}
	return &files{dir: dir, db: db, snapshots: snapshots}, nil
}

func (f *files) Log() raft.LogStore            { return f.db }
func (f *files) Stable() raft.StableStore      { return f.db }
func (f *files) Snapshots() raft.SnapshotStore { return f.snapshots }
func (f *files) Close() error                  { return f.db.Close() }

// Dir implements Backend.
func (f *files) Dir() string { return f.dir }

// Room implements Backend.
func (f *files) Room() (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(f.dir, &s); err != nil {
		return -1, fmt.Errorf("ask for the room in %s: %w", f.dir, err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}

// DropOld implements Backend.
func (f *files) DropOld() error {
	all, err := f.snapshots.List()
	if err != nil || len(all) < 2 {
		return err
	}
	for _, m := range all[1:] {
		err = errors.Join(err, os.RemoveAll(filepath.Join(f.dir, snapshotsDir, m.ID)))
	}
	return err
}

// Reusable implements Backend: bolt never gives space back, and takes its free pages first.
func (f *files) Reusable() int64 {
	return int64(f.db.Stats().FreePageN) * int64(os.Getpagesize())
}

// boltOptions returns options under which the list of free pages is not written with every
// commit, but found anew at open.
func boltOptions() *bbolt.Options {
	return &bbolt.Options{Timeout: lockPatience, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType}
}

// compact rewrites a file that is more than half free, and replaces it by the
// copy when that is safely on disk.
func compact(path string, logger *slog.Logger) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	src, err := bbolt.Open(path, 0o600, boltOptions())
	if err != nil {
		return err
	}
	size, free := usage(src)
	if size < compactFloor || free <= size/2 {
		return src.Close()
	}
	began := time.Now()
	err = copyInto(src, path+".compact")
	if errors.Is(err, unix.ENOSPC) {
		logger.Warn("no room to compact the log", "file", path, "bytes", size, "free", free)
		return errors.Join(src.Close(), os.Remove(path+".compact"))
	}
	if err = errors.Join(err, src.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".compact", path); err != nil {
		return err
	}
	logger.Info("compacted the log", "file", path, "bytes", size, "free", free, "took", time.Since(began))
	return disk.SyncDir(filepath.Dir(path))
}

func usage(db *bbolt.DB) (size, free int64) {
	_ = db.View(func(tx *bbolt.Tx) error {
		size = tx.Size()
		return nil
	})
	return size, int64(db.Stats().FreePageN) * int64(db.Info().PageSize)
}

func copyInto(src *bbolt.DB, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // left by a crash in an earlier attempt
	}
	dst, err := bbolt.Open(path, 0o600, boltOptions())
	if err != nil {
		return err
	}
	err = bbolt.Compact(dst, src, compactBatch)
	return errors.Join(err, dst.Sync(), dst.Close())
}
