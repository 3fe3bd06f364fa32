package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Record is one numbered line of the accounting log.
type Record struct {
	Number uint64
	Day    string // YYYYMMDD of its file
	Line   []byte // with its newline
}

// errGap says that a record's number is above the one that comes next.
var errGap = errors.New("accounting records are missing")

// A book is the accounting folder as its one writer sees it: day files and their
// sidecars, always ending with whole records in the order of their numbers.
type book struct {
	dir   string
	next  uint64 // number of the next record
	open  *page
	dirty bool
}

// A page is the day file being written.
type page struct {
	day   string
	data  *os.File
	index *os.File
	size  uint64
}

// openBook cuts what a crash may have left behind the last whole record and
// returns a book that goes on after it; the first record of an empty folder is 1.
func openBook(dir string) (*book, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make accounting folder: %w", err)
	}
	last, err := repair(dir)
	if err != nil {
		return nil, err
	}
	return &book{dir: dir, next: last + 1}, nil
}

// write appends records with rising numbers. Those already written are ignored;
// a number above the next one is errGap, and nothing from there on is written.
func (b *book) write(records []Record) error {
	for len(records) > 0 && records[0].Number < b.next {
		records = records[1:]
	}
	for len(records) > 0 {
		n := b.run(records)
		if n == 0 {
			return fmt.Errorf("%w: %d to %d", errGap, b.next, records[0].Number-1)
		}
		if err := b.writeDay(records[:n]); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// run counts the leading records that follow each other and share a day.
func (b *book) run(records []Record) int {
	n := 0
	for n < len(records) && records[n].Number == b.next+uint64(n) && records[n].Day == records[0].Day {
		n++
	}
	return n
}

// writeDay appends to one day file: lines before slots, so that a slot a reader
// sees always has its line.
func (b *book) writeDay(records []Record) error {
	if err := b.turnTo(records[0].Day); err != nil {
		return err
	}
	var lines, slots []byte
	size := b.open.size
	for _, r := range records {
		slots = newSlot(r.Number, size, r.Line).append(slots)
		lines = append(lines, r.Line...)
		size += uint64(len(r.Line))
	}
	b.dirty = true
	if _, err := b.open.data.Write(lines); err != nil {
		return fmt.Errorf("write accounting file: %w", err)
	}
	if _, err := b.open.index.Write(slots); err != nil {
		return fmt.Errorf("write accounting sidecar: %w", err)
	}
	b.open.size = size
	b.next += uint64(len(records))
	return nil
}

// skip goes on with a later number: the records between exist nowhere any more.
func (b *book) skip(to uint64) { b.next = max(b.next, to) }

// turnTo makes day the file being written. The one before is synced first, so
// that after a crash only the file with the highest number can be torn.
func (b *book) turnTo(day string) error {
	if b.open != nil && b.open.day == day {
		return nil
	}
	if !validDay(day) {
		return fmt.Errorf("write accounting record: %q is no day", day)
	}
	if err := b.close(); err != nil {
		return err
	}
	p, err := openPage(b.dir, day)
	if err != nil {
		return err
	}
	b.open = p
	return nil
}

func openPage(dir, day string) (*page, error) {
	if err := setAside(dir, day); err != nil {
		return nil, err
	}
	data, err1 := openAppend(filepath.Join(dir, day))
	index, err2 := openAppend(filepath.Join(dir, indexName(day)))
	if err := errors.Join(err1, err2); err != nil {
		return nil, errors.Join(err, closeFile(data), closeFile(index))
	}
	info, err := data.Stat()
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open accounting file: %w", err), data.Close(), index.Close())
	}
	return &page{day: day, data: data, index: index, size: uint64(info.Size())}, nil
}

// setAside renames a day file whose records have no numbers: it is not ours (a
// PBS wrote here before), or its sidecar was lost, and its records come again.
func setAside(dir, day string) error {
	index, err := os.Stat(filepath.Join(dir, indexName(day)))
	if err == nil && index.Size() >= slotSize {
		return nil
	}
	if err == nil {
		err = os.Remove(filepath.Join(dir, indexName(day)))
	}
	path := filepath.Join(dir, day)
	if data, missing := os.Stat(path); missing == nil && data.Size() > 0 {
		err = os.Rename(path, path+".unnumbered")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set a foreign accounting file aside: %w", err)
	}
	return nil
}

// sync makes all that was written survive a power cut.
func (b *book) sync() error {
	if b.open == nil || !b.dirty {
		return nil
	}
	if err := errors.Join(b.open.data.Sync(), b.open.index.Sync()); err != nil {
		return fmt.Errorf("sync accounting file: %w", err)
	}
	b.dirty = false
	return nil
}

func (b *book) close() error {
	if b.open == nil {
		return nil
	}
	err := errors.Join(b.sync(), b.open.data.Close(), b.open.index.Close())
	b.open = nil
	return err
}

func openAppend(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o640)
	if err != nil {
		return nil, fmt.Errorf("open accounting file: %w", err)
	}
	return f, nil
}

func closeFile(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
