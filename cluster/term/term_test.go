package term_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/term"
)

// record is work that notes its beginnings and ends; ending takes a while.
type record struct {
	begun, ended int
	running      bool
	t            *testing.T
}

func (r *record) work(ctx context.Context) error {
	if r.running {
		r.t.Error("two spells at once")
	}
	r.running = true
	r.begun++
	<-ctx.Done()
	<-time.After(time.Second)
	r.ended++
	r.running = false
	return ctx.Err()
}

func TestRun_OneSpellAtATime(t *testing.T) {
	cases := []struct {
		name    string
		signals []bool
		begun   int
		ended   int
	}{
		{"never", []bool{false}, 0, 0},
		{"gained", []bool{true}, 1, 0},
		{"lost", []bool{true, false}, 1, 1},
		{"regained", []bool{true, false, true}, 2, 1},
		{"lost and regained unseen", []bool{true, true}, 2, 1},
		{"flapping while the old work ends", []bool{true, false, true, false}, 1, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				leading := make(chan bool)
				r := &record{t: t}
				result := make(chan error, 1)
				go func() { result <- term.Run(ctx, leading, r.work) }()
				for _, s := range c.signals {
					leading <- s
					synctest.Wait()
				}
				<-time.After(5 * time.Second)
				synctest.Wait()
				if r.begun != c.begun || r.ended != c.ended {
					t.Errorf("begun %d, ended %d, want %d and %d", r.begun, r.ended, c.begun, c.ended)
				}
				cancel()
				if err := <-result; err != nil {
					t.Errorf("Run: %v", err)
				}
				if r.running {
					t.Error("Run returned while the work was running")
				}
			})
		})
	}
}

func TestRun_ErrorOfWorkEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leading := make(chan bool, 1)
		leading <- true
		broken := errors.New("broken")
		err := term.Run(t.Context(), leading, func(context.Context) error { return broken })
		if !errors.Is(err, broken) {
			t.Errorf("Run: %v, want %v", err, broken)
		}
	})
}
