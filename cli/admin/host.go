package admin

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"
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
			if c.NArg() != 1 || c.Args().First() == "" {
				return errors.New("host forget: name one host")
			}
			return ForgetHost(c.Context, env, c.String("server"), c.Args().First())
		},
	}
}

// ForgetHost ends the wait for a host that is dead, and tells what became of its jobs.
func ForgetHost(ctx context.Context, env *Env, server, host string) error {
	client, err := env.Cluster(server)
	if err != nil {
		return err
	}
	reply, err := client.ForgetHost(env.WithRequestID(ctx), connect.NewRequest(&api.ForgetHostRequest{Host: host}))
	if err != nil {
		return fmt.Errorf("host forget: %w", err)
	}
	_, err = fmt.Fprintf(env.Stdout, "%s is taken for dead: %d jobs queued again, %d ended\n",
		host, reply.Msg.GetRequeued(), reply.Msg.GetEnded())
	return err
}
