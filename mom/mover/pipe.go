package mover

import (
	"context"
	"errors"

	"rampart/mom/files"
	"rampart/mom/proc"
)

// A message is an entry, or data of the last one.
type message struct {
	entry *files.Entry
	data  []byte
}

// to gives the message to a sink.
func (m message) to(sink files.Sink) error {
	if m.entry != nil {
		return sink.Entry(*m.entry)
	}
	_, err := sink.Write(m.data)
	return err
}

// Files are read and written in a thread with the owner's rights, which may hang with a file
// system; the network is used by whoever calls. So nobody touches a stream that has ended.

// A feed is a Sink whose messages another goroutine takes.
type feed struct {
	ctx context.Context
	to  chan<- message
}

func (f feed) put(m message) error {
	select {
	case f.to <- m:
		return nil
	case <-f.ctx.Done():
		return context.Cause(f.ctx)
	}
}

func (f feed) Entry(e files.Entry) error { return f.put(message{entry: &e}) }

func (f feed) Write(p []byte) (int, error) {
	return len(p), f.put(message{data: append([]byte(nil), p...)})
}

// read sends what path names, as the owner, and returns what was sent.
func read(ctx context.Context, owner *proc.Owner, path string, send func(message) error) ([]string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	messages, done, sent := make(chan message), make(chan error, 1), new([]string)
	go func() {
		done <- proc.AsOwner(ctx, owner, func() (err error) {
			*sent, err = files.Send(path, feed{ctx, messages})
			return err
		})
	}()
	for {
		select {
		case m := <-messages:
			if err := send(m); err != nil {
				cancel(err)
				<-done
				return nil, err
			}
		case err := <-done:
			if err != nil {
				return nil, err
			}
			return *sent, nil
		}
	}
}

// errEnd says that all has come; the end of a stream does not.
var errEnd = errors.New("end of files")

// errStop ends a writing whose data does not come any more.
var errStop = errors.New("the transfer has ended")

// write puts what next returns, until errEnd, in its place, as the owner.
func write(ctx context.Context, owner *proc.Owner, target files.Target, next func() (message, error)) (files.Moved, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	messages, done, moved := make(chan message), make(chan error, 1), new(files.Moved)
	go func() {
		done <- proc.AsOwner(ctx, owner, func() error {
			r := files.NewReceiver(target)
			defer r.Close()
			err := drain(ctx, messages, r)
			*moved = files.Moved{Wrote: r.Wrote(), Same: r.Same()}
			return err
		})
	}()
	for {
		m, err := next()
		if errors.Is(err, errEnd) {
			close(messages)
			break
		}
		if err != nil {
			cancel(errStop)
			<-done
			return files.Moved{}, err
		}
		select {
		case messages <- m:
			continue
		case err := <-done: // it cannot be written, or hangs
			return finished(moved, err)
		}
	}
	return finished(moved, <-done)
}

// finished returns what was moved, unless whoever moves it may be at it still.
func finished(moved *files.Moved, err error) (files.Moved, error) {
	if _, own := errors.AsType[*files.Error](err); err != nil && !own {
		return files.Moved{}, err
	}
	return *moved, err
}

func drain(ctx context.Context, messages <-chan message, r *files.Receiver) error {
	for {
		select {
		case m, more := <-messages:
			if !more {
				return r.Finish()
			}
			if err := m.to(r); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
