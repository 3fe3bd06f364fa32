package transport

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// workingEvery is how often a server says that it works on a request.
	workingEvery = time.Second
	// workingLasts is how long its word counts: who hears no other word by then takes it for
	// gone, and the time runs on.
	workingLasts = 5 * time.Second
)

// A budget is a context that ends when the time is up which its asker has given a request. The
// time stands still while the server says that it works on the request, when it waits for hooks,
// moms or jobs (design section 4).
type budget struct {
	context.Context                 // of the request
	inner           context.Context // ends with it, or with the time
	cancel          context.CancelFunc

	interim http.ResponseWriter // takes the word that the request is worked on; nil: nobody wants it

	mu       sync.Mutex
	timer    *time.Timer // nil: there is no end
	left     time.Duration
	since    time.Time // when left was so much
	standing int       // for how many reasons it stands still
	over     bool      // the time is up
	lapse    *time.Timer
	heard    bool // one of the reasons is the server's word
}

type budgetKey struct{}

// WithBudget returns a context that ends after d, not counting the time in which the
// server says that it works on the request; 0: it ends with ctx only.
func WithBudget(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	b := newBudget(ctx, d)
	return b, b.end
}

func newBudget(ctx context.Context, d time.Duration) *budget {
	b := &budget{Context: ctx, left: d, since: time.Now()}
	b.inner, b.cancel = context.WithCancel(ctx)
	if d > 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.timer = time.AfterFunc(d, b.expire)
	}
	return b
}

func (b *budget) expire() {
	b.mu.Lock()
	b.over = b.standing == 0 && b.inner.Err() == nil
	over := b.over
	b.mu.Unlock()
	if over {
		b.cancel()
	}
}

func (b *budget) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range []*time.Timer{b.timer, b.lapse} {
		if t != nil {
			t.Stop()
		}
	}
	b.cancel()
}

// Deadline returns when the time is up if it does not stand still from now on. While it stands
// still there is none: a context with a deadline of its own that is made of this one, for the alarm
// of a hook, must not trust that this one ends before.
func (b *budget) Deadline() (time.Time, bool) {
	parent, bounded := b.Context.Deadline()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer == nil || b.standing > 0 {
		return parent, bounded
	}
	own := b.since.Add(b.left)
	if bounded && parent.Before(own) {
		return parent, true
	}
	return own, true
}

// Done implements context.Context.
func (b *budget) Done() <-chan struct{} { return b.inner.Done() }

// Err implements context.Context.
func (b *budget) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return context.DeadlineExceeded
	}
	return b.inner.Err()
}

// Value implements context.Context.
func (b *budget) Value(key any) any {
	if key == (budgetKey{}) {
		return b
	}
	return b.Context.Value(key)
}

// AfterFunc spares contexts that are made of this one a goroutine (package context).
func (b *budget) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(b.inner, f) }

func budgetFrom(ctx context.Context) *budget {
	b, _ := ctx.Value(budgetKey{}).(*budget)
	return b
}

// stand stops the time; for each call there is one of goOn.
func (b *budget) stand() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stop()
}

func (b *budget) stop() {
	if b.standing++; b.standing == 1 && b.timer != nil {
		b.timer.Stop()
		b.left = max(0, b.left-time.Since(b.since))
	}
}

func (b *budget) goOn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.run()
}

func (b *budget) run() {
	if b.standing--; b.standing == 0 && b.timer != nil && b.inner.Err() == nil {
		b.since = time.Now()
		b.timer.Reset(b.left)
	}
}

// hear takes the server's word that it works on the request.
func (b *budget) hear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inner.Err() != nil {
		return
	}
	if !b.heard {
		b.heard = true
		b.stop()
	}
	if b.lapse == nil {
		b.lapse = time.AfterFunc(workingLasts, b.unhear)
		return
	}
	b.lapse.Reset(workingLasts)
}

// unhear lets the time run on: the server has answered, or was not heard for too long.
func (b *budget) unhear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.heard {
		b.heard = false
		b.lapse.Stop()
		b.run()
	}
}

// Working lets the time of the request that ctx belongs to stand still, and tells its asker now
// and then that it is worked on, until the function that it returns is called.
func Working(ctx context.Context) (done func()) {
	b := budgetFrom(ctx)
	if b == nil {
		return func() {}
	}
	b.stand()
	if b.interim == nil {
		return b.goOn
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(workingEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-b.Done():
				return
			case <-tick.C:
			}
			b.interim.Header().Set(HeaderWorking, "1")
			b.interim.WriteHeader(http.StatusProcessing)
			b.interim.Header().Del(HeaderWorking)
		}
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-stopped // whoever answers writes to the same connection
		b.goOn()
	})
}

// IsWorking reports whether the time of the request that ctx belongs to stands still.
func IsWorking(ctx context.Context) bool {
	b := budgetFrom(ctx)
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.standing > 0
}

// OnWorking has f called whenever the server says that it works on the request which is sent
// with the context returned.
func OnWorking(ctx context.Context, f func()) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		Got1xxResponse: func(_ int, header textproto.MIMEHeader) error {
			if header.Get(HeaderWorking) != "" {
				f()
			}
			return nil
		},
	})
}

// headerTimeoutMs is where Connect's callers say how long they wait.
const headerTimeoutMs = "Connect-Timeout-Ms"

// timeoutOf returns how long the asker of a request waits; 0: he does not say.
func timeoutOf(r *http.Request) time.Duration {
	ms, err := strconv.ParseInt(r.Header.Get(headerTimeoutMs), 10, 32)
	if err != nil || ms <= 0 {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// budgeted returns a request that ends when its asker gives up, if he says when, and through
// which he can be told that it is worked on.
func budgeted(w http.ResponseWriter, r *http.Request) (*http.Request, context.CancelFunc) {
	if !strings.HasPrefix(r.URL.Path, rpcPrefix) || twoWay(r.URL.Path) {
		return r, func() {}
	}
	d := timeoutOf(r)
	b := newBudget(r.Context(), d)
	if r.Header.Get(HeaderInterim) != "" && r.ProtoAtLeast(1, 1) {
		b.interim = interims{w, true}
	}
	r = r.WithContext(b)
	if d > 0 {
		r.Header.Del(headerTimeoutMs) // Connect would let it run on
	}
	return r, b.end
}

// interims writes to an asker who reads interim replies, or does not.
type interims struct {
	http.ResponseWriter
	read bool
}

// WriteHeader implements http.ResponseWriter.
func (i interims) WriteHeader(status int) {
	switch {
	case status != http.StatusProcessing:
		i.ResponseWriter.WriteHeader(status)
	case i.read:
		// With a length there net/http sends a copy of the headers. Else it may still read them
		// when this has returned, on a stream that ends, while somebody writes the next ones.
		i.Header().Set("Content-Length", "0")
		i.ResponseWriter.WriteHeader(status)
		i.Header().Del("Content-Length")
	}
}

// Unwrap lets a ResponseController find what the writer below can do.
func (i interims) Unwrap() http.ResponseWriter { return i.ResponseWriter }
