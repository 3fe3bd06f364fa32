package pbs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// releaseNodes is pbs_release_nodes (specification: ramp-down sections 2 and 4).
func releaseNodes() *cli.Command {
	c := &cli.Command{
		Name: "pbs_release_nodes", Summary: "give vnodes of a running job back", Grammar: own("j:ak:"), UsageStatus: 2,
		Usage: "usage: pbs_release_nodes [-j job_identifier] host_or_vnode1 host_or_vnode2 ...\n" +
			"       pbs_release_nodes [-j job_identifier] -a\n" +
			"       pbs_release_nodes [-j job_identifier] -k <select string>\n" +
			"       pbs_release_nodes [-j job_identifier] -k <node count>\n" +
			"       pbs_release_nodes --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		all, keep := opts.Has("a"), opts.Has("k")
		switch {
		case all && keep:
			return c.Misuse("-a and -k options cannot be used together")
		case keep && len(opts.Operands) > 0:
			return c.Misuse("cannot supply node list with -k option")
		case all == (len(opts.Operands) > 0) && !keep:
			return c.Misuse()
		case slices.Contains(opts.Operands, ""): // a variable that is not set names nothing, and not all
			return c.Misuse()
		}
		job := opts.Last("j")
		if job == "" {
			job = env.Getenv("PBS_JOBID")
		}
		if job == "" {
			fmt.Fprintf(env.Stderr, "%s: No jobid given\n", c.Name)
			return cli.Status(c.UsageStatus)
		}
		if _, err := pbs.ParseJobID(job, "server"); err != nil && !pbs.NamesReservation(job) {
			fmt.Fprintf(env.Stderr, "%s: illegally formed job identifier: %s\n", c.Name, job)
			return cli.Status(c.UsageStatus)
		}
		s, err := open(env, c, opts)
		if err != nil {
			return err
		}
		job, err = s.meanOf(job)
		if err != nil {
			s.fail(err, nil)
			return s.end()
		}
		r := &api.ReleaseNodesRequest{Job: job, Vnodes: strings.Join(opts.Operands, "+"), Keep: opts.Last("k")}
		if keep && r.Keep == "" {
			r.Keep = "0" // an empty select is none, and not the absence of one
		}
		if _, err := s.batch.ReleaseNodes(s.only(ctx), connect.NewRequest(r)); err != nil {
			s.fail(err, func(text string) string {
				if errors.Is(err, pbs.Refuse(pbs.UnknownJob)) {
					return text + " " + s.fullID(ctx, job)
				}
				return text
			})
		}
		return s.end()
	}
	return c
}
