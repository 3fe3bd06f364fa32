package ledger

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
)

// readAtOnce bounds the slots held in memory while a range is read.
const readAtOnce = 4096

// Read yields the records of a folder with numbers first to last, by number. It
// may run while the folder is written. Numbers that are not there are left out.
func Read(dir string, first, last uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		all, err := spans(dir)
		if err != nil {
			yield(Record{}, err)
			return
		}
		if len(all) > 0 {
			last = min(last, all[len(all)-1].last)
		}
		for from := first; from <= last && len(all) > 0; from += readAtOnce {
			records, err := collect(dir, all, from, min(last, from+readAtOnce-1))
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// collect reads a range that fits in memory.
func collect(dir string, all []span, first, last uint64) ([]Record, error) {
	var records []Record
	for _, s := range all {
		if s.last < first || s.first > last {
			continue
		}
		found, err := readDay(dir, s, first, last)
		if err != nil {
			return nil, fmt.Errorf("read accounting file %s: %w", s.day, err)
		}
		records = append(records, found...)
	}
	slices.SortFunc(records, func(a, b Record) int { return int(int64(a.Number - b.Number)) })
	return records, nil
}

func readDay(dir string, s span, first, last uint64) ([]Record, error) {
	data, err1 := os.Open(filepath.Join(dir, s.day))
	index, err2 := os.Open(filepath.Join(dir, indexName(s.day)))
	defer func() { _ = errors.Join(closeFile(data), closeFile(index)) }()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	at, err := search(index, s.slots, first)
	if err != nil {
		return nil, err
	}
	var records []Record
	for ; at < s.slots; at++ {
		sl, err := slotAt(index, at)
		if err != nil {
			return nil, err
		}
		if sl.number > last {
			break
		}
		line := make([]byte, sl.length)
		if _, err := data.ReadAt(line, int64(sl.offset)); err != nil {
			return nil, err
		}
		if sl.check(line) != sl.sum {
			return nil, fmt.Errorf("record %d is damaged", sl.number)
		}
		records = append(records, Record{Number: sl.number, Day: s.day, Line: line})
	}
	return records, nil
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
