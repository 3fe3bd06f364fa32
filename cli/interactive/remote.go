package interactive

import (
	"context"
	"encoding/binary"
	"io"
	"sync"
	"time"

	"rampart/transport"
	"rampart/transport/api"
)

const (
	// maxPiece is the greatest length of a frame's data, maxTyped bounds the input that
	// the session has not taken yet, in bytes.
	maxPiece = 16 << 10
	maxTyped = 64 << 10
)

// A terminalStream is one connection to a session.
type terminalStream interface {
	Send(*api.TerminalUp) error
	Receive() (*api.TerminalDown, error)
	CloseRequest() error
	CloseResponse() error
}

// A remote is this side of a session that runs elsewhere. It numbers what goes both ways,
// so that a new connection goes on where the last one broke off.
type remote struct {
	job    string
	out    io.Writer
	window func() (rows, columns uint16)

	mu        sync.Mutex
	wake      chan struct{} // capacity 1: there may be something to send
	room      chan struct{} // capacity 1: there may be room for input
	input     []byte        // typed, and not yet taken, from taken on
	taken     uint64
	seen      uint64 // output that was written
	inputEnds bool   // nothing is typed after input
	hangup    bool
	ended     bool // the session has said so
}

// heard is what one connection was told: input and output up to there, that the input has ended, and the size of the
// window; 0 by 0: not yet.
type heard struct {
	input, seen   uint64
	inputEnd      bool
	rows, columns uint16
}

func newRemote(job string, out io.Writer, window func() (uint16, uint16)) *remote {
	return &remote{job: job, out: out, window: window, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// change does something to the state that may have to be told.
func (r *remote) change(do func()) {
	r.mu.Lock()
	do()
	r.mu.Unlock()
	ring(r.wake)
}

// typed takes input over; it waits while too much of it is not taken.
func (r *remote) typed(ctx context.Context, data []byte) {
	for len(data) > 0 {
		n := 0
		r.change(func() {
			n = min(len(data), maxTyped-len(r.input))
			r.input = append(r.input, data[:n]...)
		})
		if data = data[n:]; len(data) == 0 {
			return
		}
		select {
		case <-r.room:
		case <-ctx.Done():
			return
		}
	}
}

// isOver reports whether the session has ended.
func (r *remote) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// attach connects once, until the connection or the session ends. ready is called when the
// session was found, and cut if what is being said is not taken afterwards.
func (r *remote) attach(ctx context.Context, stream terminalStream, ready, cut func()) error {
	ctx, cancel := context.WithCancel(ctx)
	var sender sync.WaitGroup
	defer func() {
		cancel()
		late := time.AfterFunc(lastLook, cut)
		defer late.Stop()
		sender.Wait()
	}()
	r.mu.Lock()
	seen := r.seen
	r.mu.Unlock()
	err := stream.Send(&api.TerminalUp{Job: r.job, Frame: &api.Frame{Kind: api.FrameKind_FRAME_KIND_ATTACH, Offset: seen}})
	if _, errReceive := stream.Receive(); errReceive != nil { // it knows why
		return transport.FromWire(errReceive)
	}
	if err != nil {
		return err
	}
	ready()
	begun := false
	for {
		msg, err := stream.Receive()
		if err != nil {
			return transport.FromWire(err)
		}
		r.take(msg.GetFrame())
		if r.isOver() {
			return nil
		}
		if msg.GetFrame().GetKind() == api.FrameKind_FRAME_KIND_TAKEN && !begun {
			begun = true
			from := msg.GetFrame().GetOffset()
			sender.Go(func() { r.send(ctx, stream, heard{input: from, seen: seen}) })
		}
	}
}

// take handles what comes from the session.
func (r *remote) take(f *api.Frame) {
	switch f.GetKind() {
	case api.FrameKind_FRAME_KIND_OUTPUT:
		data := f.GetData()
		if f.GetOffset() > r.seen { // nobody can tell any more what stood there
			r.change(func() { r.seen = f.GetOffset() })
		}
		if skip := r.seen - f.GetOffset(); skip < uint64(len(data)) {
			_, _ = r.out.Write(data[skip:])
			r.change(func() { r.seen += uint64(len(data)) - skip })
		}
	case api.FrameKind_FRAME_KIND_TAKEN:
		r.change(func() {
			if n := f.GetOffset() - r.taken; f.GetOffset() > r.taken && n <= uint64(len(r.input)) {
				r.input, r.taken = r.input[n:], f.GetOffset()
			}
		})
		ring(r.room)
	case api.FrameKind_FRAME_KIND_END:
		r.change(func() { r.ended = true })
	}
}

// send tells one connection what it does not know: the size of the window, input, and that
// more output was seen.
func (r *remote) send(ctx context.Context, stream terminalStream, known heard) {
	for {
		f := r.next(&known)
		if f == nil {
			select {
			case <-ctx.Done():
				return
			case <-r.wake:
			}
			continue
		}
		if ctx.Err() != nil || stream.Send(&api.TerminalUp{Frame: f}) != nil {
			return
		}
	}
}

// next returns what to say next; nil: nothing. What is typed after a change of the window's size
// goes after it, though the signal of the change may come late.
func (r *remote) next(known *heard) *api.Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rows, columns := r.window(); rows != known.rows || columns != known.columns {
		known.rows, known.columns = rows, columns
		data := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, rows), columns)
		return &api.Frame{Kind: api.FrameKind_FRAME_KIND_WINDOW, Data: data}
	}
	if r.seen > known.seen {
		known.seen = r.seen
		return &api.Frame{Kind: api.FrameKind_FRAME_KIND_SEEN, Offset: r.seen}
	}
	known.input = max(known.input, r.taken)
	if left := r.input[known.input-r.taken:]; len(left) > 0 {
		data := append([]byte(nil), left[:min(len(left), maxPiece)]...)
		at := known.input
		known.input += uint64(len(data))
		return &api.Frame{Kind: api.FrameKind_FRAME_KIND_INPUT, Offset: at, Data: data}
	}
	if r.inputEnds && !known.inputEnd {
		known.inputEnd = true
		return &api.Frame{Kind: api.FrameKind_FRAME_KIND_INPUT_END, Offset: known.input}
	}
	if r.hangup {
		r.hangup = false
		return &api.Frame{Kind: api.FrameKind_FRAME_KIND_HANGUP}
	}
	return nil
}
