package client

import (
	"context"
	"crypto/x509"
	"errors"
	"math/rand"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/transport"
)

const (
	firstPause = 20 * time.Millisecond
	maxPause   = 250 * time.Millisecond
	// absence is how long a call goes on while every server refuses the
	// connection: not the whole budget, for the address may just be wrong.
	absence = 3 * time.Second
	// restart is how long it goes on if one of them is a daemon of this host that has left
	// its socket: it ends within 5 s of a signal, and starts in less.
	restart = 10 * time.Second
	// leaderless is how long a call goes on while the answer is that there is no leader:
	// a dozen elections, two of a wide area. Nothing was done, so that the caller can be
	// told well before the budget ends.
	leaderless = 12 * time.Second
	// noticeAfter is when somebody who waits is told so.
	noticeAfter = 3 * time.Second
	// lastCall is how much of the budget another attempt needs. A replica waits for
	// a leader before it says that there is none; to be cut off then would turn a
	// definite no into an unknown outcome.
	lastCall = 3500 * time.Millisecond
)

// retrier is the interceptor of every call: request id, budget, repetition.
type retrier struct{ options Options }

// WrapUnary implements connect.Interceptor.
func (r *retrier) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		ctx, cancel := transport.WithBudget(ctx, r.options.Budget)
		defer cancel()
		id := requestID(ctx)
		r.setHeaders(req.Header(), id)
		var resp connect.AnyResponse
		answered := r.notice()
		defer answered()
		ctx = transport.OnWorking(ctx, answered)
		err := newCall(id).run(ctx, func() (err error) {
			resp, err = next(ctx, req)
			return err
		})
		if err != nil {
			return nil, err
		}
		return resp, nil
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (r *retrier) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		if spec.StreamType != connect.StreamTypeServer {
			conn := next(ctx, spec) // whoever talks both ways comes again by himself
			r.setHeaders(conn.RequestHeader(), requestID(ctx))
			return conn
		}
		return newStream(ctx, r, spec, next)
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (r *retrier) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// notice tells somebody who waits for long that he does; the function that it returns
// ends the watch.
func (r *retrier) notice() func() {
	if r.options.Waiting == nil {
		return func() {}
	}
	t := time.AfterFunc(noticeAfter, r.options.Waiting)
	return func() { t.Stop() }
}

func (r *retrier) setHeaders(h http.Header, id transport.RequestID) {
	h.Set(transport.HeaderRequestID, string(id))
	h.Set(transport.HeaderInterim, "1")
	if r.options.User != "" {
		h.Set(transport.HeaderUser, r.options.User)
	}
	if len(r.options.Servers) > 0 {
		h.Set(transport.HeaderServer, strings.Join(r.options.Servers, ","))
	}
	if r.options.Token != "" {
		h.Set("Authorization", "Bearer "+r.options.Token)
	}
}

// A call is one request with all its attempts.
type call struct {
	id      transport.RequestID
	start   time.Time
	pause   time.Duration
	read    bool // it changes nothing, whatever became of an attempt
	unknown bool // an attempt may have taken effect

	vacant time.Time // since when the answer has been that there is no leader; zero: it was another one

	alone time.Time // since when nobody has been there; zero: somebody was
	away  bool      // a daemon of this host was, meanwhile
}

func newCall(id transport.RequestID) *call {
	return &call{id: id, start: time.Now(), pause: firstPause}
}

// run attempts until there is an answer, or the budget is spent.
func (c *call) run(ctx context.Context, attempt func() error) error {
	for {
		err := attempt()
		if err == nil {
			return nil
		}
		again, unknown := judge(ctx, err)
		c.unknown = c.unknown || unknown && !c.read
		if !again || c.hopeless(err) || c.leaderless(err) || c.late(ctx) || !c.wait(ctx) {
			return c.outcome(err)
		}
	}
}

// hopeless tells that for too long nobody has been there to answer, or only a
// server of another cluster. An attempt that may have taken effect is followed up.
func (c *call) hopeless(err error) bool {
	roam, ok := errors.AsType[*transport.RoamError](err)
	_, foreign := errors.AsType[x509.UnknownAuthorityError](err)
	if !ok || !roam.Refused && (!foreign || roam.Sent) {
		c.alone, c.away = time.Time{}, false
		return false
	}
	if c.alone.IsZero() {
		c.alone = time.Now()
	}
	c.away = c.away || roam.Away
	patience := absence
	if c.away {
		patience = restart
	}
	return !c.unknown && time.Since(c.alone) >= patience
}

// leaderless tells that for too long the replicas have answered, and none could find a
// leader. The time begins with the first such answer: who was deposed while it worked for long
// gives that one, too, when another has led for a while. An attempt that may have taken effect is
// followed up to the end of the budget.
func (c *call) leaderless(err error) bool {
	if !connect.IsWireError(err) || connect.CodeOf(err) != connect.CodeUnavailable {
		c.vacant = time.Time{}
		return false
	}
	if c.vacant.IsZero() {
		c.vacant = time.Now()
	}
	return !c.unknown && time.Since(c.vacant) >= leaderless
}

// late tells that all attempts had a definite end, and another might not have one.
func (c *call) late(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && !c.unknown && time.Since(c.start) >= lastCall && time.Until(deadline) < lastCall
}

// wait pauses before the next attempt, longer each time and never the same, so
// that many clients do not come at once. It is false when the budget is spent.
func (c *call) wait(ctx context.Context) bool {
	pause := c.pause/2 + time.Duration(rand.Int63n(int64(c.pause/2))) // a bubble seeds this chance
	c.pause = min(2*c.pause, maxPause)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return ctx.Err() == nil
	}
}
