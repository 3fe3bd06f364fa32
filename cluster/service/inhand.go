package service

import (
	"context"
	"fmt"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"rampart/cluster"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// requests are the changes that are being answered. A repeat joins the one in hand,
// however far that is: it may still be at work before its proposal (L8).
type requests struct {
	mu     sync.Mutex
	inHand map[requestKey]*inHand
}

// requestKey is what makes a request the same request.
type requestKey struct {
	asker pbs.User
	id    pbs.RequestID
}

// inHand is one change on its way; everybody who repeats it waits on done.
type inHand struct {
	body   uint64
	ctx    context.Context // of the request that does the work
	done   chan struct{}   // closed when the rest is set
	left   bool            // its asker went away: the outcome is not the request's
	result state.Result
	err    error
}

func newRequests() *requests { return &requests{inHand: map[requestKey]*inHand{}} }

// do answers a request by work, or by the outcome of its twin in hand. When the twin's
// asker goes away, one of those who joined does the work again.
func (q *requests) do(ctx context.Context, key requestKey, body uint64, work func() (state.Result, error)) (state.Result, error) {
	for {
		r, first := q.join(ctx, key, body)
		switch {
		case first:
			return q.answer(ctx, key, r, work)
		case r.body != body:
			return state.Result{}, pbs.Refuse(pbs.ReusedRequest)
		}
		if err := r.await(ctx); err != nil {
			return state.Result{}, fmt.Errorf("%w: %w", cluster.ErrOutcomeUnknown, err)
		}
		if !r.left {
			return r.result, r.err
		}
	}
}

// lookEvery is how often a repeat looks whether hooks keep its twin busy.
const lookEvery = 250 * time.Millisecond

// await waits for the outcome. While hooks keep the one busy who does the work, the time of
// those who have joined stands still, too.
func (r *inHand) await(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var done func()
	defer func() {
		if done != nil {
			done()
		}
	}()
	for {
		switch working := transport.IsWorking(r.ctx); {
		case working && done == nil:
			done = transport.Working(ctx)
		case !working && done != nil:
			done()
			done = nil
		}
		select {
		case <-r.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (q *requests) join(ctx context.Context, key requestKey, body uint64) (r *inHand, first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r, ok := q.inHand[key]; ok {
		return r, false
	}
	r = &inHand{body: body, ctx: ctx, done: make(chan struct{}), left: true}
	q.inHand[key] = r
	return r, true
}

// answer does the work. The state remembers the outcome before the request leaves
// the hand, so no repeat falls between the two.
func (q *requests) answer(ctx context.Context, key requestKey, r *inHand, work func() (state.Result, error)) (state.Result, error) {
	defer func() {
		q.mu.Lock()
		delete(q.inHand, key)
		q.mu.Unlock()
		close(r.done)
	}()
	r.result, r.err = work()
	r.left = ctx.Err() != nil
	return r.result, r.err
}

// bodyHash tells apart requests with the same id: by what was asked, not by the
// commands that it led to, since these follow from defaults and accounts, too. It is
// never 0.
func bodyHash(r connect.AnyRequest) (uint64, error) {
	msg, ok := r.Any().(proto.Message)
	if !ok {
		return 0, fmt.Errorf("hash a request: %T is no message", r.Any())
	}
	h := xxhash.New()
	if submit, ok := msg.(*api.SubmitRequest); ok { // a script is long, and need not be copied
		script := submit.Script
		_, _ = h.Write(script)
		submit.Script = nil
		defer func() { submit.Script = script }()
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(msg)
	if err != nil {
		return 0, fmt.Errorf("hash a request: %w", err)
	}
	_, _ = h.WriteString(string(msg.ProtoReflect().Descriptor().FullName()))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(data)
	return max(h.Sum64(), 1), nil
}
