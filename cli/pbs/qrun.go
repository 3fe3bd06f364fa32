package pbs

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/transport/api"
)

const qrunUsage = `usage: qrun [-a] [-H vnode-specification] job_identifier_list
       qrun [-a] [-H - ] job_identifier_list
       qrun --version
`

// qrunStatus is qrun's exit status after a refusal, whatever the refusal.
const qrunStatus = 2

func qrun() *cli.Command {
	c := &cli.Command{
		Name: "qrun", Summary: "start jobs now", Grammar: own("aH:"), Usage: qrunUsage, UsageStatus: 1,
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		vnodes := opts.Last("H")
		if opts.Has("H") && vnodes == "" {
			return c.Misuse()
		}
		if vnodes == "-" { // forget the vnodes that the job was given before: it is placed anew
			vnodes = ""
		}
		err := eachJob(ctx, env, c, opts, func(ctx context.Context, s *session, job string) error {
			_, err := s.batch.Run(ctx, connect.NewRequest(&api.RunRequest{Job: job, Vnodes: vnodes}))
			return err
		})
		var status cli.Status
		if errors.As(err, &status) {
			return cli.Status(qrunStatus)
		}
		return err
	}
	return c
}
