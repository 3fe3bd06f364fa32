package admin

import (
	"fmt"
	"strings"

	"rampart/transport/api"
)

// buildJSON is what a mom runs.
type buildJSON struct {
	Name         string `json:"name"`
	Version      string `json:"version,omitempty"`
	FeatureLevel uint32 `json:"feature_level,omitempty"`
}

func momsJSON(builds []*api.Build) []buildJSON {
	var all []buildJSON
	for _, b := range builds {
		all = append(all, buildJSON{b.GetName(), b.GetVersion(), b.GetFeatureLevel()})
	}
	return all
}

// levels says, in the midst of an upgrade, which replicas hold the feature level down.
func levels(s *api.StatusReply) string {
	var behind []string
	next := false
	for _, r := range s.GetReplicas() {
		knows := r.GetFeatureLevel() > s.GetFeatureLevel()
		next = next || knows
		if r.GetVoter() && (!knows || r.GetRole() == "unreachable") { // it might come back as it was
			behind = append(behind, r.GetName())
		}
	}
	if !next || len(behind) == 0 {
		return ""
	}
	return fmt.Sprintf("feature level %d: it rises when these answer and are upgraded, too: %s\n", s.GetFeatureLevel(), strings.Join(behind, ", "))
}

// momBuilds names the moms that run another build than the newest of the replicas does;
// nothing if there are none.
func momBuilds(s *api.StatusReply) string {
	newest := new(api.ReplicaStatus)
	for _, r := range s.GetReplicas() {
		if r.GetFeatureLevel() > newest.GetFeatureLevel() {
			newest = r
		}
	}
	var others []string
	for _, m := range s.GetMoms() {
		if m.GetFeatureLevel() != newest.GetFeatureLevel() || m.GetVersion() != newest.GetVersion() {
			others = append(others, fmt.Sprintf("%s (%s, %s)", m.GetName(), m.GetVersion(), levelOf(m)))
		}
	}
	if len(others) == 0 {
		return ""
	}
	return "moms of another version: " + strings.Join(others, ", ") + "\n"
}

func levelOf(b *api.Build) string {
	if b.GetFeatureLevel() == 0 {
		return "of an unknown feature level"
	}
	return fmt.Sprintf("feature level %d", b.GetFeatureLevel())
}
