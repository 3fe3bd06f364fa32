package pbs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

func qmove() *cli.Command {
	c := &cli.Command{
		Name: "qmove", Summary: "move jobs to another queue", Grammar: own(""), UsageStatus: 2,
		Usage: "usage: qmove destination job_identifier...\n       qmove --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		if len(opts.Operands) < 2 {
			return c.Misuse()
		}
		jobs := opts.Only(opts.Operands[1:])
		destination, server, at := strings.Cut(opts.Operands[0], "@")
		if destination == "" && server == "" || at && server == "" || len(destination) > pbs.MaxQueueName {
			fmt.Fprintf(env.Stderr, "%s: illegally formed destination: %s\n", c.Name, opts.Operands[0])
			return cli.Status(c.UsageStatus)
		}
		s, err := open(env, c, opts)
		if err != nil {
			return err
		}
		if err := s.checkServer(ctx, server); err != nil {
			return err
		}
		return s.eachJob(ctx, jobs, func(ctx context.Context, s *session, job string) error {
			_, err := s.batch.Move(ctx, connect.NewRequest(&api.MoveRequest{Job: job, Destination: destination}))
			return err
		})
	}
	return c
}

func qorder() *cli.Command {
	c := &cli.Command{
		Name: "qorder", Summary: "exchange the places of two jobs", Grammar: own(""), UsageStatus: 2,
		Usage: "usage: qorder job_identifier job_identifier\n       qorder --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		if len(opts.Operands) != 2 {
			return c.Misuse()
		}
		if _, err := pbs.ParseJobID(opts.Operands[1], "server"); err != nil {
			return err
		}
		other, _, _ := strings.Cut(opts.Operands[1], "@")
		jobs := opts.Only(opts.Operands[:1])
		return eachJob(ctx, env, c, jobs, func(ctx context.Context, s *session, job string) error {
			_, err := s.batch.Swap(ctx, connect.NewRequest(&api.SwapRequest{Job: job, Other: other}))
			if e, ok := errors.AsType[*pbs.Error](err); ok && e.Operand > 0 {
				err = &ofJob{err, other}
			}
			return err
		})
	}
	return c
}

func qmsg() *cli.Command {
	c := &cli.Command{
		Name: "qmsg", Summary: "write messages into the output of jobs", Grammar: own("EO"), UsageStatus: 2,
		Usage: "usage: qmsg [-O] [-E] string job_identifier...\n       qmsg --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		if len(opts.Operands) < 2 {
			return c.Misuse()
		}
		text, output := opts.Operands[0], opts.Has("O")
		jobs := opts.Only(opts.Operands[1:])
		return eachJob(ctx, env, c, jobs, func(ctx context.Context, s *session, job string) error {
			_, err := s.batch.Message(ctx, connect.NewRequest(&api.MessageRequest{
				Job: job, Text: text, Output: output, Error: opts.Has("E") || !output,
			}))
			return err
		})
	}
	return c
}
