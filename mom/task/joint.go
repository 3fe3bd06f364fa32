package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/transport/pause"
)

// Peers reaches the moms of a run's other hosts. A *pbs.Error in the chain says that they
// refuse, anything else that they did not answer.
type Peers interface {
	Join(ctx context.Context, to Host, t Task) error
	// End returns when nothing of the run lives at the host, with what it has used. It says what
	// becomes of the host's part of a checkpoint.
	End(ctx context.Context, to Host, k spool.TaskKey, abandoned bool, kept KeptPart) (Share, error)
	// Poll returns UnknownJob, with the reason, when the part of the host is over.
	Poll(ctx context.Context, to Host, k spool.TaskKey) (Share, error)
	// Prologue has the hooks before the program run at the host.
	Prologue(ctx context.Context, to Host, k spool.TaskKey) error
	Signal(ctx context.Context, to Host, k spool.TaskKey, signal string) error
	// Leave is End for a host that the run goes on without. It returns when what the part has used is
	// known; unless it is over, the host then waits for a call that says that this was reported.
	Leave(ctx context.Context, to Host, k spool.TaskKey, reported bool) (used Share, over bool, err error)
	// Checkpoint has the host make its part of the checkpoint of that number, while it keeps the one
	// that counts so far; busy says that it is still at it.
	Checkpoint(ctx context.Context, to Host, k spool.TaskKey, number uint64, whole *CheckpointID) (busy bool, err error)
	// Restart has the host's programs go on from the checkpoint, and returns their numbers. BoundElsewhere
	// is the refusal of one that never can.
	Restart(ctx context.Context, to Host, k spool.TaskKey) ([]uint32, error)
	// Update tells the host the present assignment.
	Update(ctx context.Context, to Host, t Task) error
}

const (
	peersAtOnce = 256              // bounds the calls of one mother superior under way
	joinFor     = 30 * time.Second // bounds the wait for all sisters to join
	joinAgain   = time.Second      // between attempts at one that does not answer
	endFor      = 15 * time.Second // bounds the wait for their ends; the servers end what is left
	passFor     = 10 * time.Second // bounds passing on a signal to one
	haltFor     = time.Hour        // and a suspension: a part that missed a resumption would stand for ever
	pollEvery   = 10 * time.Second
	pollFor     = 5 * time.Second // bounds one poll
)

// DefaultPollDowntime is how long a sister may be silent before its part counts as lost, if the
// site does not say (specification: reliable-startup section 12).
const DefaultPollDowntime = 300 * time.Second

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
func (s *Site) join(ctx, hooks context.Context, t Task) Event {
	used, err := s.begun(hooks, t)
	if err != nil {
		return unless(ctx, JoinFailed{Reason: err.Error(), Code: hookCode(err), Fault: s.fault(err)})
	}
	parts, err := s.checkpoints().joinRequests(t)
	if errors.Is(err, errBadRestart) {
		return unless(ctx, JoinFailed{Reason: err.Error(), Status: pbs.ExitBadRestart})
	}
	if err != nil {
		return unless(ctx, JoinFailed{Reason: err.Error(), Fault: s.fault(err)})
	}
	bounded, cancel := context.WithTimeout(hooks, joinFor+s.patience("execjob_begin"))
	defer cancel()
	var once sync.Once
	var refusal error
	var refused Host
	errs := each(bounded, t.sisters(), func(ctx context.Context, h Host) error {
		err := s.insist(ctx, func(ctx context.Context) error { return s.Peers.Join(ctx, h, parts(h)) })
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
	return Joined{Used: used}
}

func (s *Site) notJoined(t Task, h Host, err error) Event {
	status := pbs.ExitJoin
	if t.Checkpoints.Restart != nil && pbs.CodeOf(err) == pbs.BoundElsewhere {
		status = pbs.ExitBadRestart
	}
	fault := pbs.HostName("")
	if own, ok := errors.AsType[*pbs.Error](err); ok && own.Code == pbs.SystemError {
		fault = h.Name
	}
	return JoinFailed{Reason: s.startError(t, h, "JOIN_JOB", err).Error(), Status: status, Fault: fault}
}

// startError notes that a sister has failed at a step of the start.
func (s *Site) startError(t Task, h Host, step string, err error) error {
	code := pbs.SystemError
	if own, ok := errors.AsType[*pbs.Error](err); ok {
		code = own.Code
	}
	text := fmt.Sprintf("job_start_error %d from node %s could not %s successfully", code, h.Name, step)
	s.Lines.Job(pbs.LogJob, t.Key.Job, text)
	s.Logger.Warn("a sister has failed at the start", "task", t.Key.String(), "step", step, "sister", h.Name, "err", err)
	return fmt.Errorf("%s: %w", text, err)
}

// insist repeats a call until it is answered, in one way or the other, or ctx ends.
func (s *Site) insist(ctx context.Context, do func(ctx context.Context) error) error {
	for {
		err := do(ctx)
		own, refused := errors.AsType[*pbs.Error](err)
		if err == nil || refused && own.Code != pbs.NoQuorum || !pause.For(ctx, joinAgain) {
			return err
		}
	}
}

// gather ends the sisters' parts. One that does not answer in time is left to the servers: the job
// does not run again before it has confirmed to them. Hooks are waited for where they may run: not at
// one that cannot be reached.
func (s *Site) gather(ctx context.Context, t Task) Event {
	stopped := ctx
	bounded, cancel := context.WithTimeout(ctx, endFor+s.patience("execjob_epilogue", "execjob_end", "execjob_abort"))
	defer cancel()
	again, enough := context.WithTimeout(bounded, endFor)
	defer enough()
	var mu sync.Mutex
	var once sync.Once
	ev := Gathered{Shares: make(map[pbs.HostName]Share)}
	abandoned := t.Result != nil && t.Result.NeverStarted
	each(bounded, t.members(), func(ctx context.Context, h Host) error {
		var share Share
		err := s.insist(again, func(context.Context) (err error) {
			if (mother{t}).dismisses() && !t.Assignment.leaving(h.Name) {
				share, err = s.dismiss(ctx, t, h)
			} else {
				share, err = s.Peers.End(ctx, h, t.Key, abandoned, t.leftBehind())
			}
			return err
		})
		if err != nil {
			s.Logger.Warn("a sister's part was not ended", "task", t.Key.String(), "sister", h.Name, "err", err)
			if stopped.Err() != nil {
				return err // nobody has failed
			}
			once.Do(func() {
				s.Lines.Job(pbs.LogError, t.Key.Job, "Unable to send delete job request to one or more sisters")
			})
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

// poll asks the sisters for their state, after a while.
func (s *Site) poll(ctx context.Context, t Task) Event {
	if !pause.For(ctx, pollEvery) {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, pollFor)
	defer cancel()
	var mu sync.Mutex
	ev := Polled{Shares: make(map[pbs.HostName]Share)}
	each(bounded, t.present(), func(ctx context.Context, h Host) error {
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

// quiet is which sisters do not answer.
type quiet struct {
	site  *Site
	since map[pbs.HostName]time.Time
}

// listened notes since when sisters have been silent, and counts one as lost for which that is
// too long. It begins with a poll that was not answered, not with the last one that was: a mom
// that was stopped itself has not asked.
func (q *quiet) listened(t Task, p Polled) Polled {
	if q.since == nil {
		q.since = make(map[pbs.HostName]time.Time)
	}
	for host := range p.Shares {
		delete(q.since, host)
	}
	if t.enduring() {
		return q.endured(t, p)
	}
	now, longest := time.Now(), q.site.Settings().PollDowntime
	if longest == 0 {
		longest = DefaultPollDowntime
	}
	for _, host := range p.Silent {
		since, known := q.since[host]
		switch {
		case !known:
			q.since[host] = now
		case now.Sub(since) > longest && p.Lost == "" && mother{t}.needs(host):
			p.Lost = host
			node := slices.IndexFunc(t.Hosts, func(h Host) bool { return h.Name == host })
			q.site.Lines.Job(pbs.LogError, t.Key.Job,
				fmt.Sprintf("im_eof, lost communication with %s for > %d secs, killing job now", host, longest/time.Second))
			q.site.Lines.Job(pbs.LogError, t.Key.Job, fmt.Sprintf("node EOF %d (%s)", node, host))
		}
	}
	return p
}

// passing keeps the order of the signals that sisters get.
type passing struct {
	last map[pbs.HostName]<-chan struct{} // closed when each sister has got the last signal, or will not
}

// pass sends a signal to the sisters' processes. Each sister gets the signals in their order, but
// SIGKILL at once: nothing that comes after it matters.
func (p *passing) pass(ctx context.Context, r *Runner, sig syscall.Signal, word string) {
	name, longest := strconv.Itoa(int(sig)), passFor
	switch word {
	case suspends, suspended:
		name, longest = suspends, haltFor
	case resumes, resumed:
		name, longest = resumes, haltFor // sisters have hooks of their own
	}
	if p.last == nil {
		p.last = make(map[pbs.HostName]<-chan struct{})
	}
	before, done := make(map[pbs.HostName]<-chan struct{}), make(map[pbs.HostName]chan struct{})
	for _, h := range r.task.sisters() {
		own := make(chan struct{})
		before[h.Name], done[h.Name], p.last[h.Name] = p.last[h.Name], own, own
	}
	r.async(ctx, func(ctx context.Context, t Task) Event {
		errs := each(ctx, t.sisters(), func(ctx context.Context, h Host) error {
			defer close(done[h.Name])
			if sig != syscall.SIGKILL && !over(ctx, before[h.Name]) {
				return ctx.Err()
			}
			ctx, cancel := context.WithTimeout(ctx, longest)
			defer cancel()
			return r.site.insist(ctx, func(ctx context.Context) error {
				return r.site.Peers.Signal(ctx, h, t.Key, name)
			})
		})
		for i, err := range errs {
			if err != nil {
				r.site.Logger.Warn("signal not passed on", "task", t.Key.String(), "signal", sig, "sister", t.sisters()[i].Name, "err", err)
			}
		}
		return nil
	})
}

// over waits for what was before, if there was anything; false says that the context ended.
func over(ctx context.Context, before <-chan struct{}) bool {
	if before == nil {
		return true
	}
	select {
	case <-before:
		return true
	case <-ctx.Done():
		return false
	}
}

// publish makes the task known to those who look and to those who wait.
func (r *Runner) publish(t Task) {
	r.view.Store(&t)
	next := make(chan struct{})
	close(*r.changed.Swap(&next))
}

// Await waits until ok returns true for the task, and returns it.
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
