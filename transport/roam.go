package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"time"
)

const (
	// attemptTimeout bounds the wait for the head of a replica's reply. Pings
	// find a hung process earlier; this is for one that answers pings only.
	attemptTimeout = 10 * time.Second
	// shortestAttempt lets a replica find out that there is no leader.
	shortestAttempt = leaderWait + 500*time.Millisecond
	// firstByte is how long a gateway may take to acknowledge a request while
	// there is another one to try.
	firstByte = 300 * time.Millisecond
	// unixPrefix marks the address of a gateway.
	unixPrefix = "unix:"
	unixDomain = ".unix"
)

// RoamConfig is what a Roamer needs.
type RoamConfig struct {
	Replicas *Replicas
	Network  Network
	TLS      *tls.Config // for addresses HOST:PORT; nil: only gateways
}

// A Roamer sends a request to one replica after the other until one answers. It
// repeats a request that may have arrived: its id makes that harmless (L8). The
// answer, whatever it is, is the caller's to judge.
type Roamer struct {
	config    RoamConfig
	transport *http.Transport
	twoWay    *http.Transport // to gateways, for callers who talk while they are answered
}

// NewRoamer returns a RoundTripper that knows several ways.
func NewRoamer(config RoamConfig) *Roamer {
	r := &Roamer{config: config}
	if config.TLS == nil {
		r.transport = &http.Transport{DisableCompression: true}
	} else {
		r.transport = NewTransport(config.Network, config.TLS)
	}
	r.transport.DialContext = dialGateway
	r.twoWay = &http.Transport{
		DialContext: dialGateway, DisableCompression: true, Protocols: new(http.Protocols),
		HTTP2: &http.HTTP2Config{SendPingTimeout: silence, PingTimeout: pingTimeout},
	}
	r.twoWay.Protocols.SetUnencryptedHTTP2(true)
	return r
}

// Close ends the pooled connections that no request uses.
func (r *Roamer) Close() {
	r.transport.CloseIdleConnections()
	r.twoWay.CloseIdleConnections()
}

// A RoamError says that no replica answered.
type RoamError struct {
	Sent    bool  // a request may have arrived at one of them
	Refused bool  // every one refused the connection: nobody is there
	Away    bool  // one of them is a socket that a daemon of this host has left
	Err     error // of the last attempt
}

// Error returns the last attempt's words.
func (e *RoamError) Error() string { return fmt.Sprintf("no replica answers: %v", e.Err) }

// Unwrap returns the last attempt's error.
func (e *RoamError) Unwrap() error { return e.Err }

// RoundTrip implements http.RoundTripper; the request's own address is ignored.
func (r *Roamer) RoundTrip(req *http.Request) (*http.Response, error) {
	if twoWay(req.URL.Path) {
		return r.connect(req)
	}
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	rule, _ := RuleOf(req.URL.Path)
	addresses := r.config.Replicas.order(rule.At)
	out := &RoamError{Refused: len(addresses) > 0, Err: errors.New("no address is known")}
	for i, address := range addresses {
		resp, err := r.attempt(req, address, body, len(addresses)-i)
		if req.Context().Err() != nil && err != nil {
			return nil, req.Context().Err()
		}
		if err == nil {
			r.judge(address, resp)
			if out.Sent {
				resp.Header.Set(HeaderUncertain, "1")
			}
			return resp, nil
		}
		r.config.Replicas.failed(address)
		_, unsent := errors.AsType[*dialError](err)
		out.Err, out.Sent, out.Refused = err, out.Sent || !unsent, out.Refused && unsent && refused(err)
		out.Away = out.Away || strings.HasPrefix(address, unixPrefix) && errors.Is(err, syscall.ECONNREFUSED)
	}
	return nil, out
}

// judge learns from a reply where to go next time. A replica that could not
// serve is put behind the others, and its word on the leader is not taken: it
// may still believe in a dead one.
func (r *Roamer) judge(address string, resp *http.Response) {
	switch {
	case resp.StatusCode == http.StatusServiceUnavailable, resp.Header.Get(HeaderElsewhere) != "":
		r.config.Replicas.failed(address)
	case resp.StatusCode == http.StatusOK && !strings.HasPrefix(address, unixPrefix):
		r.config.Replicas.heard(resp.Header.Get(HeaderLeader))
	}
}

// readBody keeps the body for the attempts to come.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer func() { _ = req.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(req.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if len(body) > maxBody {
		return nil, &http.MaxBytesError{Limit: maxBody}
	}
	return body, nil
}

var (
	errSilent = errors.New("no answer in time")
	errNoAck  = errors.New("no acknowledgement in time")
)

// attempt sends the request to one address, of so many that are left. Its own time limit
// ends with the head of the reply; the body may take as long as the caller lets it.
func (r *Roamer) attempt(req *http.Request, address string, body []byte, left int) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	stop := func() bool { return true }
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		if left > 1 {
			ctx, stop = acknowledged(ctx, cancel, left)
		}
		req = withURL(req.WithContext(ctx), "http", hex.EncodeToString([]byte(path))+unixDomain)
	} else {
		ctx, stop = answered(ctx, cancel, left)
		req = withURL(req.WithContext(ctx), "https", address)
	}
	if b := budgetFrom(ctx); b != nil {
		req = req.WithContext(OnWorking(req.Context(), b.hear))
		defer b.unhear()
	}
	if body != nil {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	resp, err := r.transport.RoundTrip(req)
	stop()
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errSilent) || errors.Is(cause, errNoAck) {
			err = fmt.Errorf("ask %s: %w", address, cause)
		}
		cancel(nil)
		return nil, err
	}
	resp.Body = &attemptBody{resp.Body, cancel}
	return resp, nil
}

// share returns how long one of the attempts that are left may wait for the head of a reply, so
// that a silent replica does not take the whole budget.
func share(ctx context.Context, left int) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return attemptTimeout
	}
	return min(attemptTimeout, max(shortestAttempt, time.Until(deadline)/time.Duration(left)))
}

// answered cancels the attempt, one of so many that are left, unless the head of its reply comes in time.
func answered(ctx context.Context, cancel context.CancelCauseFunc, left int) (context.Context, func() bool) {
	t := time.AfterFunc(share(ctx, left), func() { cancel(errSilent) })
	return OnWorking(ctx, func() { t.Reset(workingLasts) }), t.Stop
}

// acknowledged cancels the attempt unless something of a reply is heard soon, and its head in time.
func acknowledged(ctx context.Context, cancel context.CancelCauseFunc, left int) (context.Context, func() bool) {
	ctx, stop := answered(ctx, cancel, left)
	t := time.AfterFunc(firstByte, func() { cancel(errNoAck) })
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { t.Stop() }})
	return ctx, func() bool {
		t.Stop()
		return stop()
	}
}

func withURL(req *http.Request, urlScheme, host string) *http.Request {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = urlScheme, host, host
	return req
}

// attemptBody frees the attempt's context when the reply has been read.
type attemptBody struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

// Close implements io.Closer.
func (b *attemptBody) Close() error {
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}

// dialGateway connects to the socket whose path the host name spells.
func dialGateway(ctx context.Context, _, address string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(address)
	path, err := hex.DecodeString(strings.TrimSuffix(host, unixDomain))
	if err != nil {
		return nil, &dialError{address, err}
	}
	c, err := DialUnix(ctx, string(path))
	if err != nil {
		return nil, &dialError{string(path), err}
	}
	return c, nil
}
