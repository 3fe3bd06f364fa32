package blob

import (
	"context"
	"errors"
	"io"

	"rampart/fsm/pbs"
	"rampart/fsm/snapshot/attached"
)

// Attach takes a snapshot and returns it with the scripts behind it that are here then. All that
// it names are among them: what is not here is fetched first, and nothing is removed until it
// is closed.
func (k *Keeper) Attach(ctx context.Context, take func(context.Context) (io.ReadCloser, error)) (io.ReadCloser, error) {
	release := k.Pin()
	state, err := take(ctx)
	if err != nil {
		release()
		return nil, err
	}
	if err := k.Ensure(ctx); err != nil {
		release()
		return nil, errors.Join(err, state.Close())
	}
	scripts := attached.Behind(k.store.all(), k.Here)
	return &whole{io.MultiReader(state, scripts), func() error {
		release()
		return errors.Join(scripts.Close(), state.Close())
	}}, nil
}

type whole struct {
	io.Reader
	close func() error
}

// Close implements io.Closer.
func (w *whole) Close() error { return w.close() }

func (s *Store) all() (blobs []pbs.Blob) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sum, h := range s.held {
		blobs = append(blobs, pbs.Blob{Sum: sum, Size: h.size})
	}
	return blobs
}
