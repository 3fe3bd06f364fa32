package task

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
)

// A sister's hook that refuses may have the job deleted: the log has the refusal though the order to kill comes first. Who does not
// answer holds up that order for a second, and is not blamed.
func TestPrologues_AreHeardAfterTheKill(t *testing.T) {
	const line = "job_start_error 15016 from node hostb could not IM_EXEC_PROLOGUE successfully"
	for _, c := range []struct {
		how   string
		lines []string
		takes time.Duration
	}{
		{"soon", []string{line}, time.Second / 2},
		{"away", nil, answersFor},
		{"gone", nil, answersFor},
		{"unsure", nil, answersFor},
	} {
		t.Run(c.how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _, _ := stageSite(t)
				log := new(notes)
				s.Lines, s.Hooks = log, &witness{begun: time.Now(), prologues: time.Minute}
				s.Peers = &troop{prologue: map[pbs.HostName]string{"hostb": c.how}}
				ctx, kill := context.WithCancel(t.Context())
				kill()
				begun := time.Now()
				if err := s.prologues(ctx, in(Starting, spread)); !errors.Is(err, context.Canceled) {
					t.Errorf("the start is given up with %v", err)
				}
				if took := time.Since(begun); took < c.takes || took > c.takes+joinAgain {
					t.Errorf("it takes %s, want %s", took, c.takes)
				}
				if got := log.all(); !slices.Equal(got, c.lines) {
					t.Errorf("the log has %q, want %q", got, c.lines)
				}
			})
		})
	}
}
