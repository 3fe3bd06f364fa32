package transport_test

import (
	"testing"
	"time"

	"rampart/fsm/pbs"
)

// A leader that dies with a request in hand may have committed it; that the next replica
// finds no leader does not mean that nothing was done (L6).
func TestBudget_BrokenConnectionStaysUnknown(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, c := three(w, time.Second)
		all[0].answer = func(int) error {
			w.net.Host("s1").Crash()
			all[0].kill()
			return nil
		}
		for _, p := range all[1:] {
			p.answer = func(int) error { return pbs.Refuse(pbs.NoQuorum) }
		}
		if _, err := submit(t.Context(), c); pbs.CodeOf(err) != pbs.UnknownResult {
			t.Errorf("submit: %v", err)
		}
	})
}
