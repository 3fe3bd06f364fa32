package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// A Peer is another replica that can be asked for its records.
type Peer interface {
	Name() string
	// Records calls yield for the records that the peer has with numbers first to
	// last, by number.
	Records(ctx context.Context, first, last uint64, yield func(Record) error) error
}

// How long records that no replica has are waited for. A replica writes by
// number, so one that has a later record and not this one has it no more; but
// one that has neither may still be about to write it.
const (
	patience      = 10 * time.Minute
	patienceAlone = 10 * time.Second
)

// closeGap fetches the records up to last from the peers.
func (w *writer) closeGap(ctx context.Context, last uint64) error {
	w.ledger.setGap(true)
	defer w.ledger.setGap(false)
	w.missing = time.Now()
	for w.book.next <= last {
		if err := ctx.Err(); err != nil {
			return err
		}
		before := w.book.next
		goesOn, err := w.fetch(ctx, last)
		if err != nil {
			return err
		}
		if w.book.next == before && goesOn > before {
			w.giveUp(goesOn - 1)
		}
		if w.book.next == before && time.Since(w.missing) > w.patience() {
			w.giveUp(last)
		}
		if w.book.next == before {
			pause(ctx, retryAfter)
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

func (w *writer) giveUp(last uint64) {
	w.ledger.opts.Logger.Error("accounting records exist on no replica any more", "first", w.book.next, "last", last)
	w.book.skip(last + 1)
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
	if !asked || lowest == math.MaxUint64 {
		return 0, nil
	}
	return lowest, nil
}

var errPeer = errors.New("ask a peer")

// fetchFrom writes what the peer has of the gap. has is the number of its first
// record when that is above the one wanted.
func (w *writer) fetchFrom(ctx context.Context, p Peer, last uint64) (has uint64, err error) {
	var batch []Record
	var broken error
	has = math.MaxUint64
	asked := p.Records(ctx, w.book.next, last, func(r Record) error {
		if next := w.book.next + uint64(len(batch)); r.Number != next {
			if len(batch) == 0 {
				has = r.Number
			}
			return errGap
		}
		if batch = append(batch, r); len(batch) < 1024 {
			return nil
		}
		broken, batch = w.keep(batch), nil
		return broken
	})
	if broken == nil {
		broken = w.keep(batch)
	}
	if broken != nil {
		return has, broken
	}
	if asked != nil && !errors.Is(asked, errGap) {
		return has, fmt.Errorf("%w: %w", errPeer, asked)
	}
	return has, nil
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
