package admin

import (
	"strings"
	"testing"

	"rampart/transport/api"
)

func TestStatus_TellsWhoHoldsTheFeatureLevelDown(t *testing.T) {
	replica := func(name, role string, level uint32) *api.ReplicaStatus {
		return &api.ReplicaStatus{Name: name, Role: role, Voter: true, Version: "1.2", FeatureLevel: level}
	}
	const rises = "feature level 2: it rises when these answer and are upgraded, too: "
	for name, test := range map[string]struct {
		replicas []*api.ReplicaStatus
		want     string
	}{
		"all alike":          {[]*api.ReplicaStatus{replica("s1", "leader", 2), replica("s2", "follower", 2)}, ""},
		"one is older":       {[]*api.ReplicaStatus{replica("s1", "leader", 3), replica("s2", "follower", 2), replica("s3", "follower", 3)}, rises + "s2\n"},
		"one is newer":       {[]*api.ReplicaStatus{replica("s1", "leader", 2), replica("s2", "follower", 2), replica("s3", "follower", 3)}, rises + "s1, s2\n"},
		"one does not speak": {[]*api.ReplicaStatus{replica("s1", "leader", 3), replica("s2", "unreachable", 3)}, rises + "s2\n"},
	} {
		if got := levels(&api.StatusReply{FeatureLevel: 2, Replicas: test.replicas}); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestStatus_TellsOfMomsOfAnotherBuild(t *testing.T) {
	s := &api.StatusReply{
		FeatureLevel: 3,
		Replicas:     []*api.ReplicaStatus{{Name: "s1", Role: "leader", Voter: true, Version: "1.2", FeatureLevel: 3}},
		Moms: []*api.Build{
			{Name: "borg", Version: "1.2", FeatureLevel: 3}, {Name: "lendl", Version: "1.2", FeatureLevel: 2}, {Name: "old", Version: "1.1"},
		},
	}
	var table, form strings.Builder
	if err := statusTable(&table, s); err != nil {
		t.Fatal(err)
	}
	if err := statusJSON(&form, s); err != nil {
		t.Fatal(err)
	}
	if want := "moms of another version: lendl (1.2, feature level 2), old (1.1, of an unknown feature level)\n"; !strings.Contains(table.String(), want) {
		t.Errorf("%q is not in:\n%s", want, &table)
	}
	for _, want := range []string{`"moms": [`, `"name": "borg"`, `"feature_level": 2`} {
		if !strings.Contains(form.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &form)
		}
	}
}
