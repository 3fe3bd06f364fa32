package admin

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"rampart/transport/api"
)

func accountCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "account",
		Usage: "tell the replicas about users",
		Subcommands: []*cli.Command{{
			Name:      "forget",
			Usage:     "have the directory of users asked anew for somebody",
			ArgsUsage: "USER",
			Description: "What the directory has told of a user is kept for a day, and of owners of jobs for longer, in\n" +
				"case it does not answer. When a user was removed, or his groups were changed, while it did not,\n" +
				"this has every replica forget what it knows of him at once: he is refused until the directory\n" +
				"answers, and then treated as it says. His jobs stay; delete them if they should not run.",
			Flags: []cli.Flag{serverFlag},
			Action: func(c *cli.Context) error {
				user, err := Operand(c, "account forget", "user")
				if err != nil {
					return err
				}
				return ForgetAccount(c.Context, env, c.String("server"), user)
			},
		}},
	}
}

// ForgetAccount has every replica ask the directory of users anew for somebody.
func ForgetAccount(ctx context.Context, env *Env, server, user string) error {
	client, err := env.Trust(server)
	if err != nil {
		return err
	}
	return do(ctx, env, "account forget", client.ForgetAccount, &api.ForgetAccountRequest{User: user}, func(*api.ForgetAccountReply) string {
		return fmt.Sprintf("what was known of %s is forgotten on every replica\n", user)
	})
}
