package proc

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"rampart/transport/streams"
)

const (
	// keptOutput bounds the output that nobody has seen yet: then the job waits, as at
	// a terminal that is stopped.
	keptOutput = 256 << 10
	// keptInput bounds what was typed and not yet read by the job.
	keptInput = 256 << 10
	// comeBack is how long a session waits for a terminal that was cut off, or has not
	// come yet.
	comeBack = 30 * time.Second
	// momComeBack is how long it waits while there may be no mom to come through.
	momComeBack = 5 * time.Minute
	// lastLook is how long an ended session waits for somebody to see its last output.
	lastLook = 10 * time.Second
)

// A session is what is attached to at a pseudo-terminal, or at pipes: it numbers the bytes, keeps those
// that have not arrived, and outlives every connection. The other side of tty is the job's.
type session struct {
	tty     io.ReadWriteCloser
	pipes   inputEnder // tty; nil: it is a terminal
	resize  func(rows, columns uint16)
	display *display // nil: the job's programs have none

	mu      sync.Mutex
	changed *sync.Cond
	out     []byte // output that nobody has confirmed, from base on
	base    uint64
	ended   bool // the output is complete
	in      []byte
	inEnded bool     // there is no more input than in, of pipes
	taken   uint64   // input that went to the job
	conn    net.Conn // who is attached; nil: nobody
	sent    uint64   // output that went to conn
	alone   *time.Timer
	hung    bool          // the terminal is gone for good
	over    chan struct{} // closed when nobody will want more of it
	once    sync.Once
}

// An inputEnder is what tells the end of its input apart from its own. Its output is joined as package streams has it.
type inputEnder interface{ CloseWrite() error }

func newSession(tty io.ReadWriteCloser, resize func(rows, columns uint16), d *display) *session {
	s := &session{tty: tty, resize: resize, display: d, over: make(chan struct{})}
	s.pipes, _ = tty.(inputEnder)
	s.changed = sync.NewCond(&s.mu)
	s.alone = time.AfterFunc(comeBack, s.hangUp)
	go s.readTTY()
	go s.writeTTY()
	return s
}

// serve takes connections until the listener closes.
func (s *session) serve(l net.Listener, trusted func(net.Conn) bool) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		if !trusted(c) {
			_ = c.Close()
			continue
		}
		go s.hear(c)
	}
}

func (s *session) readTTY() {
	buf := make([]byte, MaxFrame)
	for {
		n, err := s.tty.Read(buf)
		s.mu.Lock()
		for len(s.out) > 0 && len(s.out)+n > keptOutput && !s.hung {
			s.changed.Wait()
		}
		s.out = append(s.out, buf[:n]...)
		s.ended = err != nil
		s.changed.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *session) writeTTY() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for len(s.in) == 0 && !s.inEnded && !s.ended && !s.hung {
			s.changed.Wait()
		}
		if s.ended || s.hung {
			return
		}
		if len(s.in) == 0 {
			_ = s.pipes.CloseWrite() // the job may have closed its own
			return
		}
		some := s.in[:min(len(s.in), MaxFrame)]
		s.mu.Unlock()
		n, err := s.tty.Write(some)
		s.mu.Lock()
		s.in, s.taken = s.in[n:], s.taken+uint64(n)
		s.changed.Broadcast()
		if err != nil {
			return
		}
	}
}

// hear obeys one connection until it ends.
func (s *session) hear(c net.Conn) {
	defer s.leave(c)
	for {
		f, err := ReadFrame(c)
		if err != nil {
			return
		}
		switch f.Kind {
		case FrameAttach:
			s.attach(c, f.Offset)
		case FrameDisplay:
			if s.display != nil {
				s.display.carry(c)
			}
			return
		case FrameNotice:
			s.note(f.Data)
		case FrameWindow:
			if len(f.Data) == 4 {
				s.resize(binary.BigEndian.Uint16(f.Data), binary.BigEndian.Uint16(f.Data[2:]))
			}
		default:
			if !s.obey(c, f) {
				return
			}
		}
	}
}

// note adds text to the output: at pipes to standard error, where lines end without a carriage return.
func (s *session) note(text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pipes != nil {
		s.out = streams.Append(s.out, streams.Errors, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	} else {
		s.out = append(s.out, text...)
	}
	s.changed.Broadcast()
}

// attach gives the session to a connection, and takes it from the one before.
func (s *session) attach(c net.Conn, seen uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil && s.conn != c {
		_ = s.conn.Close()
	}
	s.conn = c
	s.alone.Stop()
	s.confirm(seen)
	s.sent = s.base
	s.changed.Broadcast()
	go s.tell(c)
}

// confirm forgets output that was seen.
func (s *session) confirm(seen uint64) {
	if end := s.base + uint64(len(s.out)); seen > s.base && seen <= end {
		s.out = append([]byte(nil), s.out[seen-s.base:]...)
		s.base = seen
	}
}

// obey does what only the attached connection may say.
func (s *session) obey(c net.Conn, f Frame) (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != c {
		return false
	}
	switch f.Kind {
	case FrameInput:
		next := s.taken + uint64(len(s.in))
		if f.Offset > next { // something is missing
			return false
		}
		if skip := next - f.Offset; skip < uint64(len(f.Data)) {
			s.in = append(s.in, f.Data[skip:]...)
		}
		if len(s.in) > keptInput {
			return false
		}
	case FrameInputEnd:
		if s.pipes == nil || f.Offset != s.taken+uint64(len(s.in)) { // something is missing
			return false
		}
		s.inEnded = true
	case FrameSeen:
		s.confirm(f.Offset)
	case FrameLeft:
		s.conn = nil
		s.alone.Reset(comeBack)
	case FrameHangup:
		go s.hangUp()
	}
	s.changed.Broadcast()
	return true
}

// tell sends output and confirmations to a connection while it is the attached one.
func (s *session) tell(c net.Conn) {
	var taken uint64
	first, done := true, false
	for {
		var f Frame
		s.mu.Lock()
		for {
			end := s.base + uint64(len(s.out))
			s.sent = max(s.sent, s.base)
			if s.conn != c {
				s.mu.Unlock()
				return
			}
			if first || s.taken != taken {
				f, first, taken = Frame{Kind: FrameTaken, Offset: s.taken}, false, s.taken
				break
			}
			if s.sent < end {
				some := s.out[s.sent-s.base:]
				some = some[:min(len(some), MaxFrame)]
				f = Frame{Kind: FrameOutput, Offset: s.sent, Data: append([]byte(nil), some...)}
				s.sent += uint64(len(some))
				break
			}
			if s.ended && !done {
				f, done = Frame{Kind: FrameEnd, Offset: end}, true
				break
			}
			s.changed.Wait()
		}
		s.mu.Unlock()
		if WriteFrame(c, f) != nil {
			_ = c.Close() // hear notices
			return
		}
	}
}

// leave ends a connection. One that has not said so was the mom's own end.
func (s *session) leave(c net.Conn) {
	_ = c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == c {
		s.conn = nil
		s.alone.Reset(momComeBack)
		s.changed.Broadcast()
	}
}

// hangUp does what the end of a terminal's line does: the kernel sends SIGHUP.
func (s *session) hangUp() {
	s.mu.Lock()
	s.hung = true
	s.alone.Stop()
	s.changed.Broadcast()
	s.mu.Unlock()
	s.once.Do(func() { close(s.over) })
	_ = s.tty.Close()
}

// finish waits until the last output was seen, or nobody is there to see it, and ends the
// session. Nothing of the job may be left that holds the other side of the terminal.
func (s *session) finish(stop <-chan struct{}) {
	give := time.NewTimer(lastLook)
	defer give.Stop()
	select {
	case <-s.over:
	case <-stop:
	case <-give.C:
	}
	s.hangUp()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
	s.changed.Broadcast()
}
