package pause

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if !For(ctx, 20*time.Second) || time.Since(began) != 20*time.Second {
			t.Errorf("it did not wait for 20 s but %v", time.Since(began))
		}
		if For(ctx, time.Hour) || time.Since(began) != time.Minute {
			t.Errorf("it waited for %v beyond the context", time.Since(began))
		}
		if For(ctx, time.Hour) {
			t.Error("it waits after the context has ended")
		}
	})
}
