package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport/api"
	"rampart/transport/pause"
)

func gossipKeyCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "rotate-gossip-key",
		Usage: "replace the key that encrypts gossip, and wait until the old one is dropped",
		Description: "The leader gives every replica and mom the new key, lets them use it when all have it, and\n" +
			"drops the old one when all use it. It goes on by itself when the command ends or the leader dies.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "look", Usage: "only tell how far it is"},
			&cli.DurationFlag{Name: "wait", Usage: "wait so long", Value: 2 * time.Minute},
			serverFlag,
		},
		Action: func(c *cli.Context) error {
			return RotateGossipKey(c.Context, env, c.String("server"), c.Bool("look"), c.Duration("wait"))
		},
	}
}

// gossipLook is how often the command asks how far it is.
const gossipLook = 500 * time.Millisecond

// RotateGossipKey begins to replace the gossip key and waits for the end of it; with look it
// only tells how far that is.
func RotateGossipKey(ctx context.Context, env *Env, server string, look bool, wait time.Duration) error {
	client, err := env.Trust(server)
	if err != nil {
		return err
	}
	ask := func(look bool) (*api.TurnGossipKeyReply, error) {
		reply, err := client.TurnGossipKey(env.WithRequestID(ctx), connect.NewRequest(&api.TurnGossipKeyRequest{Look: look}))
		if err != nil {
			return nil, fmt.Errorf("cluster rotate-gossip-key: %w", err)
		}
		return reply.Msg, nil
	}
	reply, err := ask(look)
	if err != nil {
		return err
	}
	for end := time.Now().Add(wait); !look && reply.GetKeys() > 1 && time.Now().Before(end); {
		if !pause.For(ctx, gossipLook) {
			return ctx.Err()
		}
		if reply, err = ask(true); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(env.Stdout, gossipText(reply, look))
	return err
}

func gossipText(r *api.TurnGossipKeyReply, look bool) string {
	switch {
	case r.GetKeys() <= 1 && look:
		return "no gossip key is being replaced"
	case r.GetKeys() <= 1:
		return "every member has the new gossip key, and the old one is dropped"
	case len(r.GetWaiting()) == 0:
		return "the gossip key is being replaced; it goes on by itself"
	default:
		return "the gossip key is being replaced; it goes on by itself when these have the keys: " + strings.Join(r.GetWaiting(), ", ")
	}
}
