package transport

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// connect sends a request whose body goes on while it is answered to the first address
// that takes the connection. It is not repeated: its caller comes again, and says where he
// was.
func (r *Roamer) connect(req *http.Request) (*http.Response, error) {
	rule, _ := RuleOf(req.URL.Path)
	out := &RoamError{Err: errors.New("no address is known")}
	for _, address := range r.config.Replicas.order(rule.At) {
		resp, err := r.connectTo(req, address)
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
	return nil, out
}

// connectTo is one attempt; it waits for the head of the reply only so long.
func (r *Roamer) connectTo(req *http.Request, address string) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	t := time.AfterFunc(attemptTimeout, func() { cancel(errSilent) })
	defer t.Stop()
	via := r.transport
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		via, req = r.twoWay, withURL(req.WithContext(ctx), "http", hex.EncodeToString([]byte(path))+unixDomain)
	} else {
		req = withURL(req.WithContext(ctx), "https", address)
	}
	req.Body = io.NopCloser(req.Body) // it is still whole if nobody is there
	resp, err := via.RoundTrip(req)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
			err = cause
		}
		cancel(nil)
		return nil, err
	}
	resp.Body = &attemptBody{resp.Body, cancel}
	return resp, nil
}
