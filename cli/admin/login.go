package admin

import (
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport/api"
)

func loginCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "login",
		Usage: "print a short-lived token with which curl or a laptop can speak for you",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "ttl", Usage: "how long it is good", Value: time.Hour},
			serverFlag,
		},
		Action: func(c *cli.Context) error {
			return Login(c.Context, env, c.String("server"), c.Duration("ttl"))
		},
	}
}

// Login prints a login token of the caller.
func Login(ctx context.Context, env *Env, server string, ttl time.Duration) error {
	if ttl < time.Second {
		return fmt.Errorf("--ttl: %v, want at least a second", ttl)
	}
	client, err := env.Cluster(server)
	if err != nil {
		return err
	}
	reply, err := client.Login(env.WithRequestID(ctx), connect.NewRequest(&api.LoginRequest{TtlSeconds: int64(ttl / time.Second)}))
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	_, err = fmt.Fprintln(env.Stdout, reply.Msg.GetToken())
	return err
}
