package sched

import (
	"testing"
	"testing/synctest"
	"time"
)

// A turn is one's own until it is given back, or the other has waited for long enough.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, began := NewTurns(), time.Now()
		end := turns.Take(t.Context())
		time.AfterFunc(time.Second, end)
		second := turns.Take(t.Context())
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("it waited %v", waited)
		}
		turns.Take(t.Context())()
		if waited := time.Since(began); waited != time.Second+turnPatience {
			t.Errorf("it waited %v for one that does not end", waited)
		}
		second()
		second()
		turns.Take(t.Context())()
		if waited := time.Since(began); waited != time.Second+turnPatience {
			t.Errorf("it waited %v for nobody", waited)
		}
		(*Turns)(nil).Take(t.Context())()
	})
}
