package transport

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// connect sends a request whose body goes on while it is answered to the first address
// that takes the connection. It is not repeated: its caller comes again, and says where he
// was.
func (r *Roamer) connect(req *http.Request) (*http.Response, error) {
	rule, _ := RuleOf(req.URL.Path)
	out := &RoamError{Err: errors.New("no address is known")}
	body := &wholeBody{ReadCloser: req.Body}
	req = req.Clone(req.Context())
	req.Body = body
	for _, address := range r.config.Replicas.order(rule.At) {
		resp, err := r.connectTo(req, address, body.ReadCloser)
		if err == nil {
			r.judge(address, resp)
			return resp, nil
		}
		r.config.Replicas.failed(address)
		_, unsent := errors.AsType[*dialError](err)
		out.Err, out.Sent = err, !unsent
		if !unsent || req.Context().Err() != nil {
			break
		}
	}
	_ = body.ReadCloser.Close()
	return nil, out
}

// wholeBody is a body that outlives attempts which have read nothing of it: nobody was
// there. Once it is read, to close it must end the read, for that may wait for ever.
type wholeBody struct {
	io.ReadCloser
	begun atomic.Bool
}

// Read implements io.Reader.
func (b *wholeBody) Read(p []byte) (int, error) {
	b.begun.Store(true)
	return b.ReadCloser.Read(p)
}

// Close implements io.Closer.
func (b *wholeBody) Close() error {
	if !b.begun.Load() {
		return nil
	}
	return b.ReadCloser.Close()
}

// connectTo is one attempt; it waits for the head of the reply only so long. Afterwards the end of
// its context closes what the body is read from: HTTP/2 looks at the context between two
// reads of the body only, and the caller may have nothing to say for hours.
func (r *Roamer) connectTo(req *http.Request, address string, talk io.Closer) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	t := time.AfterFunc(attemptTimeout, func() { cancel(errSilent) })
	defer t.Stop()
	via := r.transport
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		via, req = r.twoWay, withURL(req.WithContext(ctx), "http", hex.EncodeToString([]byte(path))+unixDomain)
	} else {
		req = withURL(req.WithContext(ctx), "https", address)
	}
	resp, err := via.RoundTrip(req)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
			err = cause
		}
		cancel(nil)
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = talk.Close() })
	resp.Body = &attemptBody{resp.Body, cancel}
	return resp, nil
}
