package ledger

import (
	"context"
	"errors"
	"math"
	"time"

	"rampart/transport/pause"
)

// How long the writer waits for records before it goes on without them and leaves
// them to mending. A peer that has a later record and not this one may be mending
// too, and one that has neither may be about to write it.
const (
	patience      = 10 * time.Minute
	patienceAlone = 10 * time.Second
)

// closeGap fetches the records up to last from the peers.
func (w *writer) closeGap(ctx context.Context, last uint64) error {
	w.ledger.setGap(true)
	defer w.ledger.setGap(false)
	if w.missing.IsZero() {
		w.missing = time.Now()
	}
	defer func() {
		if w.book != nil && w.book.next > last {
			w.missing = time.Time{}
		}
	}()
	for w.book.next <= last {
		if err := ctx.Err(); err != nil {
			return err
		}
		before := w.book.next
		goesOn, err := w.fetch(ctx, last)
		if err != nil {
			return err
		}
		if w.book.next > before {
			w.missing = time.Now()
			continue
		}
		waited := time.Since(w.missing)
		removed := goesOn > before && goesOn <= w.ledger.removedBelow()
		if removed || goesOn > before && waited >= patienceAlone {
			w.goWithout(min(last, goesOn-1))
		} else if waited >= w.patience() {
			w.goWithout(last)
		} else {
			pause.For(ctx, retryAfter)
		}
	}
	return nil
}

func (w *writer) patience() time.Duration {
	if len(w.ledger.opts.Peers()) == 0 {
		return patienceAlone
	}
	return patience
}

// goWithout leaves the records up to last to mending.
func (w *writer) goWithout(last uint64) {
	w.ledger.opts.Logger.Warn("accounting goes on without records that no replica has given yet", "first", w.book.next, "last", last)
	w.book.skip(last + 1)
	w.missing = time.Now()
	w.ledger.suspect("")
}

// fetch asks one peer after the other. When all have answered and none had the
// next record, goesOn is the lowest number that one of them has instead.
func (w *writer) fetch(ctx context.Context, last uint64) (goesOn uint64, err error) {
	lowest, asked := uint64(math.MaxUint64), true
	for _, p := range w.ledger.opts.Peers() {
		if w.book.next > last {
			return 0, nil
		}
		has, err := w.fetchFrom(ctx, p, last)
		lowest = min(lowest, has)
		if errors.Is(err, errPeer) {
			asked = false
			w.ledger.opts.Logger.Warn("fetch accounting records", "peer", p.Name(), "error", err)
		} else if err != nil {
			return 0, err
		}
	}
	switch {
	case !asked:
		return 0, nil
	case lowest == math.MaxUint64 && w.ledger.removedBelow() > last:
		return last + 1, nil
	case lowest == math.MaxUint64:
		return 0, nil
	}
	return lowest, nil
}

// atOnce bounds the records that are held while they are fetched.
const atOnce = 1024

// fetchFrom writes what the peer has of the gap. has is the number of its first
// record when that is above the one wanted.
func (w *writer) fetchFrom(ctx context.Context, p Peer, last uint64) (has uint64, err error) {
	var batch []Record
	has = math.MaxUint64
	next := w.book.next
	err = w.ledger.ask(ctx, p, next, last, func(r Record) error {
		if r.Number != next {
			if next == w.book.next {
				has = r.Number
			}
			return errGap
		}
		next++
		if batch = append(batch, r); len(batch) < atOnce {
			return nil
		}
		full := batch
		batch = nil
		return w.keep(full)
	})
	if err != nil && !errors.Is(err, errGap) && !errors.Is(err, errPeer) {
		return has, err
	}
	if kept := w.keep(batch); kept != nil {
		return has, kept
	}
	if errors.Is(err, errGap) {
		err = nil
	}
	return has, err
}

func (w *writer) keep(batch []Record) error {
	if len(batch) == 0 {
		return nil
	}
	err := w.book.write(batch)
	if err != nil {
		w.reset()
		return err
	}
	w.progress()
	return nil
}
