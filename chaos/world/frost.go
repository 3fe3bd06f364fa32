package world

import (
	"context"
	"syscall"
	"time"

	"rampart/mom/proc"
)

// A frost is the time for which a mom is stopped, as by SIGSTOP. Its links are silent and
// give what was sent when they are healed; and what it does with programs waits. Its own
// timers run on, as if it woke at each: it cannot do anything then, but it may be about
// to. The shims are processes of their own and go on.
type frost struct {
	over   chan struct{}
	caught chan struct{} // the first thing that waits; it has room for it
}

// catchFor is how long a frost waits for a mom that is about to start a program: what was
// decided before and is done after is the danger.
const catchFor = 2 * time.Second

// stop has what the mom does with programs wait.
func (m *mom) stop() *frost {
	f := &frost{over: make(chan struct{}), caught: make(chan struct{}, 1)}
	m.system.mu.Lock()
	if m.system.frozen == nil {
		m.system.frozen = f
	}
	m.system.mu.Unlock()
	return f
}

// freeze stops the mom, when it is about to do something if that is soon.
func (m *mom) freeze() {
	f := m.stop()
	select {
	case <-f.caught:
	case <-time.After(catchFor):
	}
	m.w.exile(m.name)
}

// thaw lets the mom do what it was about to do; not ok if it was not frozen.
func (p *programs) thaw() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen == nil {
		return false
	}
	close(p.frozen.over)
	p.frozen = nil
	return true
}

// stand waits for the end of a frost.
func (p *programs) stand(ctx context.Context) {
	p.mu.Lock()
	f := p.frozen
	p.mu.Unlock()
	if f == nil {
		return
	}
	select {
	case <-f.over:
	case <-ctx.Done():
	}
}

// caught waits as stand does, where the frost waits for the mom to come to that point.
func (p *programs) caught(ctx context.Context) {
	p.mu.Lock()
	if p.frozen != nil {
		select {
		case p.frozen.caught <- struct{}{}:
		default:
		}
	}
	p.mu.Unlock()
	p.stand(ctx)
}

// Wait implements proc.System.
func (p *programs) Wait(ctx context.Context, dir string, h proc.Handle) (proc.Exit, error) {
	exit, err := p.Fake.Wait(ctx, dir, h)
	p.stand(ctx)
	return exit, err
}

// Forestall implements proc.System.
func (p *programs) Forestall(dir string) (proc.Handle, bool, error) {
	p.stand(context.Background())
	return p.Fake.Forestall(dir)
}

// Signal implements proc.System.
func (p *programs) Signal(h proc.Handle, sig syscall.Signal) error {
	p.stand(context.Background())
	p.noteHalt(h, sig)
	return p.Fake.Signal(h, sig)
}
