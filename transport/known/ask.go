package known

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"
)

// errBusy means that more is asked at a time than a service that answers is ever asked.
var errBusy = errors.New("too many questions are open")

// enoughSuspects is how many questions must not be answered for the service to be silent, if it has answered so
// many before.
const enoughSuspects = 3

// ask has the question asked unless it is being asked, and returns where its answer comes.
func (c *Cache[V]) ask(key string) <-chan singleflight.Result {
	return c.flight.DoChan(key, func() (any, error) {
		if err := c.begin(key); err != nil {
			return nil, err
		}
		defer c.wg.Done()
		return c.question(key)
	})
}

// begin counts a question that is asked, unless it is too early or there are too many.
func (c *Cache[V]) begin(key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return context.Canceled
	case len(c.open) >= maxQuestions:
		return errBusy
	}
	if f := c.failed[key]; f.err != nil && time.Since(f.at) < again && (c.silence.Err != nil || f.times > 1) {
		return f.err
	}
	c.open[key] = time.Now()
	c.wg.Add(1)
	return nil
}

// question asks the service and keeps what it says.
func (c *Cache[V]) question(key string) (any, error) {
	ctx, cancel := context.WithTimeout(c.ctx, questionLife)
	defer cancel()
	late := time.AfterFunc(patienceNew, func() {
		if c.isOpen(key) {
			c.quiet(key, fmt.Errorf("no answer within %s", patienceNew))
		}
	})
	defer late.Stop()
	began := time.Now()
	v, err := c.opts.Ask(ctx, key)
	a := &answer[V]{value: v, told: began, used: began}
	if err != nil && c.opts.No(err) {
		a.no, err = err, nil
	}
	c.mu.Lock()
	delete(c.open, key)
	if err != nil {
		c.failLocked(key, err)
		c.mu.Unlock()
		c.quiet(key, err)
		return nil, err
	}
	delete(c.failed, key)
	c.keepLocked(key, a)
	was := c.silence
	c.silence = Silence{}
	clear(c.suspects)
	c.mu.Unlock()
	if was.Err != nil && c.opts.Told != nil {
		c.opts.Told(was.Since, nil)
	}
	return a, nil
}

func (c *Cache[V]) isOpen(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.open[key]
	return open
}

// failLocked remembers a question that has failed.
func (c *Cache[V]) failLocked(key string, err error) {
	if len(c.failed) >= maxAnswers {
		clear(c.failed)
	}
	c.failed[key] = failure{at: time.Now(), times: c.failed[key].times + 1, err: err}
}

// quiet notes that a question is not answered. A service is silent if enough are not, and none was
// meanwhile; so it is asked what it has answered before. Then it is asked again until it answers.
func (c *Cache[V]) quiet(key string, err error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	first := c.silence.Err == nil
	if first {
		if len(c.suspects) == 0 {
			c.doubted = time.Now()
		}
		c.suspects[key] = true
		if others := c.othersLocked(enoughSuspects - len(c.suspects)); len(others) > 0 { // they will tell
			c.mu.Unlock()
			for _, other := range others {
				c.ask(other)
			}
			return
		}
		c.silence = Silence{Since: c.doubted, Err: err}
	}
	since := c.silence.Since
	if c.prober == nil {
		c.prober = time.AfterFunc(again, c.probe)
	}
	c.mu.Unlock()
	if first && c.opts.Told != nil {
		c.opts.Told(since, err)
	}
}

// othersLocked returns questions that were answered the last time they were asked, those of late first, n at most.
func (c *Cache[V]) othersLocked(n int) (keys []string) {
	if n <= 0 {
		return nil
	}
	for key, a := range c.answers {
		if !a.recalled && !c.suspects[key] && c.failed[key].times == 0 {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(c.answers[b].told.Compare(c.answers[a].told), strings.Compare(a, b))
	})
	return keys[:min(n, len(keys))]
}

// probe asks one of the questions that failed, so that the end of a silence is noticed.
func (c *Cache[V]) probe() {
	c.mu.Lock()
	c.prober = nil
	key, found := "", false
	for k, f := range c.failed {
		if !found || f.at.Before(c.failed[key].at) {
			key, found = k, true
		}
		if time.Since(f.at) > Day {
			delete(c.failed, k)
		}
	}
	if c.silence.Err == nil || c.closed {
		c.mu.Unlock()
		return
	}
	if !found || len(c.open) > 0 { // what is being asked tells as well
		c.prober = time.AfterFunc(again, c.probe)
		c.mu.Unlock()
		return
	}
	f := c.failed[key]
	f.at = time.Now().Add(-again) // its pause is over
	c.failed[key] = f
	c.mu.Unlock()
	c.ask(key)
}

// keepLocked stores an answer. When there are too many, those make room that were not used longest.
func (c *Cache[V]) keepLocked(key string, a *answer[V]) {
	if old := c.answers[key]; old != nil {
		a.used = old.used
	} else if len(c.answers) >= maxAnswers {
		oldest := ""
		for k, other := range c.answers {
			if oldest == "" || other.used.Before(c.answers[oldest].used) {
				oldest = k
			}
		}
		delete(c.answers, oldest)
	}
	c.answers[key] = a
	if c.sweeper == nil && !c.closed {
		c.sweeper = time.AfterFunc(sweepEvery, c.sweep)
	}
}

// sweep drops what does not count any more, and asks for news of what is in use.
func (c *Cache[V]) sweep() {
	var renew []string
	c.mu.Lock()
	c.sweeper = nil
	if c.closed {
		c.mu.Unlock()
		return
	}
	for key, a := range c.answers {
		switch {
		case !c.counts(a):
			delete(c.answers, key)
		case a.no == nil && time.Since(a.told) > renewAfter && time.Since(a.used) < Day:
			renew = append(renew, key)
		}
	}
	if c.silence.Err != nil {
		renew = nil // the probe asks until there are answers again
	}
	if len(c.answers) > 0 {
		c.sweeper = time.AfterFunc(sweepEvery, c.sweep)
	}
	c.wg.Add(1)
	c.mu.Unlock()
	defer c.wg.Done()
	for _, key := range renew { // one after the other: nobody waits
		select {
		case <-c.ask(key):
		case <-c.ctx.Done():
			return
		}
	}
}
