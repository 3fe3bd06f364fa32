package cluster

import (
	"errors"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rampart/fsm/pbs"
)

// TestMeter_OutcomesAreTold: which of the three kinds of "no" it was (L6).
func TestMeter_OutcomesAreTold(t *testing.T) {
	for want, err := range map[string]error{
		outcomeDone: nil, outcomeRefused: fmt.Errorf("x: %w", pbs.Refuse(pbs.UnknownJob)),
		outcomeBusy:      fmt.Errorf("%w: %w", ErrBusy, pbs.Refuse(pbs.ResourceBusy)),
		outcomeNotLeader: fmt.Errorf("propose: %w", ErrNotLeader), outcomeUnknown: errors.New("anything else"),
	} {
		if got := outcomeOf(err); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
	}
	full := fmt.Errorf("propose: %w: %w", ErrNoRoom, pbs.Refuse(pbs.ResourceBusy))
	if got := outcomeOf(full); got != outcomeBusy {
		t.Errorf("%v is %s", full, got)
	}
}

// BenchmarkMeter is what the instruments add to a proposal and to an Apply.
func BenchmarkMeter(b *testing.B) {
	m := newMeter(prometheus.NewRegistry())
	b.Run("propose", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.propose()(nil)
		}
	})
	b.Run("propose, all at once", func(b *testing.B) {
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				m.propose()(nil)
			}
		})
	})
	b.Run("apply", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.apply(1)()
		}
	})
}
