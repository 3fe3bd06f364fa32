package blob

import (
	"context"
	"errors"
	"fmt"
	"io"

	"rampart/fsm/pbs"
)

// A flight is one blob that is being fetched, for all who want it.
type flight struct {
	done chan struct{} // closed when err says how it ended
	err  error
}

// Open opens a blob, which it fetches if it is not here. ErrLost: no replica has it; another
// error says nothing of what another replica could do.
func (k *Keeper) Open(ctx context.Context, b pbs.Blob) (io.ReadCloser, error) {
	f, err := k.Here(b)
	if !errors.Is(err, ErrAbsent) {
		return f, err
	}
	if err := k.fetch(ctx, b); err != nil {
		return nil, err
	}
	return k.Here(b)
}

// fetch gets a blob that is not here. It is fetched once for all who want it at a time, and
// goes on when one of them gives up.
func (k *Keeper) fetch(ctx context.Context, b pbs.Blob) error {
	f, ok := k.board(b)
	if !ok {
		return pbs.Refuse(pbs.NoQuorum)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-f.done:
		return f.err
	}
}

// board returns the flight of a blob, which it starts if there is none; false: Run has ended.
func (k *Keeper) board(b pbs.Blob) (*flight, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f, ok := k.flights[b]; ok {
		return f, true
	}
	f := &flight{done: make(chan struct{})}
	if !k.spawnLocked(func() {
		f.err = k.fetchFromAny(k.ctx, b)
		k.mu.Lock()
		delete(k.flights, b)
		k.mu.Unlock()
		close(f.done)
	}) {
		return nil, false
	}
	k.flights[b] = f
	return f, true
}

// fetchFromAny gets a blob from the first replica that has it.
func (k *Keeper) fetchFromAny(ctx context.Context, b pbs.Blob) error {
	if k.store.Has(b) { // one that looked before the last flight had landed
		return nil
	}
	var errs error
	lost := true
	for _, m := range k.config.Members() {
		if m.Self {
			continue
		}
		err := k.fetchFrom(ctx, m, b)
		if err == nil {
			return nil
		}
		errs, lost = errors.Join(errs, fmt.Errorf("%s: %w", m.Name, err)), lost && errors.Is(err, ErrAbsent)
	}
	if lost {
		return errors.Join(ErrLost, pbs.Errorf(pbs.SystemError, "no replica has the script %s any more: submit the job again", b.Sum))
	}
	return fmt.Errorf("fetch the script %s: %w", b.Sum, errs)
}

func (k *Keeper) fetchFrom(ctx context.Context, m Member, b pbs.Blob) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	body, err := k.config.Peer(m).Get(ctx, b)
	if err != nil {
		return err
	}
	return errors.Join(k.Take(b, body), body.Close())
}
