package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// A cursor remembers the last entry whose lines went to the server log, so that
// a restart, which replays entries, does not log them again, and up to where the
// accounting records were synced. It is saved with each sync: after a crash a few
// lines may come twice.
type cursor struct {
	file   *os.File
	index  uint64
	synced uint64 // when it was opened
	saved  [2]uint64
}

const cursorSize = 20

func openCursor(dir string) (cursor, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return cursor{}, fmt.Errorf("make accounting folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, ".logged"), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return cursor{}, fmt.Errorf("open log cursor: %w", err)
	}
	var b [cursorSize]byte
	if _, err := f.ReadAt(b[:], 0); err != nil && !isEnd(err) {
		return cursor{}, errors.Join(fmt.Errorf("read log cursor: %w", err), f.Close())
	}
	c := cursor{file: f}
	if binary.BigEndian.Uint32(b[16:]) == crc32.Checksum(b[:16], castagnoli) {
		c.index, c.synced = binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])
	}
	c.saved = [2]uint64{c.index, c.synced}
	return c, nil
}

// advance says whether an entry comes for the first time.
func (c *cursor) advance(index uint64) bool {
	if index <= c.index {
		return false
	}
	c.index = index
	return true
}

// save notes that the records up to a number are on disk for good.
func (c *cursor) save(synced uint64) error {
	now := [2]uint64{c.index, synced}
	if now == c.saved {
		return nil
	}
	b := binary.BigEndian.AppendUint64(nil, c.index)
	b = binary.BigEndian.AppendUint64(b, synced)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := c.file.WriteAt(b, 0); err != nil {
		return fmt.Errorf("write log cursor: %w", err)
	}
	c.saved = now
	return nil
}

func (c *cursor) close() error {
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}
