package admin

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// TestStatus_TellsFaultsAndDifferences: what the replicas found out about themselves
// is in both forms of the status.
func TestStatus_TellsFaultsAndDifferences(t *testing.T) {
	s := &api.StatusReply{
		Server: "srv", FeatureLevel: 3,
		Replicas:    []*api.ReplicaStatus{{Name: "s1", Role: "leader", Alarms: []string{"nothing is written"}}},
		Faults:      []*api.Fault{{Index: 17, Text: "*command.SubmitJob: boom"}},
		Differences: []*api.Difference{{Replica: "s2", Index: 11, UnixNano: 1e18}},
	}
	var table, form strings.Builder
	if err := statusTable(&table, s); err != nil {
		t.Fatal(err)
	}
	if err := statusJSON(&form, s); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"s1: nothing is written\n", "fault at index 17, rolled back on every replica: *command.SubmitJob: boom\n", "2001-09-09 01:46:40: s2 had drifted at index 11"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &table)
		}
	}
	for _, want := range []string{`"feature_level": 3`, `"index": 17`, `"replica": "s2"`, `"found": "2001-09-09T01:46:40Z"`} {
		if !strings.Contains(form.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &form)
		}
	}
}

// asked answers Status; nothing else is called.
type asked struct {
	apiconnect.ClusterClient
	reply *api.StatusReply
}

func (a asked) Status(context.Context, *connect.Request[api.StatusRequest]) (*connect.Response[api.StatusReply], error) {
	return connect.NewResponse(a.reply), nil
}

// three is a cluster of which the third replica is unreachable.
func three(health string) *api.StatusReply {
	return &api.StatusReply{Server: "srv", Health: health, Replicas: []*api.ReplicaStatus{
		{
			Name: "s1", Role: "leader", Term: 3, CommitIndex: 38, AppliedIndex: 38, Address: "h1:15001", Version: "1.2",
			Writes: 12, WriteP99Us: 2100, WriteMaxUs: 3500, DiskFree: 1 << 30, Voter: true, Health: "ok",
		},
		{
			Name: "s2", Role: "follower", Term: 3, CommitIndex: 37, AppliedIndex: 36, Lag: 2, LastContactMs: 21, Address: "h2:15001", Version: "1.2",
			DiskSlow: true, Voter: true, Health: "degraded", Alarms: []string{"writes to /raft are slow"}, Advice: []string{"look at the disk"},
		},
		{Name: "s3", Role: "unreachable", Address: "h3:15001", Voter: true, Health: "unreachable", Advice: []string{"look at host h3"}},
	}}
}

func TestStatus_TableSaysWhatToDo(t *testing.T) {
	var out strings.Builder
	if err := statusTable(&out, three("degraded")); err != nil {
		t.Fatal(err)
	}
	const want = `REPLICA  ROLE         TERM  COMMIT  APPLIED  LAG  CONTACT  WRITE P99  ADDRESS   VERSION  BUILD  HEALTH
s1       leader       3     38      38       0    -        2.1ms      h1:15001  1.2      -      ok
s2       follower     3     37      36       2    21ms     -          h2:15001  1.2      -      degraded
s3       unreachable  -     -       -        -    -        -          h3:15001  -        -      unreachable
degraded: 0 more may fail
s2: writes to /raft are slow
s2: advice: look at the disk
s3: advice: look at host h3
`
	if out.String() != want {
		t.Errorf("got:\n%s", &out)
	}
}

func TestStatus_NoContactOfOneThatIsInNoTerm(t *testing.T) {
	removed := &api.ReplicaStatus{Name: "s5", Role: "nonvoter", LastContactMs: 1795305100440}
	if got, want := progress(removed), "0\t0\t0\t0\t-\t-"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestStatus_ExitStatusTellsHealth: the table or JSON is printed whatever it is.
func TestStatus_ExitStatusTellsHealth(t *testing.T) {
	for health, want := range map[string]int{"healthy": 0, "degraded": StatusDegraded, "no quorum": StatusNoQuorum} {
		for _, json := range []bool{false, true} {
			var out strings.Builder
			env := &Env{Stdout: &out, Cluster: func(string) (apiconnect.ClusterClient, error) { return asked{reply: three(health)}, nil }}
			err := Status(t.Context(), env, StatusOptions{JSON: json})
			got := 0
			if u, ok := errors.AsType[*UnhealthyError](err); ok {
				got = u.Status
			} else if err != nil {
				t.Fatal(err)
			}
			if got != want || !strings.Contains(out.String(), "s3") {
				t.Errorf("%q, JSON %t: status %d, want %d:\n%s", health, json, got, want, &out)
			}
		}
	}
}

// TestStatus_JSONKeepsItsForm: names that programs read.
func TestStatus_JSONKeepsItsForm(t *testing.T) {
	var out strings.Builder
	if err := statusJSON(&out, three("degraded")); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Health   string
		MayFail  *int `json:"may_fail"`
		Replicas []map[string]any
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Health != "degraded" || got.MayFail == nil || len(got.Replicas) != 3 {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{"name", "role", "term", "commit_index", "applied_index", "lag_entries", "last_contact_ms", "voter", "health", "disk", "address"} {
		if _, ok := got.Replicas[0][name]; !ok {
			t.Errorf("no %s in %v", name, got.Replicas[0])
		}
	}
	if d := got.Replicas[0]["disk"].(map[string]any); d["write_p99_ms"] != 2.1 || d["slow"] != false {
		t.Errorf("disk: %v", d)
	}
}
