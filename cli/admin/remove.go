package admin

import (
	"context"
	"strings"

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
			name, err := Operand(c, "cluster remove", "replica")
			if err != nil {
				return err
			}
			return RemoveReplica(c.Context, env, c.String("server"), name)
		},
	}
}

// RemoveReplica takes a replica out of the cluster, and says what is left to do.
func RemoveReplica(ctx context.Context, env *Env, server, name string) error {
	client, err := env.Members(server)
	if err != nil {
		return err
	}
	return do(ctx, env, "cluster remove", client.RemoveReplica, &api.RemoveReplicaRequest{Replica: name}, func(r *api.RemoveReplicaReply) string {
		return removedText(name, r)
	})
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
