package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rampart/transport/disk"
)

// The names of a day's files while it is mended: what is being made, and what is
// whole and only has to be put into its place. The sidecar gets its second name
// last: with it the mending is decided, whatever crashes then.
func draftName(day string) string   { return "." + day + ".draft" }
func readyName(day string) string   { return "." + day + ".ready" }
func draftIndex(day string) string  { return indexName(day) + ".draft" }
func readyIndex(day string) string  { return indexName(day) + ".ready" }
func damagedName(day string) string { return "damaged." + day }

// mend writes every damaged file anew, and every one that records were fetched for.
func (m *mender) mend(ctx context.Context, limit uint64) error {
	days := map[string]bool{}
	for day, c := range m.days {
		if !c.clean {
			days[day] = true
		}
	}
	for _, dir := range m.spools {
		fetched, err := sidecars(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, day := range fetched {
			days[day] = true
		}
	}
	for _, day := range slices.Sorted(maps.Keys(days)) {
		if err := m.mendDay(ctx, day, limit); err != nil {
			return fmt.Errorf("mend accounting file %s: %w", day, err)
		}
	}
	m.spools, m.wanted = nil, 0
	return m.ledger.do(ctx, func(w *writer) error {
		if w.offers != nil {
			return nil // of the replay, for a round to come
		}
		return os.RemoveAll(filepath.Join(m.ledger.opts.Dir, mendDir))
	})
}

// mendDay makes the file from what is whole in it and in the spools, and has the
// writer put it into its place.
func (m *mender) mendDay(ctx context.Context, day string, limit uint64) error {
	dir := m.ledger.opts.Dir
	d, err := newDraft(dir, day)
	if err != nil {
		return err
	}
	defer d.close()
	sources := []iter.Seq2[Record, error]{wholeOf(ctx, dir, day, limit, &m.pace)}
	for _, s := range m.spools {
		sources = append(sources, wholeOf(ctx, s, day, limit, nil))
	}
	if err := merge(sources, d.add); err != nil {
		return err
	}
	damaged := false
	if c, known := m.days[day]; known {
		damaged = !c.clean
	}
	err = m.ledger.do(ctx, func(w *writer) error { return w.exchange(d, damaged, limit) })
	if err != nil {
		return err
	}
	delete(m.days, day)
	m.ledger.alarm("accounting file "+day+" is mended", "records", d.count)
	return nil
}

// wholeOf yields the whole records of a day file, none if there is no such file.
func wholeOf(ctx context.Context, dir, day string, limit uint64, p *pace) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s, err := openScan(dir, day, p)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer s.close()
		for f, err := range s.records(ctx, limit) {
			if !yield(Record{Number: f.number, Day: day, Line: f.line}, err) || err != nil {
				return
			}
		}
	}
}

// merge calls add for the records of all sources, by number and each number once.
func merge(sources []iter.Seq2[Record, error], add func(Record) error) error {
	type head struct {
		r    Record
		next func() (Record, error, bool)
	}
	var heads []*head
	for _, s := range sources {
		next, stop := iter.Pull2(s)
		defer stop()
		heads = append(heads, &head{next: next})
	}
	pull := func(h *head) error {
		r, err, ok := h.next()
		if !ok {
			heads = slices.DeleteFunc(heads, func(o *head) bool { return o == h })
		}
		h.r = r
		return err
	}
	for _, h := range slices.Clone(heads) {
		if err := pull(h); err != nil {
			return err
		}
	}
	var last uint64
	for len(heads) > 0 {
		h := slices.MinFunc(heads, func(a, b *head) int { return cmp.Compare(a.r.Number, b.r.Number) })
		if h.r.Number > last {
			last = h.r.Number
			if err := add(h.r); err != nil {
				return err
			}
		}
		if err := pull(h); err != nil {
			return err
		}
	}
	return nil
}

// A draft is a day file that is being made.
type draft struct {
	dir, day     string
	page         *page
	lines, slots []byte // not written yet
	count        int
}

func newDraft(dir, day string) (*draft, error) {
	const flags = os.O_CREATE | os.O_TRUNC | os.O_WRONLY | os.O_APPEND
	data, err1 := os.OpenFile(filepath.Join(dir, draftName(day)), flags, 0o640)
	index, err2 := os.OpenFile(filepath.Join(dir, draftIndex(day)), flags, 0o640)
	d := &draft{dir: dir, day: day, page: &page{day: day, data: data, index: index}}
	if err := errors.Join(err1, err2); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *draft) add(r Record) error {
	at := d.page.size + uint64(len(d.lines))
	d.slots = newSlot(r.Number, at, r.Line).append(d.slots)
	d.lines = append(d.lines, r.Line...)
	d.count++
	if len(d.lines) < window {
		return nil
	}
	return d.flush()
}

func (d *draft) flush() error {
	err := d.page.append(d.lines, d.slots)
	d.lines, d.slots = d.lines[:0], d.slots[:0]
	return err
}

func (d *draft) sync() error {
	return errors.Join(d.flush(), d.page.data.Sync(), d.page.index.Sync())
}

func (d *draft) close() error {
	err := errors.Join(closeFile(d.page.data), closeFile(d.page.index))
	d.page.data, d.page.index = nil, nil
	return err
}

// decide makes the draft ready: from here on a crash does not take it back.
func (d *draft) decide() error {
	path := func(name string) string { return filepath.Join(d.dir, name) }
	if err := os.Rename(path(draftName(d.day)), path(readyName(d.day))); err != nil {
		return err
	}
	if err := disk.SyncDir(d.dir); err != nil {
		return err
	}
	if err := os.Rename(path(draftIndex(d.day)), path(readyIndex(d.day))); err != nil {
		return err
	}
	return disk.SyncDir(d.dir)
}

// exchange puts a mended file into its place. It runs in the writer's goroutine,
// so that what was appended meanwhile comes along.
func (w *writer) exchange(d *draft, damaged bool, limit uint64) error {
	dir := w.ledger.opts.Dir
	if w.book == nil {
		return errors.New("the files are not open")
	}
	if w.book.open != nil && w.book.open.day == d.day {
		if err := w.book.close(); err != nil {
			w.reset()
			return err
		}
	}
	w.replay.close()
	for r, err := range wholeOf(context.Background(), dir, d.day, everything, nil) {
		if err != nil {
			return err
		}
		if r.Number <= limit {
			continue
		}
		if err := d.add(r); err != nil {
			return err
		}
	}
	if err := d.sync(); err != nil {
		return err
	}
	if err := keepReplaced(dir, d.day, damaged); err != nil {
		return err
	}
	if err := d.decide(); err != nil {
		return err
	}
	return settleDay(dir, d.day)
}

// keepReplaced gives the file that is about to be replaced a second name: a damaged
// one because somebody may want to know what was done to it, and one without
// sidecar because its lines may not be ours.
func keepReplaced(dir, day string, damaged bool) error {
	if err := quarantine(dir, day); err != nil {
		return err
	}
	if !damaged {
		return nil
	}
	err := os.Link(filepath.Join(dir, day), unused(filepath.Join(dir, damagedName(day))))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// settle finishes the mendings that are decided but not done.
func settle(dir string) error {
	all, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list accounting files: %w", err)
	}
	for _, e := range all {
		if day, ok := dayOf(strings.TrimSuffix(e.Name(), ".ready")); ok && e.Name() == readyIndex(day) {
			err = errors.Join(err, settleDay(dir, day))
		}
	}
	if err != nil {
		return fmt.Errorf("finish mending accounting files: %w", err)
	}
	return nil
}

// sweep removes what an earlier process left of mendings that were not decided.
func sweep(dir string) error {
	var err error
	for _, pattern := range []string{".*.draft", ".*.ready"} {
		left, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is good
		for _, path := range left {
			err = errors.Join(err, os.Remove(path))
		}
	}
	if err := errors.Join(err, os.RemoveAll(filepath.Join(dir, mendDir))); err != nil {
		return fmt.Errorf("remove unfinished mendings: %w", err)
	}
	return nil
}

// settleDay puts a mended file that is ready into its place; one without records
// takes its predecessor away.
func settleDay(dir, day string) error {
	path := func(name string) string { return filepath.Join(dir, name) }
	index, err := os.Stat(path(readyIndex(day)))
	if err != nil {
		return err
	}
	err = os.Rename(path(readyName(day)), path(day))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(path(readyIndex(day)), path(indexName(day))); err != nil {
		return err
	}
	if index.Size() == 0 {
		if err := errors.Join(os.Remove(path(day)), os.Remove(path(indexName(day)))); err != nil {
			return err
		}
	}
	return disk.SyncDir(dir)
}
