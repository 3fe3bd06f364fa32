package blob

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport/disk"
)

// ErrAbsent means that a blob is not there.
var ErrAbsent = errors.New("no such blob")

// ErrLost means that no replica has a blob any more.
var ErrLost = errors.New("no replica has the blob")

// errDamaged means that a content is not that of its name.
var errDamaged = errors.New("the content is not that of its name")

// unfinished begins the names of files that are being written.
const unfinished = ".new-"

// A Store is the blobs on one disk. A file under its own name is whole and synced.
type Store struct {
	dir string

	mu   sync.Mutex
	held map[pbs.BlobSum]held
}

// held is a blob on the disk, and when somebody last said that it is about to be named.
type held struct {
	size int64
	at   time.Time
}

// OpenStore opens the blobs in dir, which it makes if need be, readable by nobody else. What
// was not finished is removed.
func OpenStore(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open blobs: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open blobs: %w", err)
	}
	s := &Store{dir: dir, held: make(map[pbs.BlobSum]held)}
	for _, e := range entries {
		sum, ok := pbs.ParseBlobSum(e.Name())
		info, err := e.Info()
		switch {
		case strings.HasPrefix(e.Name(), unfinished):
			_ = os.Remove(filepath.Join(dir, e.Name()))
		case ok && err == nil && info.Mode().IsRegular():
			s.held[sum] = held{size: info.Size(), at: time.Now()} // an entry may be on its way
		}
	}
	return s, nil
}

// Hold reports whether the blob is there, and keeps it from being removed for a while.
func (s *Store) Hold(b pbs.Blob) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.held[b.Sum]
	if !ok || h.size != b.Size {
		return false
	}
	s.held[b.Sum] = held{size: h.size, at: time.Now()}
	return true
}

// Has reports whether the blob is there.
func (s *Store) Has(b pbs.Blob) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.held[b.Sum]
	return ok && h.size == b.Size
}

// Write stores a blob, and returns when it is on the disk for good.
func (s *Store) Write(b pbs.Blob, body io.Reader) error {
	if s.Hold(b) {
		return nil
	}
	if err := s.write(b, body); err != nil {
		return fmt.Errorf("store blob %s: %w", b.Sum, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[b.Sum] = held{size: b.Size, at: time.Now()}
	return nil
}

func (s *Store) write(b pbs.Blob, body io.Reader) (err error) {
	f, err := os.CreateTemp(s.dir, unfinished)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err := errors.Join(copyBlob(f, b, body), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), s.path(b.Sum)); err != nil {
		return err
	}
	return disk.SyncDir(s.dir)
}

// copyBlob copies a content, and no byte more, and fails if it is another one.
func copyBlob(w io.Writer, b pbs.Blob, body io.Reader) error {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(body, b.Size+1))
	if err == nil && (n != b.Size || !sums(sum, b.Sum)) {
		err = errDamaged
	}
	return err
}

func sums(h hash.Hash, want pbs.BlobSum) bool { return bytes.Equal(h.Sum(nil), want[:]) }

// Open opens a blob after it was read once: a damaged one is removed, and absent.
func (s *Store) Open(b pbs.Blob) (*os.File, error) {
	if !s.Has(b) {
		return nil, fmt.Errorf("%w: %s", ErrAbsent, b.Sum)
	}
	f, err := os.Open(s.path(b.Sum))
	if err == nil {
		if err = copyBlob(io.Discard, b, f); err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err == nil {
			return f, nil
		}
		defer f.Close()
	}
	if errors.Is(err, errDamaged) || errors.Is(err, fs.ErrNotExist) {
		s.forget(b.Sum, f)
		err = errors.Join(fmt.Errorf("%w: %s", ErrAbsent, b.Sum), err)
	}
	return nil, err
}

// forget drops a blob whose file is gone, or was found damaged; one that has been written anew in
// its place stays.
func (s *Store) forget(sum pbs.BlobSum, damaged *os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	there, err := os.Stat(s.path(sum))
	if err == nil && damaged != nil {
		was, e := damaged.Stat()
		if e != nil || !os.SameFile(there, was) {
			return
		}
		_ = os.Remove(s.path(sum))
	}
	delete(s.held, sum)
}

// Collect removes what keep does not want to stay, of all that was said to be about to be
// named before a time, and so long ago as this process measures it: its clock may be wrong. It
// returns how many blobs and bytes that were. A request for another blob waits for one removal at most.
func (s *Store) Collect(before time.Time, age time.Duration, keep func(pbs.BlobSum) bool) (blobs int, bytes int64, err error) {
	old := func(h held) bool { return h.at.Before(before) && time.Since(h.at) >= age }
	s.mu.Lock()
	var sums []pbs.BlobSum
	for sum, h := range s.held {
		if old(h) {
			sums = append(sums, sum)
		}
	}
	s.mu.Unlock()
	for _, sum := range sums {
		if keep(sum) {
			continue
		}
		size, e := s.remove(sum, old)
		if err = errors.Join(err, e); size > 0 {
			blobs, bytes = blobs+1, bytes+size
		}
	}
	return blobs, bytes, err
}

// remove removes a blob, unless somebody has said meanwhile that it is about to be named, and
// returns its size. Under the lock, for a file of the same name may be on its way.
func (s *Store) remove(sum pbs.BlobSum, old func(held) bool) (size int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.held[sum]
	if !ok || !old(h) {
		return 0, nil
	}
	if err := os.Remove(s.path(sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	delete(s.held, sum)
	return h.size, nil
}

// Size returns how many blobs there are, and their bytes.
func (s *Store) Size() (blobs int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		bytes += h.size
	}
	return len(s.held), bytes
}

func (s *Store) path(sum pbs.BlobSum) string { return filepath.Join(s.dir, sum.String()) }
