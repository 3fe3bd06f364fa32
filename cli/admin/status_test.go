package admin

import (
	"strings"
	"testing"

	"rampart/transport/api"
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
	var table, json strings.Builder
	if err := statusTable(&table, s); err != nil {
		t.Fatal(err)
	}
	if err := statusJSON(&json, s); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"s1: nothing is written\n", "fault at index 17, rolled back on every replica: *command.SubmitJob: boom\n", "2001-09-09 01:46:40: s2 had drifted at index 11"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &table)
		}
	}
	for _, want := range []string{`"feature_level": 3`, `"index": 17`, `"replica": "s2"`, `"found": "2001-09-09T01:46:40Z"`} {
		if !strings.Contains(json.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &json)
		}
	}
}
