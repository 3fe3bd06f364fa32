package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A cursor remembers the last entry whose lines went to the server log, so that
// a restart, which replays entries, does not log them again. It is saved with
// each sync: after a crash a few lines may come twice.
type cursor struct {
	file  *os.File
	index uint64
	saved uint64
}

func openCursor(dir string) (cursor, error) {
	f, err := os.OpenFile(filepath.Join(dir, ".logged"), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return cursor{}, fmt.Errorf("open log cursor: %w", err)
	}
	var b [8]byte
	if _, err := f.ReadAt(b[:], 0); err != nil && !isEnd(err) {
		return cursor{}, errors.Join(fmt.Errorf("read log cursor: %w", err), f.Close())
	}
	index := binary.BigEndian.Uint64(b[:])
	return cursor{file: f, index: index, saved: index}, nil
}

// advance says whether an entry comes for the first time.
func (c *cursor) advance(index uint64) bool {
	if index <= c.index {
		return false
	}
	c.index = index
	return true
}

func (c *cursor) save() error {
	if c.index == c.saved {
		return nil
	}
	if _, err := c.file.WriteAt(binary.BigEndian.AppendUint64(nil, c.index), 0); err != nil {
		return fmt.Errorf("write log cursor: %w", err)
	}
	c.saved = c.index
	return nil
}

func (c *cursor) close() error {
	if c.file == nil {
		return nil
	}
	return errors.Join(c.save(), c.file.Close())
}
