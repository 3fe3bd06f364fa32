package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Peer is another replica that can be asked for its records.
type Peer interface {
	Name() string
	// Records calls yield for the records that the peer has with numbers first to
	// last, by number. kept is the lowest number that it keeps: it has removed what is below,
	// as old; 0 if it did not say.
	Records(ctx context.Context, first, last uint64, yield func(Record) error) (kept uint64, err error)
}

var errPeer = errors.New("ask a peer")

// silence is how long a peer may keep us waiting for its next record.
const silence = 30 * time.Second

// ask does so, and remembers what the peer has removed.
func (l *Ledger) ask(ctx context.Context, p Peer, first, last uint64, yield func(Record) error) error {
	kept, err := ask(ctx, p, first, last, yield)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removed = max(l.removed, kept)
	return err
}

// ask calls yield for what a peer has of a range, by number; an error of the peer
// is errPeer, one of yield is itself.
func ask(ctx context.Context, p Peer, first, last uint64, yield func(Record) error) (kept uint64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := time.AfterFunc(silence, cancel)
	defer watch.Stop()
	var own error
	kept, err = p.Records(ctx, first, last, func(r Record) error {
		watch.Reset(silence)
		if r.Number < first || r.Number > last || !validDay(r.Day) || !validLine(r.Line) {
			return fmt.Errorf("it sent a record %d that nobody asked for, or that is none", r.Number)
		}
		first = r.Number + 1
		own = yield(r)
		return own
	})
	if own != nil {
		return kept, own
	}
	if err != nil {
		return kept, fmt.Errorf("%w: %w", errPeer, err)
	}
	return kept, nil
}

func validLine(line []byte) bool {
	return len(line) > 0 && len(line) <= maxLine && line[len(line)-1] == '\n'
}
