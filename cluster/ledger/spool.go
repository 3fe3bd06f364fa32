package ledger

import (
	"os"
	"path/filepath"
	"strconv"
)

// mendDir is the folder, in the accounting folder, of what is gathered for mending.
// It is of no use after a restart.
const mendDir = ".mend"

// A spool is a folder of records with rising numbers that need not follow on.
type spool struct {
	dir   string
	book  *book
	batch []Record
	got   numbers
}

func newSpool(dir string) *spool { return &spool{dir: dir} }

// add takes a record; it is in the folder after close.
func (s *spool) add(r Record) error {
	s.batch = append(s.batch, r)
	s.got = s.got.with(r.Number)
	if len(s.batch) < atOnce {
		return nil
	}
	return s.flush()
}

func (s *spool) flush() error {
	if len(s.batch) == 0 {
		return nil
	}
	if s.book == nil {
		if err := os.MkdirAll(s.dir, 0o750); err != nil {
			return err
		}
		s.book = newBook(s.dir, 1)
	}
	for from, i := 0, 1; i <= len(s.batch); i++ {
		if i < len(s.batch) && s.batch[i].Number == s.batch[i-1].Number+1 {
			continue
		}
		s.book.skip(s.batch[from].Number)
		if err := s.book.write(s.batch[from:i]); err != nil {
			return err
		}
		from = i
	}
	s.batch = nil
	return nil
}

func (s *spool) close() error {
	if err := s.flush(); err != nil || s.book == nil {
		return err
	}
	return s.book.close()
}

// spoolDir returns the name of a folder that is not there yet.
func (l *Ledger) spoolDir() string {
	n := l.spools.Add(1)
	return filepath.Join(l.opts.Dir, mendDir, strconv.FormatUint(n, 10))
}
