package admin

import (
	"context"

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
			to, err := OperandAtMost(c, "cluster transfer")
			if err != nil {
				return err
			}
			return Transfer(c.Context, env, c.String("server"), to)
		},
	}
}

// Transfer hands leadership to the replica, or to the best one, and prints who leads.
func Transfer(ctx context.Context, env *Env, server, to string) error {
	client, err := env.Cluster(server)
	if err != nil {
		return err
	}
	return do(ctx, env, "cluster transfer", client.Transfer, &api.TransferRequest{To: to}, func(r *api.TransferReply) string {
		return "leader: " + r.GetLeader() + "\n"
	})
}
