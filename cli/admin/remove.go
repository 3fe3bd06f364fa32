package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport/api"
)

func removeCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "remove",
		Usage:     "take a replica out of the cluster for good",
		ArgsUsage: "REPLICA",
		Description: "It votes no more, is off the record, and its certificate is revoked; the gossip key, which it\n" +
			"knows, is replaced. A leader hands over first. Refused when those left that answer would be no\n" +
			"quorum. Its host comes back only as a new replica, into an empty home, with a new token:\n" +
			"rampart token create --role replica --host REPLICA.",
		Flags: []cli.Flag{serverFlag},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 || c.Args().First() == "" {
				return errors.New("cluster remove: name one replica")
			}
			return RemoveReplica(c.Context, env, c.String("server"), c.Args().First())
		},
	}
}

// RemoveReplica takes a replica out of the cluster, and says what is left to do.
func RemoveReplica(ctx context.Context, env *Env, server, name string) error {
	client, err := env.Members(server)
	if err != nil {
		return err
	}
	reply, err := client.RemoveReplica(env.WithRequestID(ctx), connect.NewRequest(&api.RemoveReplicaRequest{Replica: name}))
	if err != nil {
		return fmt.Errorf("cluster remove: %w", err)
	}
	_, err = io.WriteString(env.Stdout, removedText(name, reply.Msg))
	return err
}

func removedText(name string, r *api.RemoveReplicaReply) string {
	lines := []string{name + " is removed"}
	if r.GetPending() {
		lines = []string{name + " has no vote any more; it is cut off within seconds"}
	}
	lines = append(lines, "stop `rampart server` on its host")
	if r.GetGossipTurning() {
		lines = append(lines, "the gossip key is being replaced: rampart cluster rotate-gossip-key --look")
	}
	lines = append(lines, "it has the key of the CA: if that may have been taken, only a new CA shuts its holder out: rampart ca rotate")
	return strings.Join(lines, "\n") + "\n"
}
