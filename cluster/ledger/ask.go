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
	// last, by number.
	Records(ctx context.Context, first, last uint64, yield func(Record) error) error
}

var errPeer = errors.New("ask a peer")

// silence is how long a peer may keep us waiting for its next record.
const silence = 30 * time.Second

// ask calls yield for what a peer has of a range, by number; an error of the peer
// is errPeer, one of yield is itself.
func ask(ctx context.Context, p Peer, first, last uint64, yield func(Record) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := time.AfterFunc(silence, cancel)
	defer watch.Stop()
	var own error
	err := p.Records(ctx, first, last, func(r Record) error {
		watch.Reset(silence)
		if r.Number < first || r.Number > last || !validDay(r.Day) || !validLine(r.Line) {
			return fmt.Errorf("it sent a record %d that nobody asked for, or that is none", r.Number)
		}
		first = r.Number + 1
		own = yield(r)
		return own
	})
	if own != nil {
		return own
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errPeer, err)
	}
	return nil
}

func validLine(line []byte) bool {
	return len(line) > 0 && len(line) <= maxLine && line[len(line)-1] == '\n'
}
