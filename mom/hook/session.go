package hook

import (
	"context"
	"errors"
)

// A Session runs hooks at events that belong together, one after the other in one process, for as
// long as that bears it: one that has crashed, got an alarm call, or left a thread or a program
// behind is replaced for the next run. It is for one goroutine, and runs hooks of the daemon's own
// account only: others get processes of their own.
type Session struct {
	runtime *Runtime
	process *process        // nil: there is none at present
	has     map[string]bool // scripts that the process has
	items   uint64
}

// Session returns a session; it starts nothing. Close it.
func (r *Runtime) Session() *Session { return &Session{runtime: r} }

// Close ends the process, and what it has started.
func (s *Session) Close() {
	if s.process != nil {
		s.runtime.opts.Elsewhere.do(func(func(func())) { s.end() })
	}
}

func (s *Session) end() {
	if s.process != nil {
		s.process.end()
	}
	s.process, s.has = nil, nil
}

// Do is Runtime.Do in the session's process.
func (s *Session) Do(ctx context.Context, run Run) (*Answer, error) {
	if run.User != nil {
		return s.runtime.Do(ctx, run)
	}
	return s.runtime.do(ctx, run, func(req *request) (*Answer, error) {
		return s.runtime.opts.Elsewhere.talk(ctx, &run, func(ctx context.Context, run *Run) (*Answer, error) {
			a, err := s.exchange(ctx, req, run)
			if errors.Is(err, ErrWorker) && ctx.Err() == nil {
				a, err = s.exchange(ctx, req, run)
			}
			return a, err
		})
	})
}

func (s *Session) exchange(ctx context.Context, req *request, run *Run) (*Answer, error) {
	if s.process != nil && s.process.worker.gone() {
		s.end()
	}
	if s.process == nil {
		p, err := s.runtime.process(ctx)
		if err != nil {
			return nil, err
		}
		s.process, s.has = p, map[string]bool{}
	}
	s.items++
	one := *req
	one.Stays, one.Item, one.Key = true, s.items, run.Hook.Name+" "+run.Hook.Script
	if s.has[one.Key] {
		one.Script = nil
	}
	s.has[one.Key] = true
	a, err := s.process.exchange(ctx, &one, run.alarm(), run)
	if s.process.spent {
		s.end()
	}
	return a, err
}

// Sequence is Runtime.Sequence in the session's process.
func (s *Session) Sequence(ctx context.Context, runs []Run, e *Event, regardless bool) *Outcome {
	return sequence(ctx, s.Do, runs, e, regardless)
}
