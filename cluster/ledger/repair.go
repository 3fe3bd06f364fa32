package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// repair cuts every day file to its last whole record and returns the highest
// number that is left, 0 for none. Only the file with the highest number is read
// through: the others were synced before the next was begun.
func repair(dir string) (uint64, error) {
	all, err := spans(dir)
	if err != nil {
		return 0, err
	}
	for len(all) > 0 {
		s := all[len(all)-1]
		last, err := cut(dir, s.day)
		if err != nil {
			return 0, fmt.Errorf("repair accounting file %s: %w", s.day, err)
		}
		if last > 0 {
			return last, nil
		}
		all = all[:len(all)-1]
	}
	return 0, nil
}

// cut shortens one day file and its sidecar to the leading records that are
// whole, and returns the last one's number. A file without any is set aside when
// its day is written again.
func cut(dir, day string) (uint64, error) {
	data, err1 := os.OpenFile(filepath.Join(dir, day), os.O_RDWR|os.O_CREATE, 0o640)
	index, err2 := os.OpenFile(filepath.Join(dir, indexName(day)), os.O_RDWR|os.O_CREATE, 0o640)
	defer func() { _ = errors.Join(closeFile(data), closeFile(index)) }()
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	n, last, err := whole(data, index)
	if err != nil {
		return 0, err
	}
	err = index.Truncate(n * slotSize)
	if n > 0 {
		err = errors.Join(err, data.Truncate(int64(last.end())))
	}
	return last.number, errors.Join(err, data.Sync(), index.Sync())
}

// whole counts the leading slots whose line is in the data, follows the one
// before, and has its checksum; last is the last of them.
func whole(data, index io.ReaderAt) (n int64, last slot, err error) {
	var line []byte
	for ; ; n++ {
		s, err := slotAt(index, n)
		if isEnd(err) {
			return n, last, nil
		}
		if err != nil {
			return 0, slot{}, err
		}
		if s.offset != last.end() || s.number <= last.number || s.length > maxLine {
			return n, last, nil
		}
		line = append(line[:0], make([]byte, s.length)...)
		if _, err := data.ReadAt(line, int64(s.offset)); isEnd(err) {
			return n, last, nil
		} else if err != nil {
			return 0, slot{}, err
		}
		if s.check(line) != s.sum {
			return n, last, nil
		}
		last = s
	}
}

// maxLine bounds what a torn sidecar can make us read.
const maxLine = 64 << 20

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
