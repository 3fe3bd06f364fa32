package known

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// patienceNew is how long somebody waits for an answer that was never given before.
	patienceNew = 2 * time.Second
	// patienceKnown is how long he waits for news of what is known.
	patienceKnown = 500 * time.Millisecond
	// questionLife bounds one question; its answer counts for those who ask later.
	questionLife = 30 * time.Second
	// again is the pause before a question that failed is asked once more.
	again = 10 * time.Second
	// renewAfter is the age at which an answer in use is asked for again unasked, looked at every sweepEvery.
	renewAfter = time.Hour
	sweepEvery = 30 * time.Minute
	// maxAnswers bounds what is kept, maxQuestions what is asked at a time.
	maxAnswers   = 10_000
	maxQuestions = 64
)

// Day is how long an answer is kept that nobody confirms.
const Day = 24 * time.Hour

// ErrSilent means that the service has not answered, and that nothing is known from before.
var ErrSilent = errors.New("no answer")

// Options say whom a Cache asks, and how long answers count.
type Options[V any] struct {
	// Ask asks the service, until ctx ends.
	Ask func(ctx context.Context, key string) (V, error)
	// No reports whether an error is an answer: there is no such thing.
	No func(err error) bool
	// Fresh is how long an answer is taken without asking again.
	Fresh time.Duration
	// Keep returns how long an answer counts while nobody confirms it; nil: a Day.
	Keep func(V) time.Duration
	// Recall returns what others have on record, and of when it is; nil: nobody has anything.
	Recall func(key string) (V, time.Time, bool)
	// Void reports whether an answer of then does not count any more; nil: all do.
	Void func(v V, then time.Time) bool
	// Told hears that the service is silent, with the reason, and that it answers again (nil); nil: nobody does.
	Told func(since time.Time, err error)
}

// A Cache keeps answers. What is known stays good while the service does not answer; it is
// asked in the background, one question at a time for each key.
type Cache[V any] struct {
	opts   Options[V]
	ctx    context.Context
	stop   context.CancelFunc
	flight singleflight.Group

	mu      sync.Mutex
	answers map[string]*answer[V]
	open    map[string]time.Time // questions that are being asked, since when
	failed  map[string]failure   // questions that failed last
	// suspects are the questions that were not answered since any was, the first of them at doubted. One alone
	// may be its own fault: others are asked then (see quiet).
	suspects map[string]bool
	doubted  time.Time
	silence  Silence
	sweeper  *time.Timer
	prober   *time.Timer
	closed   bool
	wg       sync.WaitGroup
}

// A failure is a question that failed so many times in a row, the last time at.
type failure struct {
	at    time.Time
	times int
	err   error
}

type answer[V any] struct {
	value V
	no    error     // not nil: there is no such thing
	told  time.Time // when the question was asked
	used  time.Time

	recalled bool // others were told: nobody has asked here yet
}

// A Silence is the time since which a service has not answered.
type Silence struct {
	Since time.Time // zero: it answers
	Err   error
}

// Seconds returns how long the service has been silent; 0: it answers.
func (s Silence) Seconds() float64 {
	if s.Err == nil {
		return 0
	}
	return time.Since(s.Since).Seconds()
}

// New returns an empty cache. Close ends what it does in the background.
func New[V any](opts Options[V]) *Cache[V] {
	ctx, stop := context.WithCancel(context.Background())
	return &Cache[V]{
		opts: opts, ctx: ctx, stop: stop,
		answers: map[string]*answer[V]{}, open: map[string]time.Time{}, failed: map[string]failure{}, suspects: map[string]bool{},
	}
}

// Close ends the questions that are open and waits for them.
func (c *Cache[V]) Close() {
	c.mu.Lock()
	c.closed = true
	for _, t := range []*time.Timer{c.sweeper, c.prober} {
		if t != nil {
			t.Stop()
		}
	}
	c.mu.Unlock()
	c.stop()
	c.wg.Wait()
}

// Silent returns since when the service has not answered, and why.
func (c *Cache[V]) Silent() Silence {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.silence
}

// Get returns what the service says of the key: the answer that is known, or what it says
// within two seconds, else ErrSilent.
func (c *Cache[V]) Get(ctx context.Context, key string) (V, error) {
	begun := time.Now() // others may take a while to say what they have on record
	known, fresh := c.look(key)
	if fresh {
		return known.value, known.no
	}
	patience := c.patience(key)
	if known == nil || known.recalled && !c.doubtful(key) {
		patience = patienceNew - max(c.asked(key), time.Since(begun))
	}
	return c.await(ctx, key, known, patience)
}

// Hint returns what is known without waiting for more than news of it: a service that is
// silent is not waited for, whether anything is known or not.
func (c *Cache[V]) Hint(ctx context.Context, key string) (V, bool) {
	known, fresh := c.look(key)
	if !fresh {
		v, err := c.await(ctx, key, known, c.patience(key))
		return v, err == nil
	}
	return known.value, known.no == nil
}

// patience returns how long news of a key is waited for: not at all while the service is silent, or silent about it.
func (c *Cache[V]) patience(key string) time.Duration {
	if c.doubtful(key) {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if since, open := c.open[key]; open {
		return max(0, patienceKnown-time.Since(since))
	}
	return patienceKnown
}

// doubtful reports whether nobody should wait for what is asked of a key while others have it on record.
func (c *Cache[V]) doubtful(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.silence.Err != nil || c.failed[key].times > 0
}

// asked returns how long a question has been open.
func (c *Cache[V]) asked(key string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if since, open := c.open[key]; open {
		return time.Since(since)
	}
	return 0
}

// await asks, and waits for the answer as long as patience lasts.
func (c *Cache[V]) await(ctx context.Context, key string, known *answer[V], patience time.Duration) (none V, _ error) {
	done := c.ask(key)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	err := ErrSilent
	select {
	case r := <-done:
		a, ok := r.Val.(*answer[V])
		if ok && !c.void(a) {
			return a.value, a.no
		}
		if r.Err != nil {
			err = fmt.Errorf("%w: %w", ErrSilent, r.Err)
		}
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if known != nil && ctx.Err() == nil {
		return known.value, known.no
	}
	return none, err
}

// look returns what is known and still counts, and whether it needs no news.
func (c *Cache[V]) look(key string) (known *answer[V], fresh bool) {
	c.mu.Lock()
	a := c.answers[key]
	if a != nil {
		a.used = time.Now()
	}
	c.mu.Unlock()
	if a == nil && c.opts.Recall != nil {
		if v, told, ok := c.opts.Recall(key); ok {
			a = &answer[V]{value: v, told: told, used: time.Now(), recalled: true}
			c.recalled(key, a)
		}
	}
	if a == nil || !c.counts(a) {
		return nil, false
	}
	return a, !a.recalled && time.Since(a.told) < c.opts.Fresh
}

// recalled keeps what others had on record, unless an answer has come meanwhile.
func (c *Cache[V]) recalled(key string, a *answer[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers[key] == nil {
		c.keepLocked(key, a)
	}
}

// counts reports whether an answer may still be given.
func (c *Cache[V]) counts(a *answer[V]) bool {
	keep := Day
	switch {
	case a.no != nil:
		keep = c.opts.Fresh
	case c.opts.Keep != nil:
		keep = c.opts.Keep(a.value)
	}
	return time.Since(a.told) < keep && !c.void(a)
}

func (c *Cache[V]) void(a *answer[V]) bool {
	return a.no == nil && c.opts.Void != nil && c.opts.Void(a.value, a.told)
}
