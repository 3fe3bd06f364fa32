package server

import (
	"context"
	"time"
)

// look does something every so often until ctx ends.
func look(ctx context.Context, every time.Duration, what func()) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			what()
		}
	}
}
