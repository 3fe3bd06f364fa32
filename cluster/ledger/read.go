package ledger

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
)

// readAtOnce bounds the slots held in memory while a range is read.
const readAtOnce = 4096

// Read yields the records of a folder with numbers first to last, each once, by number.
// It may run while the folder is written. Numbers that are not there, or whose record
// is damaged, are left out.
func Read(dir string, first, last uint64) iter.Seq2[Record, error] {
	return read(dir, first, last, func(string) {})
}

// read is Read, and tells of the days whose files are damaged.
func read(dir string, first, last uint64, damaged func(day string)) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		all, err := spans(dir)
		if err != nil {
			yield(Record{}, err)
			return
		}
		for from := first; from <= last; {
			var ok bool
			if from, ok, err = firstIn(dir, all, from, damaged); err != nil {
				yield(Record{}, err)
				return
			}
			if !ok || from > last {
				return
			}
			to := from + min(readAtOnce-1, last-from)
			records, err := collect(dir, all, from, to, damaged)
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
			if from = to + 1; from == 0 {
				return
			}
		}
	}
}

// firstIn returns the lowest number from one on that a slot names. Reading goes from slot to
// slot, not from number to number: a damaged sidecar may name numbers far above all there are,
// and what lies between them is never counted through.
func firstIn(dir string, all []span, from uint64, damaged func(day string)) (low uint64, ok bool, err error) {
	for _, s := range all {
		n, found, err := s.firstFrom(dir, from)
		if errors.Is(err, fs.ErrNotExist) {
			damaged(s.day)
			continue
		}
		if err != nil {
			return 0, false, fmt.Errorf("read accounting sidecar of %s: %w", s.day, err)
		}
		if found && (!ok || n < low) {
			low, ok = n, true
		}
	}
	return low, ok, nil
}

// firstFrom returns the lowest number from one on that the day's sidecar names.
func (s span) firstFrom(dir string, from uint64) (number uint64, ok bool, err error) {
	if from > s.last || from <= s.first {
		return s.first, from <= s.first, nil
	}
	index, err := os.Open(filepath.Join(dir, indexName(s.day)))
	if err != nil {
		return 0, false, err
	}
	defer index.Close()
	info, err := index.Stat() // a mended one may have come into its place
	if err != nil {
		return 0, false, err
	}
	slots := info.Size() / slotSize
	at, err := search(index, slots, from)
	if err != nil || at == slots {
		return 0, false, err
	}
	sl, err := slotAt(index, at)
	return sl.number, err == nil, err
}

// collect reads a range that fits in memory.
func collect(dir string, all []span, first, last uint64, damaged func(day string)) ([]Record, error) {
	var records []Record
	for _, s := range all {
		if s.last < first || s.first > last {
			continue
		}
		found, whole, err := readDay(dir, s, first, last)
		if errors.Is(err, fs.ErrNotExist) {
			whole, err = false, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read accounting file %s: %w", s.day, err)
		}
		if !whole {
			damaged(s.day)
		}
		records = append(records, found...)
	}
	slices.SortStableFunc(records, func(a, b Record) int { return cmp.Compare(a.Number, b.Number) })
	return slices.CompactFunc(records, func(a, b Record) bool { return a.Number == b.Number }), nil
}

// readDay reads what one day file has of a range; whole says that no slot of the
// range is without its line.
func readDay(dir string, s span, first, last uint64) (records []Record, whole bool, err error) {
	sc, err := openScan(dir, s.day, nil)
	if err != nil {
		return nil, false, err
	}
	defer sc.close()
	slots := sc.rest / slotSize
	at, err := search(sc.index, slots, first)
	if err != nil {
		return nil, false, err
	}
	for whole = true; at < slots; at++ {
		sl, err := slotAt(sc.index, at)
		if err != nil {
			return nil, false, err
		}
		if sl.number > last {
			break
		}
		ok, err := sc.isAt(sl, sl.offset)
		if err != nil {
			return nil, false, err
		}
		if !ok || sl.number < first {
			whole = false
			continue
		}
		records = append(records, Record{Number: sl.number, Day: s.day, Line: bytes.Clone(sc.line)})
	}
	return records, whole, nil
}

// search returns the place of the first slot with a number of at least first.
func search(index *os.File, slots int64, first uint64) (int64, error) {
	low, high := int64(0), slots
	for low < high {
		mid := (low + high) / 2
		s, err := slotAt(index, mid)
		if err != nil {
			return 0, err
		}
		if s.number < first {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, nil
}
