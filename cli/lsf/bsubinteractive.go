package lsf

import (
	"context"
	"fmt"
	"strings"

	"rampart/cli"
	"rampart/cli/interactive"
	"rampart/fsm/spec"
)

// interactive finds the terminal of bsub -I, -Ip, -Is, -IS, -ISp and -ISs, which are the same here: the command has it as its own, and the
// connection is always a secure one. Without a terminal the standard streams of -I, -IS and -IX are the command's. With -IX or -XF
// interactive finds the display of whoever calls, too.
func (s *submission) interactive() (err error) {
	if !s.has("interactive", "") {
		if s.graphic {
			return rejected("option -XF goes with -I: a window needs somebody who waits for it")
		}
		return nil
	}
	switch {
	case s.wait:
		return rejected("options -I and -K are not for one job: -I waits, too")
	case s.has("array_indices_submitted", ""):
		return rejected("option -I: an array cannot be interactive")
	case s.line == "":
		return rejected("option -I goes with a command: of an interactive job standard input is the terminal")
	}
	var ok bool
	if s.console, ok = interactive.ConsoleOf(s.env); !ok {
		if s.console = interactive.SignalsOf(s.env); s.terminal || s.console == nil {
			return rejected("option -I: standard input and output must be a terminal")
		}
		s.piped = true
		s.set("interactive_pipes", "", "True")
	}
	if s.graphic {
		if s.viewer, err = interactive.NewViewer(s.env); err != nil {
			return rejected("option -XF: " + err.Error())
		}
		s.set("forward_x11_cookie", "", s.viewer.Grant())
	}
	s.set("Rerunable", "", "False")
	return nil
}

// interact waits for an interactive job, connects the terminal to it, and has its exit status.
func (s *submission) interact(ctx context.Context, job string) error {
	i := &interactive.Session{Env: s.env, Batch: s.batch, Console: s.console, Viewer: s.viewer, Piped: s.piped, Job: job, Tell: func(m interactive.Moment, hosts string) {
		switch m {
		case interactive.Waits:
			if !s.hushed("BSUB_QUIET") {
				fmt.Fprintln(s.env.Stderr, "<<Waiting for dispatch ...>>")
			}
		case interactive.Ready:
			fmt.Fprintf(s.env.Stderr, "<<Starting on %s>>\n", firstHost(hosts))
		case interactive.Removed:
			fmt.Fprintf(s.env.Stderr, "Job <%s> is being terminated\n", jobNumber(job))
		case interactive.Never:
			fmt.Fprintln(s.env.Stderr, "<<Terminated while pending>>")
		}
	}}
	switch outcome, err := i.Run(ctx); {
	case err != nil:
		return err
	case outcome != interactive.Ended:
		return cli.Status(failed)
	}
	ctx, cancel := interactive.UntilSignalled(ctx, s.console)
	defer cancel()
	return (&waiting{session: s.session, quiet: true}).end(ctx, job)
}

// firstHost returns the first host of an exec_host.
func firstHost(text string) string {
	hosts, err := spec.ParseExecHost(text)
	if err != nil || len(hosts) == 0 {
		return strings.TrimSpace(text)
	}
	return hosts[0].Host
}
