package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// shutdownBudget is how long requests in hand may take when a server ends.
const shutdownBudget = 5 * time.Second

type stoppingKey struct{}

// Stopping returns a channel that is closed when the server that serves the request
// ends, nil if the server has none. Handlers that run for long must watch it.
func Stopping(ctx context.Context) <-chan struct{} {
	stopping, _ := ctx.Value(stoppingKey{}).(<-chan struct{})
	return stopping
}

// serveUntil serves until ctx ends, then lets requests in hand finish for a while; first,
// if set, is called before that.
func serveUntil(ctx context.Context, s *http.Server, where net.Addr, serve func() error, first func()) error {
	s.BaseContext = func(net.Listener) context.Context {
		return context.WithValue(context.Background(), stoppingKey{}, ctx.Done())
	}
	var inHand busy
	s.ConnState = inHand.note
	served := make(chan error, 1)
	go func() { served <- serve() }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownBudget)
	defer cancel()
	if first != nil {
		first()
	}
	quiet := make(chan struct{})
	go func() {
		defer close(quiet)
		inHand.quiet(stop)
		cancel()
	}()
	if s.Shutdown(stop) != nil {
		_ = s.Close()
	}
	cancel()
	<-quiet
	if err == nil {
		err = <-served
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve %s: %w", where, err)
}
