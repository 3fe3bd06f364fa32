package task

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"

	"rampart/fsm/pbs"
	"rampart/transport/pause"
)

const (
	partFor   = 15 * time.Second      // bounds one attempt to tell a sister of a release
	partAgain = 2 * time.Second       // between attempts at one that does not answer
	partEvery = 20 * time.Millisecond // answers that come together are one event
)

// Notices are the sisters that are being told of a release. One that does not answer is asked again
// for as long as the run lasts, and holds up no other.
type notices struct {
	r     *Runner
	busy  map[pbs.HostName]bool // of the goroutine of Run
	slots *semaphore.Weighted

	mu      sync.Mutex
	answers *SistersTold // on their way to the goroutine of Run
	refused error        // that a sister's hooks have refused the assignment before the program
}

// part sees to it that all sisters are told that must be.
func (e *notices) part(ctx context.Context) {
	if e.busy == nil {
		e.busy, e.slots = make(map[pbs.HostName]bool), semaphore.NewWeighted(peersAtOnce)
	}
	for _, h := range e.r.task.Hosts {
		if e.busy[h.Name] || !e.r.task.Assignment.owes(h.Name) {
			continue
		}
		e.busy[h.Name] = true
		e.r.wg.Go(func() { e.tell(ctx, h) })
	}
}

// tell tells one sister what the record says, until it has answered or the run is over.
func (e *notices) tell(ctx context.Context, h Host) {
	noted := false
	for {
		t, err := e.r.Await(ctx, func(t Task) bool { return mother{t}.tellable(h.Name) || mother{t}.quit() })
		if err != nil || (mother{t}).quit() {
			return
		}
		ev, err := e.tellOnce(ctx, t, h)
		if refusal, refused := errors.AsType[*pbs.Error](err); refused && len(ev.Told) > 0 {
			if !noted {
				noted = true
				e.r.site.Lines.Job(pbs.LogError, t.Key.Job, fmt.Sprintf("sister node %s failed to update job", h.Name))
			}
			again, ends := e.updateRefused(ctx, h, refusal)
			if ends {
				return
			}
			if !again {
				err = nil
			}
		}
		if err == nil {
			saved := e.answered(ctx, ev)
			if ev.Reported == nil || !over(ctx, saved) {
				return
			}
			continue
		}
		if ctx.Err() == nil {
			e.r.site.Logger.Warn("a sister was not told of a release", "task", t.Key.String(), "sister", h.Name, "err", err)
		}
		if !pause.For(ctx, partAgain) {
			return
		}
	}
}

func (e *notices) tellOnce(ctx context.Context, t Task, h Host) (SistersTold, error) {
	if err := e.slots.Acquire(ctx, 1); err != nil {
		return SistersTold{}, err
	}
	defer e.slots.Release(1)
	ctx, cancel := context.WithTimeout(ctx, partFor)
	defer cancel()
	if t.Assignment.leaving(h.Name) {
		reported := t.Assignment.Members[h.Name] == MemberReported
		share, over, err := e.r.site.Peers.Leave(ctx, h, t.Key, reported)
		if err != nil {
			return SistersTold{}, err
		}
		shares := map[pbs.HostName]Share{h.Name: share}
		if reported {
			return SistersTold{Left: shares}, nil
		}
		e.r.site.reports(t, h, share)
		if over {
			return SistersTold{Left: shares}, nil
		}
		return SistersTold{Reported: shares}, nil
	}
	return SistersTold{Told: map[pbs.HostName]uint64{h.Name: t.Assignment.Number}}, e.r.site.Peers.Update(ctx, h, t)
}

// reports logs what a sister that leaves the run has used (specification: ramp-down section 14).
func (s *Site) reports(t Task, h Host, share Share) {
	cpu, rss := max(share.CPU, t.Shares[h.Name].CPU), max(share.RSS, t.Shares[h.Name].RSS)
	s.Lines.Job(pbs.LogDebug2, t.Key.Job, fmt.Sprintf("%s cput=%s mem=%s", h.Name, seconds(cpu), kilobytes(rss)))
}

// dismiss ends the part of a sister as a release does, and returns what it has used.
func (s *Site) dismiss(ctx context.Context, t Task, h Host) (Share, error) {
	share, over, err := s.Peers.Leave(ctx, h, t.Key, false)
	if err != nil {
		return Share{}, err
	}
	s.reports(t, h, share)
	for !over {
		if _, over, err = s.Peers.Leave(ctx, h, t.Key, true); err != nil {
			return Share{}, err
		}
	}
	return share, nil
}

// answered brings an answer to the goroutine of Run, together with those that come just after it, and
// returns what is closed when they are saved.
func (e *notices) answered(ctx context.Context, ev SistersTold) (saved <-chan struct{}) {
	e.mu.Lock()
	first := e.answers == nil
	if first {
		e.answers = &SistersTold{
			Reported: make(map[pbs.HostName]Share), Left: make(map[pbs.HostName]Share), Told: make(map[pbs.HostName]uint64),
			saved: make(chan struct{}),
		}
	}
	maps.Copy(e.answers.Reported, ev.Reported)
	maps.Copy(e.answers.Left, ev.Left)
	maps.Copy(e.answers.Told, ev.Told)
	saved = e.answers.saved
	e.mu.Unlock()
	if !first || !pause.For(ctx, partEvery) {
		return saved
	}
	e.mu.Lock()
	all := *e.answers
	e.answers = nil
	e.mu.Unlock()
	select {
	case e.r.mail <- letter{event: all}:
	case <-ctx.Done():
	}
	return saved
}

// killSisters ends the programs of sisters whose parts go on.
func (s *Site) killSisters(ctx context.Context, t Task) Event {
	bounded, cancel := context.WithTimeout(ctx, passFor)
	defer cancel()
	each(bounded, t.sisters(), func(ctx context.Context, h Host) error {
		return s.insist(ctx, func(ctx context.Context) error {
			return s.Peers.Signal(ctx, h, t.Key, strconv.Itoa(int(syscall.SIGKILL)))
		})
	})
	return unless(ctx, SistersKilled{})
}

// idle notes that the notices to sisters that have answered are over.
func (e *notices) idle(p SistersTold) {
	for host := range p.Left {
		delete(e.busy, host)
	}
	for host := range p.Told {
		delete(e.busy, host)
	}
}

// renode makes the node file that of an assignment.
func (s *Site) renode(t Task) error {
	if t.Sister() {
		return nil
	}
	lines, err := t.nodeFile(string(s.Host))
	if err != nil {
		return pbs.Errorf(pbs.InvalidRequest, "%s: %v", s.Host, err)
	}
	if err := s.Spool.SaveNodeFile(t.Key.Job, lines); err != nil {
		return pbs.Errorf(pbs.SystemError, "%s: %v", s.Host, err)
	}
	return nil
}
