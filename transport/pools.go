package transport

import (
	"net/http"
	"sync"
	"time"
)

const (
	// poolLife is how long a pool of connections is kept that nobody asks for.
	poolLife = time.Hour
	// poolLook is how often those are looked for: there may be 10,000.
	poolLook = 10 * time.Minute
)

// Pools keep a client, and with it a pool of connections, for each other end. One that was
// not asked for in an hour is dropped: hosts come and go, and have new names each time. The
// zero value is empty. Any number of goroutines may use it.
type Pools struct {
	mu     sync.Mutex
	byEnd  map[string]*pool
	looked time.Time
}

type pool struct {
	client *http.Client
	used   time.Time
}

// Client returns the client for the other end, and makes it over next if there is none.
func (p *Pools) Client(end string, next func() *http.Transport) *http.Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.dropLocked(now)
	one, ok := p.byEnd[end]
	if !ok {
		if p.byEnd == nil {
			p.byEnd = map[string]*pool{}
		}
		one = &pool{client: &http.Client{Transport: next()}}
		p.byEnd[end] = one
	}
	one.used = now
	return one.client
}

// dropLocked forgets who was not asked for. Calls that are in hand go on.
func (p *Pools) dropLocked(now time.Time) {
	if now.Sub(p.looked) < poolLook {
		return
	}
	p.looked = now
	for end, one := range p.byEnd {
		if now.Sub(one.used) > poolLife {
			one.client.CloseIdleConnections()
			delete(p.byEnd, end)
		}
	}
}

// Close ends the idle connections. Call it when no call is in hand any more.
func (p *Pools) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.byEnd {
		one.client.CloseIdleConnections()
	}
}
