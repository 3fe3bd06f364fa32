package admin

import (
	"fmt"
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
		Replicas:     []*api.ReplicaStatus{{Name: "s1", Role: "leader", Voter: true, Version: "1.2", Build: "0.10.0", FeatureLevel: 3}},
		Moms: []*api.Build{
			{Name: "borg", Version: "1.2", Build: "0.10.0", FeatureLevel: 3},
			{Name: "nadal", Version: "1.2", Build: "0.9.0", FeatureLevel: 3},
			{Name: "lendl", Version: "1.2", FeatureLevel: 2},
			{Name: "old", Version: "1.1"},
		},
	}
	var table, form strings.Builder
	if err := statusTable(&table, s); err != nil {
		t.Fatal(err)
	}
	if err := statusJSON(&form, s); err != nil {
		t.Fatal(err)
	}
	if want := "moms of another build (3 of 4): nadal (0.9.0, feature level 3), lendl (1.2, feature level 2), old (1.1, of an unknown feature level)\n"; !strings.Contains(table.String(), want) {
		t.Errorf("%q is not in:\n%s", want, &table)
	}
	for _, want := range []string{`"moms": [`, `"name": "borg"`, `"build": "0.9.0"`, `"feature_level": 2`} {
		if !strings.Contains(form.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &form)
		}
	}
}

// TestStatus_AnUpgradeCanBeWatched: the builds of replicas and moms are told, and who is behind,
// though all know the same feature level.
func TestStatus_AnUpgradeCanBeWatched(t *testing.T) {
	on := func(builds ...string) string {
		s := &api.StatusReply{FeatureLevel: 3, Moms: []*api.Build{{Name: "borg", Version: "23", Build: "0.9.0", FeatureLevel: 3}}}
		for i, b := range builds {
			s.Replicas = append(s.Replicas, &api.ReplicaStatus{Name: fmt.Sprintf("s%d", i+1), Role: "follower", Voter: true, Version: "23", Build: b, FeatureLevel: 3, Health: "ok"})
		}
		var out strings.Builder
		if err := statusTable(&out, s); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const behind = "moms of another build (1 of 1): borg (0.9.0, feature level 3)\n"
	for _, test := range []struct {
		builds []string
		want   []string
		not    string
	}{
		{[]string{"0.9.0", "0.9.0", "0.9.0"}, []string{"VERSION  BUILD  HEALTH", "23       0.9.0  ok"}, "another"},
		{[]string{"0.9.0", "0.10.0-dev.3+gabc", "0.9.0"}, []string{"replicas of different builds: 0.10.0-dev.3+gabc on s2; 0.9.0 on s1, s3\n", behind}, "nothing"},
		{[]string{"0.10.0", "0.10.0", "0.10.0"}, []string{behind}, "replicas of"},
	} {
		got := on(test.builds...)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v: %q is not in:\n%s", test.builds, want, got)
			}
		}
		if strings.Contains(got, test.not) {
			t.Errorf("%v: %q is in:\n%s", test.builds, test.not, got)
		}
	}
}
