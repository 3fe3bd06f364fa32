package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// window is how many bytes one direction of a stream holds: more than HTTP/2 has under way on a
// connection. A client of net/http holds a lock while it writes, and the clock of a bubble stands
// still while somebody waits for that: what the network took late would never come.
const window = 4 << 20

// A pipe is one direction of a stream: what was written and has not been read.
// It is read over its link, which may be cut or slow.
type pipe struct {
	link *link

	mu      sync.Mutex
	chunks  []chunk
	size    int
	ended   *ending // the writer's last word
	readErr error   // the reader's end is closed or broken: writers fail with it
	changed chan struct{}
}

type chunk struct {
	data []byte
	sent time.Time // or later by as much as others of that moment keep it back
}

// An ending travels behind the data: io.EOF after Close, a reset overtakes it.
type ending struct {
	err  error
	sent time.Time // as a chunk's
}

// sent returns when something counts as sent that is written now.
func (p *pipe) sent() time.Time {
	state, _ := p.link.get()
	return p.link.arrival(state.delay).Add(-state.delay)
}

func newPipe(l *link) *pipe { return &pipe{link: l, changed: make(chan struct{})} }

func (p *pipe) wakeLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// wake says when to look again: at a time, or when a pipe or its link changes.
type wake struct {
	at            time.Time
	changed, link <-chan struct{}
}

// take reads what has arrived; without anything it says when to look again.
func (p *pipe) take(b []byte) (n int, again wake, err error) {
	state, linkChanged := p.link.get()
	p.mu.Lock()
	defer p.mu.Unlock()
	if state.cut {
		return 0, wake{changed: p.changed, link: linkChanged}, nil
	}
	now, at := time.Now(), time.Time{}
	if p.ended != nil && p.ended.err != io.EOF && !now.Before(p.ended.sent.Add(state.delay)) {
		return 0, wake{}, p.ended.err
	}
	for len(p.chunks) > 0 && n < len(b) {
		c := &p.chunks[0]
		if due := c.sent.Add(state.delay); now.Before(due) {
			at = due
			break
		}
		k := copy(b[n:], c.data)
		n, c.data, p.size = n+k, c.data[k:], p.size-k
		if len(c.data) == 0 {
			p.chunks = p.chunks[1:]
		}
	}
	if n > 0 {
		p.wakeLocked() // there is room
		return n, wake{}, nil
	}
	if len(p.chunks) == 0 && p.ended != nil {
		if at = p.ended.sent.Add(state.delay); !now.Before(at) {
			return 0, wake{}, p.ended.err
		}
	}
	return 0, wake{at, p.changed, linkChanged}, nil
}

// put writes as much as there is room for; with none it returns the channel of
// the next change.
func (p *pipe) put(b []byte) (n int, changed <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended != nil:
		return 0, nil, net.ErrClosed
	case p.readErr != nil:
		return 0, nil, p.readErr
	case p.size == window:
		return 0, p.changed, nil
	}
	n = min(len(b), window-p.size)
	p.chunks = append(p.chunks, chunk{append([]byte(nil), b[:n]...), p.sent()})
	p.size += n
	p.wakeLocked()
	return n, nil, nil
}

// end is the writer's last word; the first one counts.
func (p *pipe) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended == nil {
		p.ended = &ending{err, p.sent()}
		p.wakeLocked()
	}
}

// refuse lets writers fail from now on.
func (p *pipe) refuse(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.readErr == nil {
		p.readErr, p.chunks, p.size = err, nil, 0
		p.wakeLocked()
	}
}

// A stream is one end of a connection.
type stream struct {
	host          *Host
	number        int // of its host
	in, out       *pipe
	local, remote net.Addr
	read, write   *deadline

	once sync.Once
	done chan struct{}
}

// newStreams returns the two ends of a connection.
func newStreams(a *Host, aPort uint16, b *Host, bPort uint16) (near, far *stream) {
	there, back := newPipe(a.net.link(a.name, b.name)), newPipe(a.net.link(b.name, a.name))
	aAddr, bAddr := a.tcpAddr(aPort), b.tcpAddr(bPort)
	return newStream(a, back, there, aAddr, bAddr), newStream(b, there, back, bAddr, aAddr)
}

func newStream(h *Host, in, out *pipe, local, remote net.Addr) *stream {
	return &stream{
		host: h, in: in, out: out, local: local, remote: remote,
		read: newDeadline(in.link.taken), write: newDeadline(in.link.taken), done: make(chan struct{}),
	}
}

// Read implements net.Conn.
func (s *stream) Read(b []byte) (int, error) {
	for {
		over := s.read.done()
		if isClosed(s.done) {
			return 0, net.ErrClosed
		}
		if isClosed(over) {
			return 0, os.ErrDeadlineExceeded
		}
		if len(b) == 0 {
			return 0, nil
		}
		n, again, err := s.in.take(b)
		if n > 0 || err != nil {
			return n, err
		}
		s.rest(over, again)
	}
}

// rest waits for any of the reasons to look again.
func (s *stream) rest(over <-chan struct{}, again wake) {
	var due <-chan time.Time
	if !again.at.IsZero() {
		t := time.NewTimer(time.Until(again.at))
		defer t.Stop()
		due = t.C
	}
	select {
	case <-s.done:
	case <-over:
	case <-again.changed:
	case <-again.link:
	case <-due:
	}
}

// Write implements net.Conn.
func (s *stream) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		over := s.write.done()
		if isClosed(s.done) {
			return written, net.ErrClosed
		}
		if isClosed(over) {
			return written, os.ErrDeadlineExceeded
		}
		n, changed, err := s.out.put(b[written:])
		written += n
		if err != nil {
			return written, err
		}
		if n == 0 {
			s.rest(over, wake{changed: changed})
		}
	}
	return written, nil
}

// Close implements net.Conn.
func (s *stream) Close() error {
	s.abort(io.EOF)
	return nil
}

// crash ends the stream as the death of its process does.
func (s *stream) crash() { s.abort(errReset) }

func (s *stream) abort(last error) {
	s.once.Do(func() {
		close(s.done)
		s.out.end(last)
		s.in.refuse(errReset)
		s.read.stop()
		s.write.stop()
		s.host.forget(s)
	})
}

// LocalAddr implements net.Conn.
func (s *stream) LocalAddr() net.Addr { return s.local }

// RemoteAddr implements net.Conn.
func (s *stream) RemoteAddr() net.Addr { return s.remote }

// SetDeadline implements net.Conn.
func (s *stream) SetDeadline(t time.Time) error {
	s.read.set(t)
	s.write.set(t)
	return nil
}

// SetReadDeadline implements net.Conn.
func (s *stream) SetReadDeadline(t time.Time) error {
	s.read.set(t)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (s *stream) SetWriteDeadline(t time.Time) error {
	s.write.set(t)
	return nil
}
