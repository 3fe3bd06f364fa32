package lsf

import (
	"context"
	"io"

	"rampart/cli"
)

// Commands about what there is not: they answer as LSF does where nobody has used it, so that scripts of a site go on.

// none says of each name that there is no such object, or, if nobody named one, that there is none at all.
func none(s *session, names []string, atAll, such string) error {
	if len(names) == 0 {
		return told(atAll)
	}
	for _, name := range names {
		s.complain(name + ": " + such)
	}
	return nil
}

func bugroup() *cli.Command {
	return command("bugroup", "show user groups", "bugroup [-h] [-V] [-l] [-r] [-w] [user_group ...]\n", cli.Grammar{Letters: "lrw"},
		func(_ context.Context, s *session, opts *cli.Options) error {
			return none(s, opts.Operands, "No user group found", "No such user group")
		})
}

func bjgroup() *cli.Command {
	return command("bjgroup", "show job groups", "bjgroup [-h] [-V] [-N] [-s [group_name]]\n", cli.Grammar{Letters: "sN"},
		func(context.Context, *session, *cli.Options) error { return told("No job group found") })
}

func bclusters() *cli.Command {
	return command("bclusters", "show what is exchanged with other clusters", "bclusters [-h] [-V] [-w]\n", cli.Grammar{Letters: "w"},
		func(_ context.Context, s *session, _ *cli.Options) error {
			_, err := io.WriteString(s.env.Stdout, "[Job Forwarding Information ]\nNo local queue sending/receiving jobs from remote clusters\n\n"+
				"[Resource Lease Information ]\nNo resources have been exported or borrowed\n")
			return err
		})
}

func bsla() *cli.Command {
	return command("bsla", "show service classes", "bsla [-h] [-V] [-N] [service_class ...]\n", cli.Grammar{Letters: "N"},
		func(_ context.Context, s *session, opts *cli.Options) error {
			return none(s, opts.Operands, "No SLA found", "No such SLA")
		})
}
