package hook

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A process is one fork of the interpreter, with its ends of the pipes.
type process struct {
	*pipes
	worker *worker
	family *family
	lines  *bufio.Reader // what it says
	rest   *io.LimitedReader
	prints *noise
	spent  bool // it takes no other event
}

// process forks the interpreter, which it starts if need be.
func (r *Runtime) process(ctx context.Context) (*process, error) {
	w, err := r.alive()
	if err != nil {
		return nil, err
	}
	p, err := newPipes()
	if err != nil {
		return nil, fmt.Errorf("run a hook: %w", err)
	}
	f, err := w.fork(ctx, p)
	p.closeTheirs()
	if err != nil {
		p.close()
		return nil, err
	}
	rest := &io.LimitedReader{R: p.out}
	return &process{pipes: p, worker: w, family: r.family(w, f), rest: rest, lines: bufio.NewReaderSize(rest, 64<<10), prints: listenTo(p.noise)}, nil
}

// end ends the process. What its scripts have detached lives on, unless the process is spent.
func (p *process) end() {
	p.family.leave()
	p.close()
}

// exchange runs a script and serves what it asks until it has answered, has ended, or the
// alarm has rung. A process that does not wait for another event then is spent, and dead with its session;
// what has detached itself from it dies along unless the script has come to its end.
func (p *process) exchange(ctx context.Context, req *request, alarm time.Duration, run *Run) (*Answer, error) {
	rung := time.Now().Add(alarm)
	ctx, cancel := context.WithDeadline(ctx, rung)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		_ = p.out.SetDeadline(time.Unix(1, 0))
		_ = p.in.SetDeadline(time.Unix(1, 0))
	})
	p.prints.forget()
	answer, stays, err := converse(ctx, p, req, run)
	if stop() && stays && req.Stays {
		return answer, nil
	}
	p.spent = true
	if answer == nil || answer.Failure != "" {
		p.family.kill()
	}
	text := p.prints.all()
	p.family.leave()
	switch {
	case answer == nil && ctx.Err() != nil && !time.Now().Before(rung):
		answer = &Answer{Failure: fmt.Sprintf("alarm call after %s", alarm), TimedOut: true}
	case answer == nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case answer == nil && p.worker.ends():
		return nil, ErrWorker
	case answer == nil:
		answer = &Answer{Failure: "the script ended without an answer: " + lastWords(text, err)}
	}
	answer.Output = text
	return answer, nil
}

// together is within what time two processes die that are killed by the same hand.
const together = 500 * time.Millisecond

// ends reports whether the interpreter has ended along with one of its forks.
func (w *worker) ends() bool {
	select {
	case <-w.done:
		return true
	case <-time.After(together):
		return false
	}
}

// exchange gives a process of its own to one script. An interpreter that ends meanwhile, which is
// not the script's doing, is replaced once.
func (r *Runtime) exchange(ctx context.Context, req *request, alarm time.Duration, run *Run) (*Answer, error) {
	return r.opts.Elsewhere.talk(ctx, run, func(ctx context.Context, run *Run) (*Answer, error) {
		answer, err := r.exchangeOnce(ctx, req, alarm, run)
		if errors.Is(err, ErrWorker) && ctx.Err() == nil {
			answer, err = r.exchangeOnce(ctx, req, alarm, run)
		}
		return answer, err
	})
}

func (r *Runtime) exchangeOnce(ctx context.Context, req *request, alarm time.Duration, run *Run) (*Answer, error) {
	p, err := r.process(ctx)
	if err != nil {
		return nil, err
	}
	defer p.end()
	return p.exchange(ctx, req, alarm, run)
}

// noise is the first of what a script prints.
type noise struct {
	pipe *os.File
	done chan struct{}

	mu   sync.Mutex
	kept []byte
}

func listenTo(pipe *os.File) *noise {
	n := &noise{pipe: pipe, done: make(chan struct{})}
	go func() {
		defer close(n.done)
		buffer := make([]byte, 4096)
		for {
			count, err := pipe.Read(buffer)
			n.mu.Lock()
			if room := maxOutput - len(n.kept); room > 0 {
				n.kept = append(n.kept, buffer[:min(count, room)]...)
			}
			n.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return n
}

// forget begins anew, for another event.
func (n *noise) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kept = nil
}

// all returns what was printed when the pipe is at its end, or after a moment, for a stray
// process may hold it.
func (n *noise) all() string {
	_ = n.pipe.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	<-n.done
	n.mu.Lock()
	defer n.mu.Unlock()
	return string(n.kept)
}
