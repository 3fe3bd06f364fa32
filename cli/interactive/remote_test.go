package interactive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rampart/transport/api"
)

// echoing is a session that says back what is typed. It numbers bytes as a shim does, and its
// connections break after so many frames.
type echoing struct {
	mu      sync.Mutex
	changed *sync.Cond
	typed   bytes.Buffer
	out     []byte
	end     bool
}

func newEchoing() *echoing {
	e := new(echoing)
	e.changed = sync.NewCond(&e.mu)
	return e
}

// A wire is one connection to it.
type wire struct {
	e       *echoing
	left    int // frames until it breaks
	sent    uint64
	told    uint64
	greeted bool
	first   bool
	broken  bool
}

func (w *wire) Send(m *api.TerminalUp) error {
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	defer w.e.changed.Broadcast()
	if w.left--; w.left <= 0 || w.broken {
		w.broken = true
		return io.ErrClosedPipe
	}
	f := m.GetFrame()
	switch f.GetKind() {
	case api.FrameKind_FRAME_KIND_ATTACH:
		w.sent, w.greeted = f.GetOffset(), true
	case api.FrameKind_FRAME_KIND_INPUT:
		next := uint64(w.e.typed.Len())
		if f.GetOffset() > next {
			return errors.New("a gap in the input")
		}
		if fresh := next - f.GetOffset(); fresh < uint64(len(f.GetData())) {
			w.e.typed.Write(f.GetData()[fresh:])
			w.e.out = append(w.e.out, bytes.ToUpper(f.GetData()[fresh:])...)
		}
	}
	return nil
}

func (w *wire) Receive() (*api.TerminalDown, error) {
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	for {
		if w.left--; w.broken || w.left <= 0 {
			w.broken = true
			return nil, net.ErrClosed
		}
		switch {
		case w.greeted && !w.first:
			w.first = true
			return &api.TerminalDown{}, nil
		case w.first && w.told != uint64(w.e.typed.Len())+1:
			w.told = uint64(w.e.typed.Len()) + 1
			return &api.TerminalDown{Frame: &api.Frame{Kind: api.FrameKind_FRAME_KIND_TAKEN, Offset: w.told - 1}}, nil
		case w.sent < uint64(len(w.e.out)):
			piece := w.e.out[w.sent:min(w.sent+7, uint64(len(w.e.out)))]
			f := &api.Frame{Kind: api.FrameKind_FRAME_KIND_OUTPUT, Offset: w.sent, Data: bytes.Clone(piece)}
			w.sent += uint64(len(piece))
			return &api.TerminalDown{Frame: f}, nil
		case w.e.end:
			return &api.TerminalDown{Frame: &api.Frame{Kind: api.FrameKind_FRAME_KIND_END, Offset: uint64(len(w.e.out))}}, nil
		}
		w.e.changed.Wait()
	}
}

func (w *wire) CloseRequest() error  { return nil }
func (w *wire) CloseResponse() error { return nil }

// TestRemote_EveryByteOnce: however often the connection breaks, and wherever, each byte
// that is typed arrives once, and each byte of the output is shown once.
func TestRemote_EveryByteOnce(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			chance := rand.New(rand.NewPCG(seed, 1))
			e := newEchoing()
			var shown bytes.Buffer
			r := newRemote("1.srv", &shown, func() (uint16, uint16) { return 24, 80 })
			text := strings.Repeat("the quick brown fox. ", 40)
			go func() {
				for rest := text; rest != ""; {
					n := min(1+chance.IntN(30), len(rest))
					r.typed(t.Context(), []byte(rest[:n]))
					rest = rest[n:]
					time.Sleep(time.Millisecond)
				}
				time.Sleep(time.Minute)
				e.mu.Lock()
				e.end = true
				e.changed.Broadcast()
				e.mu.Unlock()
			}()
			tries := 0
			for ; !r.isOver(); tries++ {
				left := 5 + int(seed) + tries
				if tries > 200 {
					left = 1 << 30
				}
				_ = r.attach(t.Context(), &wire{e: e, left: left}, func() {}, func() {})
			}
			if got := e.typed.String(); got != text {
				t.Errorf("seed %d: the job read %d bytes, want %d: %q", seed, len(got), len(text), got)
			}
			if got := shown.String(); got != strings.ToUpper(text) {
				t.Errorf("seed %d: shown %d bytes, want %d", seed, len(got), len(text))
			}
		})
	}
}

// TestRemote_WindowBeforeKeys: what is typed after a change of the window's size goes after it,
// before any signal of the change; a new connection is told the size again.
func TestRemote_WindowBeforeKeys(t *testing.T) {
	rows := uint16(33)
	r := newRemote("1.srv", io.Discard, func() (uint16, uint16) { return rows, 99 })
	var known heard
	said := func(want ...api.FrameKind) {
		t.Helper()
		var got []api.FrameKind
		for f := r.next(&known); f != nil; f = r.next(&known) {
			got = append(got, f.GetKind())
		}
		if !slices.Equal(got, want) {
			t.Errorf("said %v, want %v", got, want)
		}
	}
	said(api.FrameKind_FRAME_KIND_WINDOW)
	r.typed(t.Context(), []byte("a"))
	said(api.FrameKind_FRAME_KIND_INPUT)
	rows = 44
	r.typed(t.Context(), []byte("b"))
	said(api.FrameKind_FRAME_KIND_WINDOW, api.FrameKind_FRAME_KIND_INPUT)
	known = heard{input: 2}
	said(api.FrameKind_FRAME_KIND_WINDOW)
}

// A parting is a connection that the session closes a while after it has heard a hangup.
type parting struct {
	wire
	ctx  context.Context
	late time.Duration
	told chan struct{}
}

func (p *parting) Send(m *api.TerminalUp) error {
	if m.GetFrame().GetKind() == api.FrameKind_FRAME_KIND_HANGUP {
		time.AfterFunc(p.late, func() { close(p.told) })
	}
	return nil
}

func (p *parting) Receive() (*api.TerminalDown, error) {
	select {
	case <-p.told:
	case <-p.ctx.Done():
	}
	return nil, net.ErrClosed
}

// TestFarewell_StaysUntilItIsHeard: who ends the connection at once may leave the session
// waiting for somebody to see its end; one that never answers is left after a while.
func TestFarewell_StaysUntilItIsHeard(t *testing.T) {
	for _, c := range []struct{ late, want time.Duration }{{time.Second, time.Second}, {time.Hour, lastLook}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begun := time.Now()
			farewell(&parting{ctx: ctx, late: c.late, told: make(chan struct{})}, cancel)
			if took := time.Since(begun); took != c.want {
				t.Errorf("a session that answers after %v is left after %v, want %v", c.late, took, c.want)
			}
			time.Sleep(2 * time.Hour) // let the answer come
		})
	}
}

// A clogged connection takes nothing of what is typed, until it is cut.
type clogged struct {
	wire
	heard chan *api.TerminalDown
	cut   chan struct{}
}

func (c *clogged) Send(m *api.TerminalUp) error {
	if m.GetFrame().GetKind() == api.FrameKind_FRAME_KIND_ATTACH {
		return nil
	}
	<-c.cut
	return io.ErrClosedPipe
}

func (c *clogged) Receive() (*api.TerminalDown, error) { return <-c.heard, nil }

// TestRemote_EndsThoughNothingIsTaken: the end of a session that takes nothing any more is the end.
func TestRemote_EndsThoughNothingIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRemote("1.srv", io.Discard, func() (uint16, uint16) { return 24, 80 })
		c := &clogged{heard: make(chan *api.TerminalDown), cut: make(chan struct{})}
		go func() {
			c.heard <- &api.TerminalDown{}
			c.heard <- &api.TerminalDown{Frame: &api.Frame{Kind: api.FrameKind_FRAME_KIND_TAKEN}}
			time.Sleep(time.Second)
			c.heard <- &api.TerminalDown{Frame: &api.Frame{Kind: api.FrameKind_FRAME_KIND_END}}
		}()
		begun := time.Now()
		if err := r.attach(t.Context(), c, func() {}, func() { close(c.cut) }); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took != time.Second+lastLook {
			t.Errorf("the terminal is given back after %v", took)
		}
	})
}

func TestRemote_TypesNoMoreThanIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRemote("1.srv", io.Discard, func() (uint16, uint16) { return 24, 80 })
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { r.typed(ctx, make([]byte, 2*maxTyped)); close(done) }()
		synctest.Wait()
		if len(r.input) != maxTyped {
			t.Errorf("%d bytes are kept, want %d", len(r.input), maxTyped)
		}
		cancel()
		<-done
	})
}

func TestEscape(t *testing.T) {
	for _, c := range []struct {
		typed, pass string
		command     byte
	}{
		{"ls\r", "ls\r", 0},
		{"~.", "", escapeEnd},
		{"ls\r~.", "ls\r", escapeEnd},
		{"ls ~.", "ls ~.", 0},
		{"~~x", "~x", 0},
		{"~x", "~x", 0},
		{"\r~\x1a", "\r", escapeSuspend},
		{"~\r~.", "~\r", escapeEnd},
	} {
		var e escape
		var pass []byte
		var command byte
		for i := range len(c.typed) { // as keys come
			p, cmd := e.filter([]byte{c.typed[i]})
			pass, command = append(pass, p...), max(command, cmd)
		}
		if string(pass) != c.pass || command != c.command {
			t.Errorf("%q: %q, %d; want %q, %d", c.typed, pass, command, c.pass, c.command)
		}
	}
}
