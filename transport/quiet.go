package transport

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// A server that ends tells the other ends of its HTTP/2 connections so, and net/http then
// keeps each for another second, asked or not. Nobody has to wait for that: when no
// connection has had a request for farewell, the news is out.
const (
	farewell  = 50 * time.Millisecond
	lookAgain = 10 * time.Millisecond
)

// busy knows which connections of a server have requests in hand.
type busy struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
}

// note is an http.Server's ConnState.
func (b *busy) note(c net.Conn, s http.ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s != http.StateActive {
		delete(b.conns, c)
		return
	}
	if b.conns == nil {
		b.conns = make(map[net.Conn]bool)
	}
	b.conns[c] = true
}

func (b *busy) any() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.conns) > 0
}

// quiet returns when there has been no request in hand for farewell, or ctx ends.
func (b *busy) quiet(ctx context.Context) {
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	since := time.Now()
	for time.Since(since) < farewell {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		if b.any() {
			since = time.Now()
		}
	}
}
