package admin

import (
	"cmp"
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
	write := statusTable
	if o.JSON {
		write = statusJSON
	}
	if err := write(env.Stdout, reply.Msg); err != nil {
		return err
	}
	return unhealthy(reply.Msg.GetHealth())
}

// Exit statuses of cluster status. A failure to ask anybody has those of any command.
const (
	StatusDegraded = 3 // the cluster serves, and something is to be done
	StatusNoQuorum = 4 // nothing can be changed
)

// An UnhealthyError says that the status was told and is not healthy: it is an exit
// status and no message.
type UnhealthyError struct {
	Health string
	Status int
}

// Error returns how the cluster does.
func (e *UnhealthyError) Error() string { return "the cluster is " + e.Health }

func unhealthy(health string) error {
	switch health {
	case "healthy":
		return nil
	case "no quorum":
		return &UnhealthyError{health, StatusNoQuorum}
	}
	return &UnhealthyError{health, StatusDegraded}
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
	Version       string   `json:"version,omitempty"` // of PBS
	Build         string   `json:"build,omitempty"`   // of Rampart
	FeatureLevel  uint32   `json:"feature_level,omitempty"`
	LastContactMS int64    `json:"last_contact_ms"`
	Digest        string   `json:"digest,omitempty"`
	Alarms        []string `json:"alarms,omitempty"`
	Voter         bool     `json:"voter"`
	Zone          string   `json:"zone,omitempty"`
	RTTClass      string   `json:"rtt_class,omitempty"`
	Lag           uint64   `json:"lag_entries"`
	Disk          diskJSON `json:"disk"`
	Health        string   `json:"health,omitempty"`
	Advice        []string `json:"advice,omitempty"`
}

// diskJSON is what log and votes are on: writes of the last 15 seconds, in milliseconds.
type diskJSON struct {
	Writes uint64  `json:"writes"`
	P99    float64 `json:"write_p99_ms"`
	Max    float64 `json:"write_max_ms"`
	Slow   bool    `json:"slow"`
	Free   int64   `json:"free_bytes"`
	Low    bool    `json:"low"`
}

func milliseconds(us int64) float64 { return float64(us) / 1000 }

func statusJSON(w io.Writer, s *api.StatusReply) error {
	out := struct {
		Server       string           `json:"server"`
		FeatureLevel uint32           `json:"feature_level"`
		Health       string           `json:"health,omitempty"`
		MayFail      uint32           `json:"may_fail"`
		Replicas     []replicaJSON    `json:"replicas"`
		Faults       []faultJSON      `json:"faults,omitempty"`
		Differences  []differenceJSON `json:"differences,omitempty"`
		Removals     []removalJSON    `json:"removals,omitempty"`
		Advice       []string         `json:"advice,omitempty"`
		RTTClass     string           `json:"rtt_class,omitempty"`
		Moms         []buildJSON      `json:"moms,omitempty"`
	}{Server: s.GetServer(), FeatureLevel: s.GetFeatureLevel(), Health: s.GetHealth(), MayFail: s.GetMayFail(), Replicas: []replicaJSON{}, Moms: momsJSON(s.GetMoms())}
	out.Removals, out.Advice, out.RTTClass = removalsJSON(s.GetRemovals()), s.GetAdvice(), s.GetRttClass()
	for _, f := range s.GetFaults() {
		out.Faults = append(out.Faults, faultJSON{f.GetIndex(), f.GetText()})
	}
	for _, d := range s.GetDifferences() {
		out.Differences = append(out.Differences, differenceJSON{d.GetReplica(), d.GetIndex(), time.Unix(0, d.GetUnixNano()).UTC()})
	}
	for _, r := range s.GetReplicas() {
		out.Replicas = append(out.Replicas, replicaJSON{
			Name: r.GetName(), ID: r.GetServerId(), Address: r.GetAddress(), Role: r.GetRole(), Term: r.GetTerm(),
			CommitIndex: r.GetCommitIndex(), AppliedIndex: r.GetAppliedIndex(), Version: r.GetVersion(), Build: r.GetBuild(), FeatureLevel: r.GetFeatureLevel(),
			LastContactMS: r.GetLastContactMs(), Digest: r.GetDigest(), Alarms: r.GetAlarms(),
			Voter: r.GetVoter(), Zone: r.GetZone(), RTTClass: r.GetRttClass(), Lag: r.GetLag(), Health: r.GetHealth(), Advice: r.GetAdvice(),
			Disk: diskJSON{
				Writes: r.GetWrites(), P99: milliseconds(r.GetWriteP99Us()), Max: milliseconds(r.GetWriteMaxUs()),
				Slow: r.GetDiskSlow(), Free: r.GetDiskFree(), Low: r.GetDiskLow(),
			},
		})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func statusTable(w io.Writer, s *api.StatusReply) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	zone, zoned := zones(s.GetReplicas())
	fmt.Fprintf(t, "REPLICA\t%sROLE\tTERM\tCOMMIT\tAPPLIED\tLAG\tCONTACT\tWRITE P99\tADDRESS\tVERSION\tBUILD\tHEALTH\n", zoned)
	for _, r := range s.GetReplicas() {
		fmt.Fprintf(t, "%s\t%s%s\t%s\t%s\t%s\n", r.GetName(), zone(r), r.GetRole(), progress(r), r.GetAddress(), tail(r))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	notes := []string{summary(s), levels(s), replicaBuilds(s), momBuilds(s)}
	for _, r := range s.GetReplicas() {
		for _, alarm := range r.GetAlarms() {
			notes = append(notes, fmt.Sprintf("%s: %s\n", r.GetName(), alarm))
		}
		for _, advice := range r.GetAdvice() {
			notes = append(notes, fmt.Sprintf("%s: advice: %s\n", r.GetName(), advice))
		}
	}
	for _, advice := range s.GetAdvice() {
		notes = append(notes, fmt.Sprintf("advice: %s\n", advice))
	}
	notes = append(notes, left(s.GetRemovals())...)
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

// progress returns how far a replica has come, "-" where it did not say.
func progress(r *api.ReplicaStatus) string {
	if r.GetRole() == "unreachable" {
		return "-\t-\t-\t-\t-\t-"
	}
	contact, write := "-", "-" // the leader hears nobody lead, nor does who is in no term, and an idle disk is not measured
	if r.GetRole() != "leader" && r.GetTerm() > 0 {
		contact = (time.Duration(r.GetLastContactMs()) * time.Millisecond).String()
	}
	if r.GetWrites() > 0 {
		write = fmt.Sprintf("%.1fms", milliseconds(r.GetWriteP99Us()))
	}
	return fmt.Sprintf("%d\t%d\t%d\t%d\t%s\t%s", r.GetTerm(), r.GetCommitIndex(), r.GetAppliedIndex(), r.GetLag(), contact, write)
}

func tail(r *api.ReplicaStatus) string {
	return cmp.Or(r.GetVersion(), "-") + "\t" + cmp.Or(r.GetBuild(), "-") + "\t" + r.GetHealth()
}

// summary says in a line how the cluster does, nothing if it is not said.
func summary(s *api.StatusReply) string {
	switch s.GetHealth() {
	case "":
		return ""
	case "no quorum":
		return "no quorum: nothing can be changed\n"
	}
	return fmt.Sprintf("%s: %d more may fail\n", s.GetHealth(), s.GetMayFail())
}
