package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"rampart/transport/disk"
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
	watch func(day string) // is told of files that are finished or not what was written
}

// A page is the day file being written.
type page struct {
	day   string
	data  *os.File
	index *os.File
	size  uint64 // of data
	slots uint64 // bytes of index
}

// openBook cuts what a crash may have left behind the last whole record and
// returns a book that goes on after it; the first record of an empty folder is 1.
// Records up to synced were on disk for good: if one of them is not whole, no
// crash did that, and those after it are kept.
func openBook(dir string, synced uint64) (*book, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make accounting folder: %w", err)
	}
	if err := settle(dir); err != nil {
		return nil, err
	}
	last, err := repair(dir, synced)
	if err != nil {
		return nil, err
	}
	return newBook(dir, last+1), nil
}

func newBook(dir string, next uint64) *book {
	return &book{dir: dir, next: next, watch: func(string) {}}
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
	if err := b.open.append(lines, slots); err != nil {
		return err
	}
	b.next += uint64(len(records))
	return nil
}

func (p *page) append(lines, slots []byte) error {
	if _, err := p.data.Write(lines); err != nil {
		return fmt.Errorf("write accounting file: %w", err)
	}
	if _, err := p.index.Write(slots); err != nil {
		return fmt.Errorf("write accounting sidecar: %w", err)
	}
	p.size += uint64(len(lines))
	p.slots += uint64(len(slots))
	return nil
}

// skip goes on with a later number: the records between exist nowhere any more.
func (b *book) skip(to uint64) { b.next = max(b.next, to) }

// turnTo makes day the file being written. The one before is synced first, so
// that after a crash only the file with the highest number can be torn.
func (b *book) turnTo(day string) error {
	if err := b.look(); err != nil {
		return err
	}
	if b.open != nil && b.open.day == day {
		return nil
	}
	if !validDay(day) {
		return fmt.Errorf("write accounting record: %q is no day", day)
	}
	if b.open != nil {
		b.watch(b.open.day)
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

// look closes the page if its files are no longer the ones that were written: an
// editor put another one in its place, or somebody cut it. The next record opens
// what is there now and goes on at its end; the numbers that are lost are mended.
func (b *book) look() error {
	if b.open == nil || b.open.stands(b.dir) {
		return nil
	}
	b.watch(b.open.day)
	return b.close()
}

// stands reports whether the page's files are in their places with the sizes that
// the writer gave them.
func (p *page) stands(dir string) bool {
	return stands(p.data, filepath.Join(dir, p.day), p.size) && stands(p.index, filepath.Join(dir, indexName(p.day)), p.slots)
}

func stands(f *os.File, path string, size uint64) bool {
	mine, err1 := f.Stat()
	there, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(mine, there) && uint64(mine.Size()) == size
}

func openPage(dir, day string) (*page, error) {
	if err := quarantine(dir, day); err != nil {
		return nil, err
	}
	data, err1 := openAppend(filepath.Join(dir, day))
	index, err2 := openAppend(filepath.Join(dir, indexName(day)))
	if err := errors.Join(err1, err2); err != nil {
		return nil, errors.Join(err, closeFile(data), closeFile(index))
	}
	p := &page{day: day, data: data, index: index}
	if err := errors.Join(p.measure(), disk.SyncDir(dir)); err != nil {
		return nil, errors.Join(fmt.Errorf("open accounting file: %w", err), data.Close(), index.Close())
	}
	return p, nil
}

// measure takes the sizes, and cuts a piece of a slot that somebody left.
func (p *page) measure() error {
	data, err1 := p.data.Stat()
	index, err2 := p.index.Stat()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	p.size = uint64(data.Size())
	p.slots = uint64(index.Size() / slotSize * slotSize)
	return p.index.Truncate(int64(p.slots))
}

// quarantine renames a day file whose records have no numbers: it is not ours (a
// PBS wrote here before), or its sidecar was lost, and its records come again.
func quarantine(dir, day string) error {
	index, err := os.Stat(filepath.Join(dir, indexName(day)))
	if err == nil && index.Size() >= slotSize {
		return nil
	}
	if err == nil {
		err = os.Remove(filepath.Join(dir, indexName(day)))
	}
	path := filepath.Join(dir, day)
	if data, missing := os.Stat(path); missing == nil && data.Size() > 0 {
		err = os.Rename(path, unused(path+".unnumbered"))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set a foreign accounting file aside: %w", err)
	}
	return nil
}

// unused returns a name that no file has: the given one, or that with a number.
func unused(path string) string {
	name := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = path + "." + strconv.Itoa(n)
	}
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
