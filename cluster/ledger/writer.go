package ledger

import (
	"context"
	"errors"
	"time"

	"rampart/fsm/acct"
)

// A writer is the ledger's one goroutine at work.
type writer struct {
	ledger  *Ledger
	book    *book
	pending []Record // taken from the queue and not written yet
	zone    string
	place   *time.Location
	logged  cursor
	missing time.Time // when the present gap was seen
	behind  time.Time // since when the state has records that never came
	swept   bool
	pruned  string // day on which it was seen to what is old
	kept    uint64 // records below this number were removed as old

	replay  replay  // compares records that come again with what is in the files
	offers  *spool  // those that come again and are not
	offered numbers // what a spool that was taken holds
}

// step writes all there is, fetches what is missing, and syncs if somebody waits.
func (w *writer) step(ctx context.Context) error {
	if err := w.open(); err != nil {
		return err
	}
	batches, expect, want := w.ledger.take()
	for _, b := range batches {
		w.receive(b)
	}
	for {
		err := w.write()
		if err == nil && w.book.next > expect {
			break
		}
		if err != nil && !errors.Is(err, errGap) {
			return err
		}
		if err := w.closeGap(ctx, w.gapEnd(expect)); err != nil {
			return err
		}
	}
	if want < w.book.next && want > w.ledger.Synced() {
		return w.sync()
	}
	w.progress()
	return nil
}

// lookBehind notices records that no entry will bring, because a snapshot was
// installed: the state counts them, and nothing is on its way for a while.
func (w *writer) lookBehind() {
	if w.book == nil || w.ledger.opts.View == nil {
		return
	}
	has := w.ledger.opts.View().Cluster().LastRecord
	if has < w.book.next || w.ledger.waiting() > 0 {
		w.behind = time.Time{}
		return
	}
	if w.behind.IsZero() {
		w.behind = time.Now()
	}
	if time.Since(w.behind) > behindFor {
		w.ledger.Expect(has)
	}
}

// behindFor is longer than an entry's events take to arrive here.
const behindFor = 2 * time.Second

// gapEnd returns the last number that is missing before what is here.
func (w *writer) gapEnd(expect uint64) uint64 {
	if len(w.pending) > 0 {
		return w.pending[0].Number - 1
	}
	return expect
}

// open makes the files ready, after a failure too: a torn write is cut away.
func (w *writer) open() error {
	if w.book != nil {
		return nil
	}
	dir := w.ledger.opts.Dir
	if w.logged.file == nil {
		c, err := openCursor(dir)
		if err != nil {
			return err
		}
		w.logged = c
	}
	b, err := openBook(dir, max(w.logged.synced, w.ledger.Synced()))
	if err != nil {
		return err
	}
	if w.kept, err = readKept(dir); err != nil {
		return err
	}
	if !w.swept {
		if err := sweep(dir); err != nil {
			return err
		}
		w.swept = true
	}
	w.book, b.watch = b, w.ledger.suspect
	w.ledger.suspect("")
	w.ledger.reached(b.next-1, b.next-1)
	return nil
}

// receive turns events into records and log lines. The lines go out at once: a
// gap in the records does not hold them up.
func (w *writer) receive(b Batch) {
	loc := w.location(b.Zone)
	fresh := w.logged.advance(b.Index)
	if fresh {
		w.ledger.opts.Log.SetMask(b.LogEvents)
		w.ledger.opts.Log.SetLocation(loc)
	}
	for _, e := range b.Events {
		if r, ok := acct.Of(e, loc); ok {
			w.take(Record{Number: r.Number, Day: r.Day, Line: []byte(r.Line)})
		}
		if fresh {
			w.log(e)
		}
	}
}

// take keeps a record for writing. One that should be in the files already is
// looked up: if it was damaged, the log has given it again.
func (w *writer) take(r Record) {
	if r.Number >= w.book.next {
		w.pending = append(w.pending, r)
		return
	}
	if r.Number < w.kept {
		return
	}
	there, err := w.replay.has(w.ledger.opts.Dir, r)
	if !there { // or the file has grown since it was opened
		w.replay.close()
		there, err = w.replay.has(w.ledger.opts.Dir, r)
	}
	w.ledger.report(err)
	if !there && err == nil {
		w.ledger.report(w.offer(r))
	}
}

func (w *writer) location(zone string) *time.Location {
	if w.place == nil || w.zone != zone {
		w.zone, w.place = zone, acct.Zone(zone)
	}
	return w.place
}

// write writes what follows on; after any failure but a gap the files are opened
// anew, and what is already in them is ignored by its number.
func (w *writer) write() error {
	err := w.book.write(w.pending)
	w.dropWritten()
	if err != nil && !errors.Is(err, errGap) {
		w.reset()
	}
	return err
}

func (w *writer) dropWritten() {
	bytes, records := 0, 0
	for len(w.pending) > 0 && w.pending[0].Number < w.book.next {
		bytes, records = bytes+len(w.pending[0].Line), records+1
		w.pending = w.pending[1:]
	}
	w.ledger.meter.bytes.Add(float64(bytes))
	w.ledger.meter.records.Add(float64(records))
}

func (w *writer) reset() {
	_ = w.book.close()
	w.book = nil
}

func (w *writer) sync() error {
	if w.book == nil {
		return nil
	}
	if w.book.dirty && w.ledger.opts.Disk != nil {
		w.ledger.opts.Disk()
	}
	err := w.book.look()
	if err == nil {
		err = w.book.sync()
	}
	if err == nil {
		err = w.logged.save(w.book.next - 1)
	}
	if err != nil {
		w.reset()
		return err
	}
	w.progress()
	return nil
}

func (w *writer) progress() {
	synced := w.ledger.Synced()
	if !w.book.dirty {
		synced = w.book.next - 1
	}
	w.ledger.reached(w.book.next-1, synced)
}

// drain writes what was appended before the end, without waiting for peers.
func (w *writer) drain() error {
	if w.book == nil {
		return nil
	}
	batches, _, _ := w.ledger.take()
	for _, b := range batches {
		w.receive(b)
	}
	if err := w.write(); err != nil && !errors.Is(err, errGap) {
		return err
	}
	return w.sync()
}

func (w *writer) close() error {
	w.replay.close()
	if w.offers != nil {
		w.ledger.report(w.offers.close())
	}
	if w.book == nil {
		return w.logged.close()
	}
	return errors.Join(w.book.close(), w.logged.close())
}
