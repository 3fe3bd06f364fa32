package cluster

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"
)

// asking is a log that asks the silence about itself, as one that waits for others may have them do.
type asking struct {
	slog.Handler
	silence *silence
	lines   int
}

func (a *asking) Enabled(context.Context, slog.Level) bool { return true }

func (a *asking) Handle(context.Context, slog.Record) error {
	a.silence.next()
	a.lines++
	return nil
}

// TestSilence_LogsWithoutItsLock: whoever reads the log slowly holds up nobody who has to know of it.
func TestSilence_LogsWithoutItsLock(t *testing.T) {
	s := newSilence()
	log := &asking{silence: s}
	s.logger = slog.New(log)
	var done sync.WaitGroup
	ended := make(chan struct{})
	done.Go(func() {
		began := time.Now()
		s.begin(began, "a write")
		s.end(began)
		close(ended)
	})
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("a line of the log is written under the lock")
	}
	done.Wait()
	if log.lines != 2 || s.kept() {
		t.Errorf("%d lines, silent %t", log.lines, s.kept())
	}
}
