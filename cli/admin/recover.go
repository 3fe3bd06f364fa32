package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport/api"
	"rampart/transport/pause"
)

// RecoverOptions says what `cluster recover` does.
type RecoverOptions struct {
	Server string
	Lost   []string
	Look   bool
}

func recoverCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "recover",
		Usage: "go on with what survived when a majority of the replicas is lost for good",
		Description: "Run it on a host whose `rampart server` runs. It asks every replica how far its log reaches; the\n" +
			"one with the furthest goes on as the only voter, under a new epoch, and the other survivors begin\n" +
			"anew and are sent the state. What only the lost ones had is gone. Refused while a quorum answers,\n" +
			"while one that is named answers, and while one does not that is not named.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "lost", Usage: "the replicas that are lost for good, `NAME,...`: all that do not answer"},
			&cli.BoolFlag{Name: "look", Usage: "only tell what would be done"},
			serverFlag,
		},
		Action: func(c *cli.Context) error {
			o := RecoverOptions{Server: c.String("server"), Look: c.Bool("look")}
			for _, list := range c.StringSlice("lost") {
				o.Lost = append(o.Lost, strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })...)
			}
			if c.NArg() > 0 || len(o.Lost) == 0 && !o.Look {
				return errors.New("cluster recover: name the replicas that are lost for good: --lost NAME,...; --look tells what would be done")
			}
			return Recover(c.Context, env, o)
		},
	}
}

// Recover has the survivors of a disaster go on, and returns when one of them leads.
func Recover(ctx context.Context, env *Env, o RecoverOptions) error {
	client, err := env.Recovery(o.Server)
	if err != nil {
		return err
	}
	reply, err := client.Recover(ctx, connect.NewRequest(&api.RecoverRequest{Lost: o.Lost, Look: o.Look}))
	if err != nil {
		return fmt.Errorf("cluster recover: %w", err)
	}
	if _, err := io.WriteString(env.Stdout, planText(reply.Msg)); err != nil || o.Look {
		return err
	}
	leader, err := awaitRecovery(ctx, env, o.Server, reply.Msg)
	if err != nil {
		return fmt.Errorf("cluster recover: it was decided, and %w; see `rampart cluster status` and the log of the replica that goes on", err)
	}
	_, err = fmt.Fprintf(env.Stdout, "recovered: %s leads, epoch %d\n"+
		"next: let as many replicas join as there were. A lost one joins by itself when it is started with an empty disk\n", leader, reply.Msg.GetEpoch())
	return err
}

func planText(r *api.RecoverReply) string {
	will := "goes on"
	var lines []string
	for _, s := range r.GetSurvivors() {
		lines = append(lines, fmt.Sprintf("%s: its log ends at index %d of term %d: %s", replicaName(s.GetServerId()), s.GetIndex(), s.GetTerm(), will))
		will = "begins anew, its stores are set aside"
	}
	var lost []string
	for _, id := range r.GetLost() {
		lost = append(lost, replicaName(id))
	}
	lines = append(lines, "lost: "+strings.Join(lost, ", "))
	first := r.GetSurvivors()[0]
	if at := r.GetUnixNano(); at != 0 {
		lines = append(lines, fmt.Sprintf("the state of %s is of %s: what was acknowledged later on the word of lost replicas alone is gone",
			replicaName(first.GetServerId()), time.Unix(0, at).UTC().Format(time.RFC3339)))
	}
	if n := r.GetCommitted(); n > 0 && n < first.GetIndex() {
		lines = append(lines, fmt.Sprintf("nobody knows whether the entries %d to %d of its log were committed: from now on they are", n+1, first.GetIndex()))
	}
	return strings.Join(lines, "\n") + "\n"
}

// replicaName returns the name in a server id, NAME.DISKID.
func replicaName(id string) string {
	if i := strings.LastIndexByte(id, '.'); i >= 0 {
		return id[:i]
	}
	return id
}

const (
	recoveredWithin = time.Minute
	recoveredEvery  = 200 * time.Millisecond
)

// awaitRecovery returns who leads when the lost ones are members no more.
func awaitRecovery(ctx context.Context, env *Env, server string, r *api.RecoverReply) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, recoveredWithin)
	defer cancel()
	for {
		if leader := leaderWithout(ctx, env, server, r.GetLost()); leader != "" {
			return leader, nil
		}
		if !pause.For(ctx, recoveredEvery) {
			return "", fmt.Errorf("nobody leads within %s", recoveredWithin)
		}
	}
}

// leaderWithout returns the leader of a cluster to which none of the servers belongs, "" if
// there is none yet.
func leaderWithout(ctx context.Context, env *Env, server string, lost []string) string {
	client, err := env.Cluster(server)
	if err != nil {
		return ""
	}
	reply, err := client.Status(ctx, connect.NewRequest(&api.StatusRequest{}))
	if err != nil {
		return ""
	}
	leader := ""
	for _, s := range reply.Msg.GetReplicas() {
		if slices.Contains(lost, s.GetServerId()) {
			return ""
		}
		if s.GetRole() == "leader" && s.GetAppliedIndex() > 0 {
			leader = s.GetName()
		}
	}
	return leader
}
