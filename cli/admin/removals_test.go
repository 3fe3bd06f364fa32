package admin

import (
	"strings"
	"testing"

	"rampart/transport/api"
)

func TestStatus_TellsWhoLeaves(t *testing.T) {
	s := &api.StatusReply{Health: "healthy", Removals: []*api.Removal{
		{Replica: "s5", Asker: "root@s1", Decided: 3e9},
		{Replica: "s4", ReplacedBy: "s6", Decided: 2e9, Left: 2e9},
		{Replica: "s3", Asker: "root@s1", Decided: 1e9, Left: 1e9},
		{Replica: "s2", Asker: "root@s1", Decided: 1e8, Left: 1e8},
	}}
	var table, json strings.Builder
	if err := statusTable(&table, s); err != nil {
		t.Fatal(err)
	}
	want := "s5 is being removed\n2033-05-18 03:33:20: s4 was silent, and s6 took its place\n2001-09-09 01:46:40: s3 was removed by root@s1\n"
	if !strings.HasSuffix(table.String(), want) {
		t.Errorf("table:\n%s", table.String())
	}
	if err := statusJSON(&json, s); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"replaced_by": "s6"`, `"left": "2033-05-18T03:33:20Z"`, `"replica": "s2"`, `"by": "root@s1"`} {
		if !strings.Contains(json.String(), part) {
			t.Errorf("%s is missing: %s", part, json.String())
		}
	}
}
