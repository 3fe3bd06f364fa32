package patience

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A wait lasts as long as it says, and longer by what the process was kept from running.
func TestSleep(t *testing.T) {
	for _, c := range []struct{ lag, want time.Duration }{
		{0, time.Second}, {100 * time.Millisecond, 6 * time.Second}, {20 * time.Second, 1001 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if !(Clock{c.lag}).Sleep(t.Context(), time.Second) || time.Since(began) != c.want {
				t.Errorf("late by %s: %s, want %s", c.lag, time.Since(began), c.want)
			}
		})
	}
}

func TestSleep_EndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		began := time.Now()
		if (Clock{}).Sleep(ctx, time.Hour) || time.Since(began) != 300*time.Millisecond {
			t.Errorf("after %s", time.Since(began))
		}
	})
}

func TestWithTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := Clock{10 * time.Millisecond}.WithTimeout(t.Context(), time.Second)
		defer cancel()
		<-ctx.Done()
		if took := time.Since(began); took != 1500*time.Millisecond || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Errorf("%v after %s", context.Cause(ctx), took)
		}
		ctx, cancel = Clock{}.WithTimeout(t.Context(), time.Second)
		cancel()
		if <-ctx.Done(); !errors.Is(context.Cause(ctx), context.Canceled) {
			t.Error(context.Cause(ctx))
		}
	})
}
