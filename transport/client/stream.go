package client

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
)

// A stream is a server stream that starts again at another replica as long as
// nothing of it was received. The budget ends with the first message: a long
// listing may take its time.
type stream struct {
	ctx    context.Context
	cancel context.CancelFunc
	timer  *time.Timer
	quiet  func() // ends the watch of somebody who waits
	start  func(context.Context) connect.StreamingClientConn
	call   *call

	mu      sync.Mutex // conn: the reader replaces it, Close may come from elsewhere
	conn    connect.StreamingClientConn
	message any
	begun   bool
}

func newStream(ctx context.Context, r *retrier, spec connect.Spec, next connect.StreamingClientFunc) *stream {
	ctx, cancel := context.WithCancelCause(ctx)
	id := requestID(ctx)
	s := &stream{
		ctx: ctx, cancel: func() { cancel(nil) }, call: newCall(id),
		timer: time.AfterFunc(r.options.Budget, func() { cancel(context.DeadlineExceeded) }),
		quiet: r.notice(),
		start: func(ctx context.Context) connect.StreamingClientConn { return next(ctx, spec) },
	}
	s.call.read = true
	s.conn = s.start(ctx)
	r.setHeaders(s.conn.RequestHeader(), id)
	return s
}

func (s *stream) current() connect.StreamingClientConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// Send implements connect.StreamingClientConn. What goes wrong with it, Receive
// tells, and repeats.
func (s *stream) Send(msg any) error {
	s.message = msg
	_ = s.current().Send(msg)
	return nil
}

// CloseRequest implements connect.StreamingClientConn.
func (s *stream) CloseRequest() error {
	_ = s.current().CloseRequest()
	return nil
}

// Receive implements connect.StreamingClientConn.
func (s *stream) Receive(msg any) error {
	if s.begun {
		return s.current().Receive(msg)
	}
	first := true
	var end error // of a stream without messages: io.EOF, no failure
	err := s.call.run(s.ctx, func() error {
		if !first {
			s.again()
		}
		first = false
		err := s.current().Receive(msg)
		if isEOF(err) {
			end, err = err, nil
		}
		return err
	})
	s.timer.Stop()
	s.quiet()
	s.begun = true
	if err != nil {
		return s.explain(err)
	}
	return end
}

// explain says of a call that was cut off whether it was the budget that ended.
func (s *stream) explain(err error) error {
	if errors.Is(context.Cause(s.ctx), context.DeadlineExceeded) && connect.CodeOf(err) == connect.CodeCanceled {
		return connect.NewError(connect.CodeDeadlineExceeded, context.DeadlineExceeded)
	}
	return err
}

// again starts the stream anew with the same headers and message.
func (s *stream) again() {
	old := s.current()
	_ = old.CloseResponse()
	conn := s.start(s.ctx)
	copyHeader(conn.RequestHeader(), old.RequestHeader())
	s.mu.Lock()
	s.conn = conn
	s.mu.Unlock()
	_ = conn.Send(s.message)
	_ = conn.CloseRequest()
}

func copyHeader(dst, src http.Header) {
	for k, v := range src {
		dst[k] = v
	}
}

// Spec implements connect.StreamingClientConn.
func (s *stream) Spec() connect.Spec { return s.current().Spec() }

// Peer implements connect.StreamingClientConn.
func (s *stream) Peer() connect.Peer { return s.current().Peer() }

// RequestHeader implements connect.StreamingClientConn.
func (s *stream) RequestHeader() http.Header { return s.current().RequestHeader() }

// ResponseHeader implements connect.StreamingClientConn.
func (s *stream) ResponseHeader() http.Header { return s.current().ResponseHeader() }

// ResponseTrailer implements connect.StreamingClientConn.
func (s *stream) ResponseTrailer() http.Header { return s.current().ResponseTrailer() }

// CloseResponse implements connect.StreamingClientConn.
func (s *stream) CloseResponse() error {
	s.timer.Stop()
	s.quiet()
	s.cancel()
	return s.current().CloseResponse()
}
