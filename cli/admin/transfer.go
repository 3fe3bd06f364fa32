package admin

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport/api"
)

func transferCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "transfer",
		Usage:     "hand leadership to another replica",
		ArgsUsage: "[REPLICA]",
		Flags:     []cli.Flag{serverFlag},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return fmt.Errorf("cluster transfer: name one replica at most")
			}
			return Transfer(c.Context, env, c.String("server"), c.Args().First())
		},
	}
}

// Transfer hands leadership to the replica, or to the best one, and prints who leads.
func Transfer(ctx context.Context, env *Env, server, to string) error {
	client, err := env.Cluster(server)
	if err != nil {
		return err
	}
	reply, err := client.Transfer(env.WithRequestID(ctx), connect.NewRequest(&api.TransferRequest{To: to}))
	if err != nil {
		return fmt.Errorf("cluster transfer: %w", err)
	}
	_, err = fmt.Fprintf(env.Stdout, "leader: %s\n", reply.Msg.GetLeader())
	return err
}
