package lsf

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"slices"

	"rampart/cli"
	"rampart/fsm/lsf"
)

func bapp() *cli.Command {
	return command("bapp", "show applications", "bapp [-h] [-V] [-w | -l] [application_name ...]\n", cli.Grammar{Letters: "wl"},
		func(ctx context.Context, s *session, opts *cli.Options) error { return s.applications(ctx, opts) })
}

// applications shows the profiles of lsb.applications, with the slots of their jobs.
func (s *session) applications(ctx context.Context, opts *cli.Options) error {
	c, err := s.configuration(ctx)
	if err != nil {
		return err
	}
	names := opts.Operands
	if len(names) == 0 {
		for _, a := range c.Applications {
			names = append(names, a.Name)
		}
		slices.Sort(names)
	}
	if len(names) == 0 {
		return told("No application profiles found")
	}
	tallies, err := s.tallies(ctx, lsf.JobApplication)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(s.env.Stdout)
	shownOne := false
	for _, name := range names {
		a, ok := c.Application(name)
		if !ok {
			_ = out.Flush()
			s.complain(name + ": No such application profile")
			continue
		}
		t := cmp.Or(tallies[name], new(tally))
		switch {
		case opts.Has("l"):
			longApplication(out, a, *t)
		default:
			if !shownOne {
				out.WriteString("APP_NAME            NJOBS     PEND      RUN     SUSP \n")
			}
			width := 15
			if opts.Has("w") {
				width = len(name)
			}
			fmt.Fprintf(out, "%-15.*s %9d %8d %8d %8d \n", width, name, t.total, t.pending, t.running, t.sys+t.user)
		}
		shownOne = true
	}
	return out.Flush()
}

func longApplication(out *bufio.Writer, a lsf.Application, t tally) {
	fmt.Fprintf(out, "\nAPPLICATION NAME: %s\n  -- %s\n\nSTATISTICS:\n   NJOBS     PEND      RUN    SSUSP    USUSP      RSV \n", a.Name, cmp.Or(a.Description, "No description provided."))
	fmt.Fprintf(out, "%8d %8d %8d %8d %8d %8d\n\nPARAMETERS:\n", t.total, t.pending, t.running, t.sys, t.user, t.reserved)
	minutes := func(what string, seconds int64) {
		if seconds > 0 {
			fmt.Fprintf(out, "\n%s\n %.1f min\n", what, float64(seconds)/60)
		}
	}
	minutes("DEFAULT RUNLIMIT", a.RunDefault)
	minutes("RUNLIMIT", a.RunMax)
	minutes("CPULIMIT", a.CPULimit)
	minutes("RUNTIME", a.Runtime)
	if a.Requirement != "" {
		fmt.Fprintf(out, "\nRES_REQ:  %s\n", a.Requirement)
	}
}
