// Package term runs the work that only a leader does: one context for each
// spell of leadership, and never two spells at once. It knows neither Raft nor
// the work. It owns one goroutine, in which the work runs; Run waits for it.
package term

import (
	"context"
	"fmt"
)

// Run calls work each time leadership is gained, and cancels the context of
// work when it is lost. It never runs two spells at once: work that is slow to
// end delays the next one. A true that follows a true means that leadership was
// lost and regained unseen: the work is ended and started anew.
//
// Run keeps reading leading while old work ends, so that the sender never
// waits for the work. Work that returns nil early is not called again before
// leadership is gained again; an error of work that still leads ends Run and is
// returned. Run returns nil when ctx ends.
func Run(ctx context.Context, leading <-chan bool, work func(context.Context) error) error {
	gained := false
	for {
		if !gained {
			select {
			case <-ctx.Done():
				return nil
			case gained = <-leading:
			}
			continue
		}
		var err error
		if gained, err = spell(ctx, leading, work); err != nil {
			return fmt.Errorf("lead: %w", err)
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// spell runs work once and reports whether the next spell has already begun.
func spell(ctx context.Context, leading <-chan bool, work func(context.Context) error) (again bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	select {
	case err = <-done:
		if ctx.Err() != nil {
			err = nil // it was told to end
		}
		return false, err
	case <-ctx.Done():
		<-done
		return false, nil
	case again = <-leading:
		cancel()
	}
	for {
		select {
		case again = <-leading:
		case <-done:
			return again, nil
		}
	}
}
