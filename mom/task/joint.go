package task

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
)

// Peers reaches the moms of a run's other hosts. A *pbs.Error in the chain says that they
// refuse, anything else that they did not answer.
type Peers interface {
	Join(ctx context.Context, to Host, t Task) error
	// End returns when nothing of the run lives at the host, with what it has used.
	End(ctx context.Context, to Host, k spool.TaskKey) (Peak, error)
	// Poll returns UnknownJob, with the reason, when the part of the host is over.
	Poll(ctx context.Context, to Host, k spool.TaskKey) (Peak, error)
	Signal(ctx context.Context, to Host, k spool.TaskKey, signal string) error
}

const (
	peersAtOnce = 256              // bounds the calls of one mother superior under way
	joinFor     = 30 * time.Second // bounds the wait for all sisters to join
	joinAgain   = time.Second      // between attempts at one that does not answer
	endFor      = 15 * time.Second // bounds the wait for their ends; the servers end what is left
	passFor     = 10 * time.Second // bounds passing on a signal
	pollEvery   = 10 * time.Second
	pollFor     = 5 * time.Second // bounds one poll
	// silentFor is how long a sister may be silent before its part counts as lost: time
	// enough for the restart of a mom.
	silentFor = 2 * time.Minute
)

// each does something at all sisters at once; the errors are in the sisters' order.
func each(ctx context.Context, hosts []Host, do func(ctx context.Context, h Host) error) []error {
	errs := make([]error, len(hosts))
	var calls errgroup.Group
	calls.SetLimit(peersAtOnce)
	for i, h := range hosts {
		calls.Go(func() error {
			errs[i] = do(ctx, h)
			return nil
		})
	}
	_ = calls.Wait() // each has its own result
	return errs
}

// join makes the sisters part of the run. One that does not answer is asked again until the
// time is over; one that refuses ends the wait for the others, too.
func (s *Site) join(ctx context.Context, t Task) Event {
	bounded, cancel := context.WithTimeout(ctx, joinFor)
	defer cancel()
	var once sync.Once
	var refusal error
	var refused Host
	errs := each(bounded, t.sisters(), func(ctx context.Context, h Host) error {
		err := s.insist(ctx, func(ctx context.Context) error { return s.Peers.Join(ctx, h, t) })
		if own, ok := errors.AsType[*pbs.Error](err); ok && own.Code != pbs.NoQuorum {
			once.Do(func() { refused, refusal = h, err })
			cancel()
		}
		return err
	})
	if ctx.Err() != nil {
		return nil
	}
	if refusal != nil {
		return s.notJoined(t, refused, refusal)
	}
	for i, err := range errs {
		if err != nil {
			return s.notJoined(t, t.sisters()[i], err)
		}
	}
	return Joined{}
}

func (s *Site) notJoined(t Task, h Host, err error) Event {
	code := pbs.SystemError
	if own, ok := errors.AsType[*pbs.Error](err); ok {
		code = own.Code
	}
	text := fmt.Sprintf("job_start_error %d from node %s could not JOIN_JOB successfully", code, h.Name)
	s.Lines.Job(eventJob, t.Key.Job, text)
	s.Logger.Warn("a sister has not joined", "task", t.Key.String(), "sister", h.Name, "err", err)
	return JoinFailed{Reason: text + ": " + err.Error()}
}

// insist repeats a call until it is answered, in one way or the other, or ctx ends.
func (s *Site) insist(ctx context.Context, do func(ctx context.Context) error) error {
	for {
		err := do(ctx)
		own, refused := errors.AsType[*pbs.Error](err)
		if err == nil || refused && own.Code != pbs.NoQuorum || !pause(ctx, joinAgain) {
			return err
		}
	}
}

// gather ends the sisters' parts. One that does not answer in time is left to the servers:
// the job does not run again before it has confirmed to them.
func (s *Site) gather(ctx context.Context, t Task) Event {
	bounded, cancel := context.WithTimeout(ctx, endFor)
	defer cancel()
	var mu sync.Mutex
	ev := Gathered{Shares: make(map[pbs.HostName]Peak)}
	each(bounded, t.sisters(), func(ctx context.Context, h Host) error {
		var share Peak
		err := s.insist(ctx, func(ctx context.Context) (err error) {
			share, err = s.Peers.End(ctx, h, t.Key)
			return err
		})
		if err != nil {
			s.Logger.Warn("a sister's part was not ended", "task", t.Key.String(), "sister", h.Name, "err", err)
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		ev.Shares[h.Name] = share
		return nil
	})
	if ctx.Err() != nil {
		return nil
	}
	return ev
}

// poll asks the sisters how they stand, after a while.
func (s *Site) poll(ctx context.Context, t Task) Event {
	if !pause(ctx, pollEvery) {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, pollFor)
	defer cancel()
	var mu sync.Mutex
	ev := Polled{Shares: make(map[pbs.HostName]Peak)}
	each(bounded, t.sisters(), func(ctx context.Context, h Host) error {
		share, err := s.Peers.Poll(ctx, h, t.Key)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			ev.Shares[h.Name] = share
		case errors.Is(err, pbs.Refuse(pbs.UnknownJob)):
			s.Logger.Warn("a sister's part is over", "task", t.Key.String(), "sister", h.Name, "err", err)
			ev.Lost = h.Name
		default:
			ev.Silent = append(ev.Silent, h.Name)
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil
	}
	return ev
}

// listened notes which sisters have answered, and counts one as lost that has been silent for
// too long.
func (r *Runner) listened(p Polled) Polled {
	now := time.Now()
	if r.heard == nil {
		r.heard = make(map[pbs.HostName]time.Time)
	}
	for host := range p.Shares {
		r.heard[host] = now
	}
	for _, host := range p.Silent {
		last, known := r.heard[host]
		switch {
		case !known:
			r.heard[host] = now
		case now.Sub(last) > silentFor && p.Lost == "":
			p.Lost = host
		}
	}
	return p
}

// pass sends a signal to the sisters' processes.
func (s *Site) pass(ctx context.Context, t Task, sig syscall.Signal) Event {
	ctx, cancel := context.WithTimeout(ctx, passFor)
	defer cancel()
	errs := each(ctx, t.sisters(), func(ctx context.Context, h Host) error {
		return s.insist(ctx, func(ctx context.Context) error {
			return s.Peers.Signal(ctx, h, t.Key, strconv.Itoa(int(sig)))
		})
	})
	for i, err := range errs {
		if err != nil {
			s.Logger.Warn("signal not passed on", "task", t.Key.String(), "signal", sig, "sister", t.sisters()[i].Name, "err", err)
		}
	}
	return nil
}

// publish makes the task known to those who look and to those who wait.
func (r *Runner) publish(t Task) {
	r.view.Store(&t)
	next := make(chan struct{})
	close(*r.changed.Swap(&next))
}

// Await waits until the task is as ok says, and returns it.
func (r *Runner) Await(ctx context.Context, ok func(Task) bool) (Task, error) {
	for {
		changed := *r.changed.Load()
		t := r.Task()
		if ok(t) {
			return t, nil
		}
		select {
		case <-changed:
		case <-r.done:
			return t, fmt.Errorf("task %s: %w", t.Key, context.Canceled)
		case <-ctx.Done():
			return t, ctx.Err()
		}
	}
}
