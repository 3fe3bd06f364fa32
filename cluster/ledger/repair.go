package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// repair cuts what a crash tore, and returns the highest number that is left, 0 for
// none. Only the file with this number is read through: the others were synced
// before the next was begun, and what happened to them since is mended later.
func repair(dir string, synced uint64) (uint64, error) {
	days, err := sidecars(dir)
	if err != nil {
		return 0, err
	}
	for {
		newest, torn, err := survey(dir, days)
		if err != nil {
			return 0, err
		}
		if newest.day != "" {
			torn = append(torn, newest)
		}
		left := newest.last
		for _, t := range torn {
			n, err := cut(dir, t.day, synced, newest)
			if err != nil {
				return 0, fmt.Errorf("repair accounting file %s: %w", t.day, err)
			}
			if t == newest {
				left = n
			}
		}
		if left == newest.last {
			return left, nil
		}
	}
}

// An ending is a day file and the highest number that it has whole.
type ending struct {
	day  string
	last uint64
}

// survey looks at the ends of the files: which has the highest number, and which
// others do not end with a whole record.
func survey(dir string, days []string) (newest ending, torn []ending, err error) {
	for _, day := range days {
		n, whole, err := lastWhole(dir, day)
		if err != nil {
			return ending{}, nil, fmt.Errorf("repair accounting file %s: %w", day, err)
		}
		if !whole {
			torn = append(torn, ending{day, n})
		}
		if n > newest.last {
			newest = ending{day, n}
		}
	}
	return newest, torn, nil
}

// lastWhole returns the highest number that a day file has whole, and whether it
// ends with it: that is all that is read of a file as it was written.
func lastWhole(dir, day string) (last uint64, whole bool, err error) {
	s, err := openScan(dir, day, nil)
	if err != nil {
		return 0, false, err
	}
	defer s.close()
	if n := s.rest / slotSize; n > 0 && s.rest%slotSize == 0 {
		sl, err := slotAt(s.index, n-1)
		if err != nil {
			return 0, false, err
		}
		f, ok, err := s.find(sl)
		if err != nil {
			return 0, false, err
		}
		if ok && f.at == f.offset && f.end() == s.size {
			return sl.number, true, nil
		}
	}
	for _, err := range s.records(context.Background(), everything) {
		if err != nil {
			return 0, false, err
		}
	}
	return s.last.number, false, nil
}

// cut shortens a day file and its sidecar to the last record that is kept, and
// returns its number. Where records that were synced are not there, no crash did
// that: the file keeps what may say which ones they were, for mending. One without
// any whole record is set aside when its day is written again.
func cut(dir, day string, synced uint64, newest ending) (uint64, error) {
	s, err := openScan(dir, day, nil)
	if err != nil {
		return 0, err
	}
	defer s.close()
	k, err := s.keep(synced)
	if err != nil || k.slots*slotSize == s.rest && k.end == s.size {
		return k.number, err
	}
	if day != newest.day {
		known, err := s.names(k, newest.last)
		if known || err != nil || k.slots*slotSize == s.rest {
			return k.number, err
		}
	}
	err = resize(filepath.Join(dir, indexName(day)), k.slots*slotSize)
	if k.exact && (day != newest.day || k.number >= synced) {
		err = errors.Join(err, resize(filepath.Join(dir, day), int64(k.end)))
	}
	return k.number, err
}

// A keep is what stays of a day file.
type keep struct {
	number uint64 // of the last record
	slots  int64
	end    uint64 // of the last line
	exact  bool   // the last line is where its slot says
}

// keep goes through the file: the leading whole records stay, and behind damage to
// records that were synced the whole ones too.
func (s *scan) keep(synced uint64) (k keep, err error) {
	for f, err := range s.records(context.Background(), everything) {
		if err != nil {
			return keep{}, err
		}
		follows := s.seen == k.slots+1 && f.at == k.end
		if !follows && k.number >= synced {
			break
		}
		k = keep{number: f.number, slots: s.seen, end: f.at + uint64(f.length), exact: f.at == f.offset}
	}
	return k, nil
}

// names reports whether a slot behind those that are kept names a record that
// existed: one that a crash tore would have been the newest.
func (s *scan) names(k keep, newest uint64) (bool, error) {
	for i := k.slots; i < s.rest/slotSize; i++ {
		sl, err := slotAt(s.index, i)
		if err != nil {
			return false, err
		}
		if sl.number > k.number && sl.number <= newest {
			return true, nil
		}
	}
	return false, nil
}

func resize(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close())
}

// maxLine bounds what a torn sidecar can make us read.
const maxLine = 64 << 20
