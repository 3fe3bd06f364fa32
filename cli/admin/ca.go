package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/pause"
)

func caCommand(env *Env) *cli.Command {
	rotate := &cli.Command{
		Name:  "rotate",
		Usage: "replace the CA, and wait until the old one is dropped",
		Description: "The leader makes a new CA, whose key goes to the other replicas only. When all have it, moms and\n" +
			"login hosts get new certificates, then the replicas; then the old CA is dropped. Both are trusted\n" +
			"meanwhile. It goes on by itself when the command ends or the leader dies.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "look", Usage: "only tell how far it is"},
			&cli.BoolFlag{Name: "finish", Usage: "do not wait for hosts that have not renewed: they have to join again"},
			&cli.BoolFlag{Name: "abandon", Usage: "give the new CA up, as long as it has signed nothing"},
			&cli.DurationFlag{Name: "wait", Usage: "wait so long", Value: 2 * time.Minute},
			serverFlag,
		},
		Action: func(c *cli.Context) error {
			way, err := wayOf(c)
			if err != nil {
				return err
			}
			return RotateCA(c.Context, env, c.String("server"), way, c.Duration("wait"))
		},
	}
	return &cli.Command{Name: "ca", Usage: "back up and replace the cluster's CA", Subcommands: []*cli.Command{rotate}}
}

func wayOf(c *cli.Context) (way api.TurnCARequest_Way, err error) {
	way = api.TurnCARequest_WAY_BEGIN
	given := 0
	for name, w := range map[string]api.TurnCARequest_Way{
		"look": api.TurnCARequest_WAY_LOOK, "finish": api.TurnCARequest_WAY_FINISH, "abandon": api.TurnCARequest_WAY_ABANDON,
	} {
		if c.Bool(name) {
			way, given = w, given+1
		}
	}
	if given > 1 {
		return way, errors.New("ca rotate: one of --look, --finish and --abandon")
	}
	return way, nil
}

// RotateCA begins to replace the CA, or does otherwise as way says, and waits for the end of
// it unless it was only to tell.
func RotateCA(ctx context.Context, env *Env, server string, way api.TurnCARequest_Way, wait time.Duration) error {
	client, err := env.Trust(server)
	if err != nil {
		return err
	}
	ask := func(way api.TurnCARequest_Way) (*api.TurnCAReply, error) {
		reply, err := client.TurnCA(env.WithRequestID(ctx), connect.NewRequest(&api.TurnCARequest{Way: way}))
		if err != nil {
			return nil, fmt.Errorf("ca rotate: %w", err)
		}
		return reply.Msg, nil
	}
	reply, err := ask(way)
	if err != nil {
		return err
	}
	if settled(reply) && way == api.TurnCARequest_WAY_FINISH { // there was nothing to hurry
		way = api.TurnCARequest_WAY_LOOK
	}
	look := way == api.TurnCARequest_WAY_LOOK
	for end := time.Now().Add(wait); !look && !settled(reply) && time.Now().Before(end); {
		if !pause.For(ctx, gossipLook) {
			return ctx.Err()
		}
		if reply, err = ask(api.TurnCARequest_WAY_LOOK); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(env.Stdout, caText(reply, way))
	return err
}

func settled(r *api.TurnCAReply) bool {
	return transport.RootStep(r.GetStep()) == transport.RootsSettled
}

// caSteps says what is being done in each step.
var caSteps = map[transport.RootStep]string{
	transport.RootsLearned: "the new CA is made known, and replicas get its key",
	transport.RootsLeaves:  "moms and login hosts get certificates of the new CA",
	transport.RootsAll:     "replicas get certificates of the new CA",
}

func caText(r *api.TurnCAReply, way api.TurnCARequest_Way) string {
	switch {
	case settled(r) && way == api.TurnCARequest_WAY_LOOK:
		return "the CA is not being replaced"
	case settled(r) && way == api.TurnCARequest_WAY_ABANDON:
		return "there is no new CA"
	case settled(r):
		return "the old CA is dropped; back the new one up (rampart ca export), and hand its ca.pem to those who use the old one"
	}
	text := caSteps[transport.RootStep(r.GetStep())] + "; it goes on by itself"
	if len(r.GetWaiting()) > 0 {
		text += " when these have followed: " + strings.Join(r.GetWaiting(), ", ")
	}
	return text
}
