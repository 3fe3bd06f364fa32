package admin

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"rampart/transport/api"
)

func hostCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:        "host",
		Usage:       "tell the replicas about execution hosts",
		Subcommands: []*cli.Command{forgetCommand(env)},
	}
}

func forgetCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "forget",
		Usage:     "say that a silent host is dead",
		ArgsUsage: "HOST",
		Description: "The replicas keep the jobs of a host that is down until its jobs must have ended\n" +
			"themselves (node_fail_requeue). This is your word that none of them lives: they are\n" +
			"queued again at once, or ended if they are not rerunnable. If one does live, it runs twice.\n" +
			"A host that is up is refused. If the host comes back, what it still runs is killed.",
		Flags: []cli.Flag{serverFlag},
		Action: func(c *cli.Context) error {
			host, err := Operand(c, "host forget", "host")
			if err != nil {
				return err
			}
			return ForgetHost(c.Context, env, c.String("server"), host)
		},
	}
}

// ForgetHost ends the wait for a host that is dead, and tells what became of its jobs.
func ForgetHost(ctx context.Context, env *Env, server, host string) error {
	client, err := env.Cluster(server)
	if err != nil {
		return err
	}
	return do(ctx, env, "host forget", client.ForgetHost, &api.ForgetHostRequest{Host: host}, func(r *api.ForgetHostReply) string {
		return fmt.Sprintf("%s is taken for dead: %d jobs queued again, %d ended\n", host, r.GetRequeued(), r.GetEnded())
	})
}
