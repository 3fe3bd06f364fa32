package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport"
	"rampart/transport/api"
)

// TokenOptions says what an enrolment token is good for.
type TokenOptions struct {
	Server   string
	Role     string
	TTL      time.Duration
	Host     string
	Reusable bool
	Submit   bool
}

// Validate reports all faults, each naming its flag.
func (o TokenOptions) Validate() error {
	var faults []error
	roles := []transport.Role{transport.RoleReplica, transport.RoleMom, transport.RoleSubmit}
	if !slices.Contains(roles, transport.Role(o.Role)) {
		faults = append(faults, fmt.Errorf("--role: %q, want one of %v", o.Role, roles))
	}
	if o.TTL < time.Second {
		faults = append(faults, fmt.Errorf("--ttl: %v, want at least a second", o.TTL))
	}
	if o.Submit && o.Role != string(transport.RoleMom) {
		faults = append(faults, errors.New("--submit: only a mom needs it"))
	}
	return errors.Join(faults...)
}

func tokenCommand(env *Env) *cli.Command {
	create := &cli.Command{
		Name:  "create",
		Usage: "print a token with which a process can join; made on a replica's host",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "role", Usage: "what it may become: replica, mom or submit", Required: true},
			&cli.DurationFlag{Name: "ttl", Usage: "how long it is good", Value: time.Hour},
			&cli.StringFlag{Name: "host", Usage: "only this host may use it"},
			&cli.BoolFlag{Name: "reusable", Usage: "good for many joins, until it expires"},
			&cli.BoolFlag{Name: "submit", Usage: "the mom may vouch for any user, not only for owners of jobs on it"},
			serverFlag,
		},
		Action: func(c *cli.Context) error {
			return CreateToken(c.Context, env, TokenOptions{
				Server: c.String("server"), Role: c.String("role"), TTL: c.Duration("ttl"), Host: c.String("host"),
				Reusable: c.Bool("reusable"), Submit: c.Bool("submit"),
			})
		},
	}
	return &cli.Command{Name: "token", Usage: "let processes join", Subcommands: []*cli.Command{create, tokenListCommand(env), tokenRevokeCommand(env)}}
}

// CreateToken prints a fresh enrolment token.
func CreateToken(ctx context.Context, env *Env, o TokenOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	client, err := env.Cluster(o.Server)
	if err != nil {
		return err
	}
	reply, err := client.CreateToken(env.WithRequestID(ctx), connect.NewRequest(&api.CreateTokenRequest{
		Role: o.Role, TtlSeconds: int64(o.TTL / time.Second), Host: o.Host, Reusable: o.Reusable, Submit: o.Submit,
	}))
	if err != nil {
		return fmt.Errorf("token create: %w", err)
	}
	_, err = fmt.Fprintln(env.Stdout, reply.Msg.GetToken())
	return err
}
