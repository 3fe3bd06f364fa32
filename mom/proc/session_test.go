//go:build linux

package proc

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rampart/transport/streams"
)

// A line is a tty whose job says back what is typed, in capital letters.
type line struct {
	mu     sync.Mutex
	out    chan []byte
	closed chan struct{}
	typed  bytes.Buffer
}

func newLine() *line { return &line{out: make(chan []byte, 64), closed: make(chan struct{})} }

func (l *line) Read(p []byte) (int, error) {
	select {
	case b := <-l.out:
		return copy(p, b), nil
	case <-l.closed:
		return 0, io.EOF
	}
}

func (l *line) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.typed.Write(p)
	l.out <- bytes.ToUpper(p)
	return len(p), nil
}

func (l *line) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

func (l *line) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.typed.String()
}

// join attaches to a session as a mom does.
func join(s *session, seen uint64) net.Conn {
	here, there := net.Pipe()
	go s.hear(there)
	_ = WriteFrame(here, Frame{Kind: FrameAttach, Offset: seen})
	return here
}

// outputOf reads frames until so much output has come.
func outputOf(t *testing.T, c net.Conn, n int) (text string, taken uint64) {
	t.Helper()
	for len(text) < n {
		f, err := ReadFrame(c)
		if err != nil {
			t.Fatalf("after %q: %v", text, err)
		}
		switch f.Kind {
		case FrameOutput:
			text += string(f.Data)
		case FrameTaken:
			taken = f.Offset
		}
	}
	return text, taken
}

func TestSession_GoesOnWhereItBrokeOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine()
		s := newSession(l, nil, nil)
		c := join(s, 0)
		_ = WriteFrame(c, Frame{Kind: FrameInput, Data: []byte("hello ")})
		if text, _ := outputOf(t, c, 6); text != "HELLO " {
			t.Errorf("output %q", text)
		}
		// The connection breaks: nothing was confirmed, and what was typed is sent again.
		_ = c.Close()
		c = join(s, 3)
		go func() {
			_ = WriteFrame(c, Frame{Kind: FrameInput, Offset: 0, Data: []byte("hello ")})
			_ = WriteFrame(c, Frame{Kind: FrameInput, Offset: 6, Data: []byte("again")})
		}()
		if text, _ := outputOf(t, c, 8); text != "LO AGAIN" {
			t.Errorf("output %q after the break", text)
		}
		if got := l.text(); got != "hello again" {
			t.Errorf("typed %q: each byte once", got)
		}
		s.hangUp()
		_ = c.Close()
	})
}

func TestSession_HangsUp(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(c net.Conn)
		after time.Duration
	}{
		"when nobody came":           {func(c net.Conn) {}, comeBack},
		"when who was cut off stays": {func(c net.Conn) { _ = WriteFrame(c, Frame{Kind: FrameLeft}) }, comeBack},
		"when the mom stays away":    {func(c net.Conn) { _ = c.Close() }, momComeBack},
		"when told so":               {func(c net.Conn) { _ = WriteFrame(c, Frame{Kind: FrameHangup}) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLine()
				s := newSession(l, nil, nil)
				if !strings.Contains(name, "nobody") {
					conn := join(s, 0)
					go func() { _, _ = io.Copy(io.Discard, conn) }()
					time.Sleep(2 * comeBack) // to be attached is enough
					c.end(conn)
					defer conn.Close()
				}
				began := time.Now()
				<-l.closed
				if after := time.Since(began); after != c.after {
					t.Errorf("after %v, want %v", after, c.after)
				}
			})
		})
	}
}

func TestSession_KeepsABoundedOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine()
		s := newSession(l, nil, nil)
		said := 0
		for i := 0; i < 64; i++ {
			select {
			case l.out <- make([]byte, MaxFrame):
				said += MaxFrame
			default:
			}
			synctest.Wait()
		}
		s.mu.Lock()
		kept := len(s.out)
		s.mu.Unlock()
		if kept > keptOutput {
			t.Errorf("%d bytes are kept, more than %d", kept, keptOutput)
		}
		c := join(s, 0)
		go func() { // who reads on gets all of it
			for seen := uint64(0); ; {
				f, err := ReadFrame(c)
				if err != nil {
					return
				}
				seen += uint64(len(f.Data))
				go func() { _ = WriteFrame(c, Frame{Kind: FrameSeen, Offset: seen}) }()
			}
		}()
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if got := s.base + uint64(len(s.out)); got != uint64(said) {
			t.Errorf("%d bytes came, want %d", got, said)
		}
		go s.hangUp()
		go c.Close()
	})
}

func TestSession_LastOutputIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine()
		s := newSession(l, nil, nil)
		l.out <- []byte("bye")
		synctest.Wait()
		_ = l.Close() // the job is gone
		finished := make(chan struct{})
		go func() { s.finish(nil); close(finished) }()
		time.Sleep(lastLook / 2)
		c := join(s, 0)
		if text, _ := outputOf(t, c, 3); text != "bye" {
			t.Errorf("output %q", text)
		}
		if f, err := ReadFrame(c); err != nil || f.Kind != FrameEnd || f.Offset != 3 {
			t.Errorf("then %+v, %v", f, err)
		}
		_ = WriteFrame(c, Frame{Kind: FrameHangup})
		<-finished
	})
}

func TestShim_Terminal(t *testing.T) {
	l := newLinux(t)
	dir := folder(t)
	spec := shell(dir, "")
	spec.Terminal, spec.Args, spec.Stdin = true, []string{"sh"}, ""
	h := start(t, l, dir, spec)
	c, err := l.Attach(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	_ = WriteFrame(c, Frame{Kind: FrameAttach})
	_ = WriteFrame(c, Frame{Kind: FrameWindow, Data: []byte{0, 33, 0, 99}})
	_ = WriteFrame(c, Frame{Kind: FrameInput, Data: []byte("stty size; tty; exit 7\n")})
	var text string
	for {
		f, err := ReadFrame(c)
		if err != nil {
			t.Fatalf("after %q: %v", text, err)
		}
		text += string(f.Data)
		if f.Kind == FrameEnd {
			_ = WriteFrame(c, Frame{Kind: FrameHangup})
			break
		}
	}
	if !strings.Contains(text, "33 99") || !strings.Contains(text, "/dev/pts/") {
		t.Errorf("the session said %q", text)
	}
	if end, err := l.Wait(within(t), dir, h); err != nil || end.Status != 7 {
		t.Errorf("end %+v, %v", end, err)
	}
}

func TestShim_TerminalHangsUp(t *testing.T) {
	l := newLinux(t)
	dir := folder(t)
	spec := shell(dir, "")
	spec.Terminal, spec.Args, spec.Stdin = true, []string{"sh", "-c", "sleep 100"}, ""
	h := start(t, l, dir, spec)
	c, err := l.Attach(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = WriteFrame(c, Frame{Kind: FrameAttach})
	_ = WriteFrame(c, Frame{Kind: FrameHangup})
	if end, err := l.Wait(within(t), dir, h); err != nil || end.Status != 256+1 {
		t.Errorf("end %+v, %v: want SIGHUP", end, err)
	}
}

// attached is a session at pipes to which a test attaches.
func attached(t *testing.T, script string) (l *Linux, dir string, h Handle, c net.Conn) {
	t.Helper()
	l, dir = newLinux(t), folder(t)
	spec := shell(dir, "")
	spec.Piped, spec.Args, spec.Stdin = true, []string{"sh", "-c", script}, ""
	h = start(t, l, dir, spec)
	c, err := l.Attach(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	_ = WriteFrame(c, Frame{Kind: FrameAttach})
	return l, dir, h, c
}

// TestShim_Pipes: without a terminal the job reads what it is given until that ends, its streams are apart, and what a mom has to say goes to standard error.
func TestShim_Pipes(t *testing.T) {
	l, dir, h, c := attached(t, "tty; echo begun >&2; cat; echo end >&2; exit 7")
	var out, errs bytes.Buffer
	p := &streams.Parter{Output: &out, Errors: &errs}
	_ = WriteFrame(c, Frame{Kind: FrameInput, Data: []byte("one\x03\n")})
	_ = WriteFrame(c, Frame{Kind: FrameInput, Offset: 5, Data: []byte("two\r\n")})
	ended := false
	for {
		f, err := ReadFrame(c)
		if err != nil {
			t.Fatalf("after %q and %q: %v", out.String(), errs.String(), err)
		}
		if f.Kind == FrameEnd {
			break
		}
		if f.Kind == FrameOutput {
			if _, err := p.Write(f.Data); err != nil {
				t.Fatal(err)
			}
		}
		if !ended && strings.HasSuffix(out.String(), "two\r\n") && strings.HasSuffix(errs.String(), "begun\n") {
			ended = true
			_ = WriteFrame(c, Frame{Kind: FrameNotice, Data: []byte("noted\r\n")})
			_ = WriteFrame(c, Frame{Kind: FrameInputEnd, Offset: 10})
		}
	}
	_ = WriteFrame(c, Frame{Kind: FrameHangup})
	if out.String() != "not a tty\none\x03\ntwo\r\n" || errs.String() != "begun\nnoted\nend\n" {
		t.Errorf("output %q, errors %q", out.String(), errs.String())
	}
	if end, err := l.Wait(within(t), dir, h); err != nil || end.Status != 7 {
		t.Errorf("end %+v, %v", end, err)
	}
}

// TestShim_PipesHangUp: the end of the line reaches all of the job's group, as at a terminal.
func TestShim_PipesHangUp(t *testing.T) {
	l, dir, h, c := attached(t, "sleep 100")
	_ = WriteFrame(c, Frame{Kind: FrameHangup})
	if end, err := l.Wait(within(t), dir, h); err != nil || end.Status != 256+1 {
		t.Errorf("end %+v, %v: want SIGHUP", end, err)
	}
}

// TestSession_InputEndsWhereItWasSaid: an end that is told of before all of the input has come is not taken for one, nor is one at a terminal.
func TestSession_InputEndsWhereItWasSaid(t *testing.T) {
	for name, atPipes := range map[string]bool{"pipes": true, "a terminal": false} {
		synctest.Test(t, func(t *testing.T) {
			l := newLine()
			var s *session
			closed := make(chan struct{})
			if atPipes {
				s = newSession(&halves{line: l, closed: closed}, nil, nil)
			} else {
				s = newSession(l, nil, nil)
			}
			c := join(s, 0)
			_ = WriteFrame(c, Frame{Kind: FrameInput, Data: []byte("hello")})
			_ = WriteFrame(c, Frame{Kind: FrameInputEnd, Offset: 9})
			for err := error(nil); err == nil; {
				_, err = ReadFrame(c)
			}
			select {
			case <-closed:
				t.Errorf("%s: the input has ended too early", name)
			default:
			}
			if atPipes {
				c = join(s, 0)
				go func() { _ = WriteFrame(c, Frame{Kind: FrameInputEnd, Offset: 5}) }()
				_, _ = outputOf(t, c, 5)
				<-closed
			}
			s.hangUp()
			_ = c.Close()
		})
	}
}

// halves is a line whose input ends by itself.
type halves struct {
	*line
	closed chan struct{}
}

func (h *halves) CloseWrite() error {
	close(h.closed)
	return nil
}
