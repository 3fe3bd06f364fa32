package memnet

import (
	"sync"
	"time"
)

// A deadline is a channel that is closed when the time has come.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	over  chan struct{}
	taken *moments // of the net
}

func newDeadline(taken *moments) *deadline { return &deadline{over: make(chan struct{}), taken: taken} }

// set moves the deadline; the zero time takes it away.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() {
		<-d.over // the timer has fired: wait for its close
	}
	d.timer = nil
	closed := isClosed(d.over)
	if t.IsZero() {
		if closed {
			d.over = make(chan struct{})
		}
		return
	}
	if wait := time.Until(t); wait > 0 {
		if closed {
			d.over = make(chan struct{})
		}
		if d.taken != nil {
			wait = time.Until(d.taken.take(time.Now(), wait))
		}
		over := d.over
		d.timer = time.AfterFunc(wait, func() { close(over) })
		return
	}
	if !closed {
		close(d.over)
	}
}

// done returns the channel of the present deadline.
func (d *deadline) done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}

// stop frees the timer; a deadline may still be set after it.
func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && d.timer.Stop() {
		d.timer = nil
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
