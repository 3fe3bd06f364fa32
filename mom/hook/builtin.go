package hook

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// Named returns the hook of a name; false: the host knows of none.
func (s *Store) Named(name string) (Hook, bool) {
	all := s.present.Load().Hooks
	i := slices.IndexFunc(all, func(h Hook) bool { return h.Name == name })
	if i < 0 {
		return Hook{}, false
	}
	return all[i], true
}

// Config returns the configuration file of a hook, nil if it has none.
func (s *Store) Config(h *Hook) ([]byte, error) {
	if h.Config == "" {
		return nil, nil
	}
	text, err := os.ReadFile(s.path(h.Name + ".CF"))
	if err != nil || sumOf(text) != h.Config {
		return nil, errors.Join(fmt.Errorf("hook %s: %w", h.Name, ErrIncomplete), err)
	}
	return text, nil
}
