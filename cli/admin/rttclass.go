package admin

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"rampart/transport/api"
)

func rttClassCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "rtt-class",
		Usage:     "show or change how far the replicas are from each other",
		ArgsUsage: "[lan|metro|wan]",
		Description: "It multiplies the times of elections, leases and gossip by 1, 2 or 5: for round trips between\n" +
			"replicas of up to some 20, 50 or 150 milliseconds. A replica takes it up when it is started next.",
		Flags: []cli.Flag{serverFlag},
		Action: func(c *cli.Context) error {
			class, err := OperandAtMost(c, "cluster rtt-class")
			if err != nil {
				return err
			}
			return RTTClass(c.Context, env, c.String("server"), class)
		},
	}
}

// RTTClass sets the class, unless it is empty, and prints which one it is and who has to be
// restarted.
func RTTClass(ctx context.Context, env *Env, server, class string) error {
	client, err := env.Members(server)
	if err != nil {
		return err
	}
	return do(ctx, env, "cluster rtt-class", client.RTTClass, &api.RTTClassRequest{RttClass: class}, func(r *api.RTTClassReply) string {
		text := r.GetRttClass() + "\n"
		if waiting := r.GetWaiting(); len(waiting) > 0 {
			text += "restart these one after the other: " + strings.Join(waiting, ", ") + "\n"
		}
		return text
	})
}
