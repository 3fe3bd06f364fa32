package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport/api"
)

// StatusOptions says what `cluster status` prints.
type StatusOptions struct {
	Server string
	JSON   bool
}

func statusCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "tell who leads, who follows, and how far each has come",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print the form that stays stable"}, serverFlag},
		Action: func(c *cli.Context) error {
			return Status(c.Context, env, StatusOptions{Server: c.String("server"), JSON: c.Bool("json")})
		},
	}
}

// Status prints the state of every replica.
func Status(ctx context.Context, env *Env, o StatusOptions) error {
	client, err := env.Cluster(o.Server)
	if err != nil {
		return err
	}
	reply, err := client.Status(ctx, connect.NewRequest(&api.StatusRequest{}))
	if err != nil {
		return fmt.Errorf("cluster status: %w", err)
	}
	if o.JSON {
		return statusJSON(env.Stdout, reply.Msg)
	}
	return statusTable(env.Stdout, reply.Msg)
}

type faultJSON struct {
	Index uint64 `json:"index"`
	Text  string `json:"text"`
}

type differenceJSON struct {
	Replica string    `json:"replica"`
	Index   uint64    `json:"index"`
	Found   time.Time `json:"found"`
}

type replicaJSON struct {
	Name          string   `json:"name"`
	ID            string   `json:"id,omitempty"`
	Address       string   `json:"address"`
	Role          string   `json:"role"`
	Term          uint64   `json:"term"`
	CommitIndex   uint64   `json:"commit_index"`
	AppliedIndex  uint64   `json:"applied_index"`
	Version       string   `json:"version,omitempty"`
	LastContactMS int64    `json:"last_contact_ms"`
	Digest        string   `json:"digest,omitempty"`
	Alarms        []string `json:"alarms,omitempty"`
}

func statusJSON(w io.Writer, s *api.StatusReply) error {
	out := struct {
		Server       string           `json:"server"`
		FeatureLevel uint32           `json:"feature_level"`
		Replicas     []replicaJSON    `json:"replicas"`
		Faults       []faultJSON      `json:"faults,omitempty"`
		Differences  []differenceJSON `json:"differences,omitempty"`
	}{Server: s.GetServer(), FeatureLevel: s.GetFeatureLevel(), Replicas: []replicaJSON{}}
	for _, f := range s.GetFaults() {
		out.Faults = append(out.Faults, faultJSON{f.GetIndex(), f.GetText()})
	}
	for _, d := range s.GetDifferences() {
		out.Differences = append(out.Differences, differenceJSON{d.GetReplica(), d.GetIndex(), time.Unix(0, d.GetUnixNano()).UTC()})
	}
	for _, r := range s.GetReplicas() {
		out.Replicas = append(out.Replicas, replicaJSON{
			Name: r.GetName(), ID: r.GetServerId(), Address: r.GetAddress(), Role: r.GetRole(), Term: r.GetTerm(),
			CommitIndex: r.GetCommitIndex(), AppliedIndex: r.GetAppliedIndex(), Version: r.GetVersion(),
			LastContactMS: r.GetLastContactMs(), Digest: r.GetDigest(), Alarms: r.GetAlarms(),
		})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func statusTable(w io.Writer, s *api.StatusReply) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "REPLICA\tROLE\tTERM\tCOMMIT\tAPPLIED\tADDRESS\tVERSION")
	for _, r := range s.GetReplicas() {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%s\t%s\n", r.GetName(), r.GetRole(), r.GetTerm(), r.GetCommitIndex(),
			r.GetAppliedIndex(), r.GetAddress(), r.GetVersion())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var notes []string
	for _, r := range s.GetReplicas() {
		for _, alarm := range r.GetAlarms() {
			notes = append(notes, fmt.Sprintf("%s: %s\n", r.GetName(), alarm))
		}
	}
	for _, f := range s.GetFaults() {
		notes = append(notes, fmt.Sprintf("fault at index %d, rolled back on every replica: %s\n", f.GetIndex(), f.GetText()))
	}
	for _, d := range s.GetDifferences() {
		notes = append(notes, fmt.Sprintf("%s: %s had drifted at index %d and was installed anew\n",
			time.Unix(0, d.GetUnixNano()).UTC().Format(time.DateTime), d.GetReplica(), d.GetIndex()))
	}
	_, err := io.WriteString(w, strings.Join(notes, ""))
	return err
}
