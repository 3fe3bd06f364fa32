package world

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"rampart/mom/load"
)

// spoken holds what a host says of its load: nothing before somebody has set it.
type spoken struct {
	mu      sync.Mutex
	values  load.Values
	changed chan struct{}
}

func newSpoken() *spoken { return &spoken{changed: make(chan struct{})} }

// Run implements load.Source.
func (s *spoken) Run(ctx context.Context, tell func(load.Values)) {
	for {
		s.mu.Lock()
		values, changed := s.values, s.changed
		s.mu.Unlock()
		if values != nil {
			tell(values)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// set changes some values, and takes others away.
func (s *spoken) set(values load.Values, gone []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := load.Values{}
	maps.Copy(next, s.values)
	maps.Copy(next, values)
	for _, name := range gone {
		delete(next, name)
	}
	s.values = next
	close(s.changed)
	s.changed = make(chan struct{})
}

// Load has a host measure these values of its load from now on, and the others that are gone no more.
func (f Faults) Load(name string, values map[string]float64, gone []string) error {
	_, m, err := f.find(name)
	if err != nil {
		return err
	}
	if m == nil {
		return fmt.Errorf("%q is no execution host", name)
	}
	m.load.set(values, gone)
	return nil
}
