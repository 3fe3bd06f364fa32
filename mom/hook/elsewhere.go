package hook

import (
	"context"
	"hash/fnv"
	"io"
	"time"
)

// Elsewhere is where a runtime of a bubble waits for real processes: on goroutines that were not started there. The
// clock of the bubble stands meanwhile, and goes on when the runtime only keeps its interpreter warm. What is asked for
// at the same moment is done one after the other, so that it comes in the same order each time. It is made
// outside of the bubble, and ended there. It is safe for any number of goroutines.
type Elsewhere struct {
	rooms chan *room
	over  chan struct{}
}

// forkElsewhere is how long an interpreter may take to fork where no time of the bubble passes: a busy machine makes no difference there.
const forkElsewhere = 10 * time.Minute

// A room is for one piece of work. Its channels are made outside of bubbles, for both sides use them.
type room struct {
	work  chan func(here func(func()))
	calls chan func()
	back  chan struct{}
	done  chan struct{}
}

// NewElsewhere starts a goroutine, which begins with what prepares its thread for real processes, if that is not nil, and ends
// with Close.
func NewElsewhere(prepare func()) *Elsewhere {
	e := &Elsewhere{rooms: make(chan *room), over: make(chan struct{})}
	go func() {
		if prepare != nil {
			prepare()
		}
		for {
			r := &room{work: make(chan func(func(func())), 1), calls: make(chan func()), back: make(chan struct{}), done: make(chan struct{})}
			select {
			case e.rooms <- r:
				r.serve()
			case <-e.over:
				return
			}
		}
	}()
	return e
}

// Close ends what NewElsewhere has started; nothing is done any more.
func (e *Elsewhere) Close() { close(e.over) }

func (r *room) serve() {
	defer close(r.done)
	(<-r.work)(func(call func()) {
		r.calls <- call
		<-r.back
	})
}

// do has work done there, and waits for it; what the work does by here is done by the caller. Without an
// Elsewhere all is done by the caller.
func (e *Elsewhere) do(work func(here func(func()))) {
	if e == nil {
		work(func(call func()) { call() })
		return
	}
	r := <-e.rooms
	r.work <- work
	for {
		select {
		case call := <-r.calls:
			call()
			r.back <- struct{}{}
		case <-r.done:
			return
		}
	}
}

// talk has a script run elsewhere, while what it logs and asks stays with the caller. No end of ctx is heard there.
func (e *Elsewhere) talk(ctx context.Context, run *Run, exchange func(context.Context, *Run) (*Answer, error)) (answer *Answer, err error) {
	if e == nil {
		return exchange(ctx, run)
	}
	if run != nil {
		<-time.After(run.turn())
	}
	e.do(func(here func(func())) {
		if run != nil {
			there := *run
			if log := run.Log; log != nil {
				there.Log = func(l Line) { here(func() { log(l) }) }
			}
			if run.Source != nil {
				there.Source = &distant{source: run.Source, ctx: ctx, here: here}
			}
			run = &there
		}
		answer, err = exchange(context.WithoutCancel(ctx), run)
	})
	return answer, err
}

// turn returns how long a script waits that is asked for at the same moment as others: its event and its job say which is first, and not
// what its caller had to do until then.
func (r *Run) turn() time.Duration {
	h := fnv.New32a()
	_, _ = io.WriteString(h, r.Event.Event)
	if r.Event.Job != nil {
		_, _ = io.WriteString(h, r.Event.Job.Name)
	}
	return time.Duration(h.Sum32()%10_000) * 10 * time.Nanosecond
}

// distant asks a source where its caller is.
type distant struct {
	source Source
	ctx    context.Context // the caller's
	here   func(func())
}

// Objects implements Source.
func (d *distant) Objects(_ context.Context, kind, name string, yield func(Object) error) (err error) {
	var found []Object
	d.here(func() {
		err = d.source.Objects(d.ctx, kind, name, func(o Object) error {
			found = append(found, o)
			return nil
		})
	})
	for _, o := range found {
		if err := yield(o); err != nil {
			return err
		}
	}
	return err
}
