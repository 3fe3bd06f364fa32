package task

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// A Glimpse is some of what a job has written.
type Glimpse struct {
	Data  []byte
	Next  int64 // where the next bytes will be
	Apart bool  // standard error is a file of its own
}

// PeekBytes bounds a glimpse.
const PeekBytes = 256 << 10

// Peek returns what a job that runs here has written from an offset on, to standard output or standard error; below 0: from the offset that it
// returns as the next, which is the end. Of joined streams standard error is empty.
func Peek(ctx context.Context, r *Runner, failure bool, offset int64) (Glimpse, error) {
	t := r.Task()
	if err := noOutput(t); err != nil {
		return Glimpse{}, err
	}
	streams := t.streams()
	g := Glimpse{Apart: len(streams) > 1, Next: max(offset, 0)}
	kind := stdout
	switch {
	case len(streams) == 0, failure && !g.Apart:
		return g, nil
	case !g.Apart:
		kind = streams[0]
	case failure:
		kind = stderr
	}
	err := r.site.output().peek(ctx, t, kind, offset, &g)
	if errors.Is(err, os.ErrNotExist) { // it is being started, or has written nothing yet
		err = nil
	}
	return g, err
}

// noOutput refuses a run that has no file of output on this host.
func noOutput(t Task) error {
	if t.Sister() || t.interactive() {
		return pbs.Errorf(pbs.BadState, "job %s has no output here", t.Key.Job)
	}
	return nil
}

// peek reads a stream where it is written.
func (o *output) peek(ctx context.Context, t Task, kind string, offset int64, g *Glimpse) error {
	w, err := o.open(ctx, t, kind)
	if err != nil {
		return err
	}
	return errors.Join(w.glimpse(ctx, offset, g), w.Close())
}

// A written is a stream of a job that is open for reading where the job writes it.
type written struct {
	*os.File
	own bool // its file is the owner's, and not in the spool
}

// open opens a stream where it is written: in the spool, or as its owner in the place where it is to stay.
func (o *output) open(ctx context.Context, t Task, kind string) (*written, error) {
	f, err := os.OpenFile(o.spool.Output(t.Key.Job, kind), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err == nil {
		return &written{File: f}, nil
	}
	if !errors.Is(err, os.ErrNotExist) || !t.kept(kind) {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, noteWait)
	defer cancel()
	a, err := o.owners.account(ctx, t)
	if err != nil {
		return nil, err
	}
	opened := make(chan *os.File, 1) // one that comes when nobody waits any more is closed
	path := o.direct(t, a, kind)
	err = proc.AsOwner(ctx, o.owners.owner(a), func() error {
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err == nil && ctx.Err() != nil {
			return errors.Join(ctx.Err(), f.Close())
		}
		opened <- f
		return err
	})
	if err != nil {
		return nil, err
	}
	return &written{File: <-opened, own: true}, nil
}

// glimpse reads from an offset on. A read of the owner's file that hangs, for a file system may, is left alone.
func (w *written) glimpse(ctx context.Context, offset int64, g *Glimpse) error {
	if !w.own {
		return glimpse(w.File, offset, g)
	}
	ctx, cancel := context.WithTimeout(ctx, noteWait)
	defer cancel()
	seen := *g
	err := proc.AsOwner(ctx, nil, func() error { return glimpse(w.File, offset, &seen) }) // it is open: no rights are asked for
	if err == nil {
		*g = seen
	}
	return err
}

// glimpse reads from an offset of a file.
func glimpse(f *os.File, offset int64, g *Glimpse) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return pbs.Errorf(pbs.BadState, "%s is no file of output", f.Name())
	}
	if offset < 0 {
		g.Next = info.Size()
		return nil
	}
	data := make([]byte, max(min(info.Size()-offset, PeekBytes), 0))
	n, err := f.ReadAt(data, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	g.Data, g.Next = data[:n], offset+int64(n)
	return err
}
