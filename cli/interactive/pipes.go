package interactive

import (
	"context"
	"errors"
	"fmt"
	"io"

	"rampart/cli"
	"rampart/transport/streams"
)

// SignalsOf returns what tells of signals to whoever wants an interactive job and has no terminal; nil: nobody can attach here.
func SignalsOf(env *cli.Env) cli.Console {
	if env.Console == nil {
		return nil
	}
	console, _ := env.Console()
	return console
}

// shown returns what is written to where output is shown, and the size of the window.
func (i *Session) shown() (out io.Writer, window func() (rows, columns uint16)) {
	if !i.Piped {
		return i.Env.Stdout, i.Console.Size
	}
	i.parter = &streams.Parter{Output: i.Env.Stdout, Errors: i.Env.Stderr}
	return i.parter, func() (rows, columns uint16) { return 0, 0 }
}

// unshown returns what has kept output from being passed on.
func (i *Session) unshown() error {
	if i.parter == nil || i.parter.Err() == nil {
		return nil
	}
	return fmt.Errorf("output of job %s is lost: %w", i.Job, i.parter.Err())
}

// readPipe passes on all that comes by standard input, and its end.
func (i *Session) readPipe(ctx context.Context, r *remote) {
	buf := make([]byte, 4096)
	for ctx.Err() == nil {
		n, err := i.Env.Stdin.Read(buf)
		r.typed(ctx, buf[:n])
		if err != nil {
			r.change(func() { r.inputEnds = true })
			return
		}
	}
}

// handlePipe deletes the job when a signal comes: there is no key that would reach its programs. By a second signal the session is left.
func (i *Session) handlePipe(ctx context.Context, r *remote, end func()) {
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return
		case <-i.signals:
		}
		if !first {
			leave(r, end)
			return
		}
		go func() {
			if err := i.remove(ctx); !errors.Is(err, errDeleted) && ctx.Err() == nil {
				fmt.Fprintln(i.Env.Stderr, err)
			}
		}()
	}
}
