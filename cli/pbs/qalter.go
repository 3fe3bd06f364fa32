package pbs

import (
	"context"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/transport/api"
)

const qalterUsage = `usage: qalter [-a date_time] [-A account_string] [-c interval]
	[-e path] [-h hold_list] [-j y|n] [-k keep] [-l resource_list]
	[-m mail_options] [-M user_list] [-N jobname] [-o path] [-p priority]
	[-P project] [-r y|n] [-R o|e|oe] [-S path] [-u user_list]
	[-W otherattributes=value...] job_identifier...
       qalter --version
`

func qalter() *cli.Command {
	c := &cli.Command{
		Name: "qalter", Summary: "change jobs", Grammar: own(alterLetters), Usage: qalterUsage, UsageStatus: 2,
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		r := &request{env: env, qalter: true}
		r.read(opts)
		if err := r.verdict(c); err != nil {
			return err
		}
		return eachJob(ctx, env, c, opts, func(ctx context.Context, s *session, job string) error {
			_, err := s.batch.Alter(ctx, connect.NewRequest(&api.AlterRequest{Job: job, Changes: r.changes}))
			return err
		})
	}
	return c
}
