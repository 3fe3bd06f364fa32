package pbs

import (
	"context"
	"errors"
	"fmt"
	"io"

	"rampart/cli"
	"rampart/cli/interactive"
)

// interact waits for an interactive job, connects the terminal to it, and tells of its end.
func (s *session) interact(ctx context.Context, console cli.Console, viewer *interactive.Viewer, job string) error {
	i := &interactive.Session{Env: s.env, Batch: s.batch, Console: console, Viewer: viewer, Job: job, Tell: func(m interactive.Moment, _ string) {
		switch m {
		case interactive.Waits:
			fmt.Fprintf(s.env.Stdout, "qsub: waiting for job %s to start\n", job)
		case interactive.Never:
			fmt.Fprintf(s.env.Stdout, "qsub: job %s apparently deleted\n", job)
		case interactive.Removed:
			fmt.Fprintf(s.env.Stdout, "Job %s is being deleted\n", job)
		case interactive.Ready:
			fmt.Fprintf(s.env.Stdout, "qsub: job %s ready\n\n", job)
		case interactive.Over:
			fmt.Fprintf(s.env.Stdout, "\nqsub: job %s completed\n", job)
		}
	}}
	switch outcome, err := i.Run(ctx); {
	case err != nil:
		s.fail(err, func(text string) string { return text + " " + job })
		return s.end()
	case outcome == interactive.NotStarted:
		return cli.Status(1)
	}
	return nil
}

// consoleOf returns the terminal of whoever wants an interactive job.
func consoleOf(env *cli.Env) (cli.Console, error) {
	if c, ok := interactive.ConsoleOf(env); ok {
		return c, nil
	}
	return nil, errNoTerminal
}

func (r *request) interactive() bool { return r.value("interactive") == "True" }

// completeInteractive refuses what an interactive job cannot be, and says which terminal
// it will have. With -X it returns who shows its programs.
func (r *request) completeInteractive() (viewer *interactive.Viewer, err error) {
	if r.value("block") == "True" {
		return nil, errors.New("interactive and block job submission is not supported")
	}
	if r.graphic {
		if viewer, err = interactive.NewViewer(r.env); err != nil {
			return nil, err
		}
		r.set("forward_x11_cookie", "", viewer.Grant())
	}
	if r.value("Rerunable") == "True" {
		io.WriteString(r.env.Stderr, "qsub (Warning): Interactive jobs will be treated as not rerunnable\n")
	}
	r.set("Rerunable", "", "False")
	return viewer, nil
}
