// Package pause waits, but no longer than a context lasts.
package pause

import (
	"context"
	"time"
)

// For waits for d. It reports false if the context ended before.
func For(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
