package proc

import (
	"bytes"
	"io"
	"sync"
)

// echo is the terminal of a scripted job.
type echo struct {
	end func()

	mu      sync.Mutex
	changed *sync.Cond
	text    []byte
	closed  bool
}

func newEcho(end func()) *echo {
	e := &echo{end: end}
	e.changed = sync.NewCond(&e.mu)
	return e
}

// Read implements io.Reader.
func (e *echo) Read(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.text) == 0 && !e.closed {
		e.changed.Wait()
	}
	if len(e.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, e.text)
	e.text = e.text[n:]
	return n, nil
}

// Write implements io.Writer.
func (e *echo) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text = append(e.text, p...)
	if bytes.Contains(p, []byte("exit")) {
		e.closed = true
		go e.end()
	}
	e.changed.Broadcast()
	return len(p), nil
}

// Close implements io.Closer: a job whose line is cut ends.
func (e *echo) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		go e.end()
	}
	e.changed.Broadcast()
	return nil
}
