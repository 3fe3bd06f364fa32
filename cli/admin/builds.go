package admin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"rampart/transport/api"
)

// buildJSON is what a mom runs.
type buildJSON struct {
	Name         string `json:"name"`
	Version      string `json:"version,omitempty"` // of PBS
	Build        string `json:"build,omitempty"`   // of Rampart
	FeatureLevel uint32 `json:"feature_level,omitempty"`
}

func momsJSON(builds []*api.Build) []buildJSON {
	var all []buildJSON
	for _, b := range builds {
		all = append(all, buildJSON{b.GetName(), b.GetVersion(), b.GetBuild(), b.GetFeatureLevel()})
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
		if newer(r, newest) {
			newest = r
		}
	}
	var others []string
	for _, m := range s.GetMoms() {
		if m.GetFeatureLevel() != newest.GetFeatureLevel() || m.GetVersion() != newest.GetVersion() || m.GetBuild() != newest.GetBuild() {
			others = append(others, fmt.Sprintf("%s (%s, %s)", m.GetName(), cmp.Or(m.GetBuild(), m.GetVersion()), levelOf(m)))
		}
	}
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("moms of another build (%d of %d): %s\n", len(others), len(s.GetMoms()), strings.Join(others, ", "))
}

// newer reports whether a replica runs a later build than another, whose order is that of the
// feature levels, and then that of semantic versions.
func newer(r, than *api.ReplicaStatus) bool {
	if r.GetFeatureLevel() != than.GetFeatureLevel() {
		return r.GetFeatureLevel() > than.GetFeatureLevel()
	}
	return semver.Compare("v"+r.GetBuild(), "v"+than.GetBuild()) > 0
}

// replicaBuilds says which replicas run which build, in the midst of an upgrade; nothing if all
// run the same.
func replicaBuilds(s *api.StatusReply) string {
	who := map[string][]string{}
	for _, r := range s.GetReplicas() {
		if r.GetBuild() != "" {
			who[r.GetBuild()] = append(who[r.GetBuild()], r.GetName())
		}
	}
	if len(who) < 2 {
		return ""
	}
	builds := slices.SortedFunc(maps.Keys(who), func(a, b string) int { return cmp.Or(semver.Compare("v"+b, "v"+a), strings.Compare(b, a)) })
	for i, b := range builds {
		builds[i] = b + " on " + strings.Join(who[b], ", ")
	}
	return "replicas of different builds: " + strings.Join(builds, "; ") + "\n"
}

func levelOf(b *api.Build) string {
	if b.GetFeatureLevel() == 0 {
		return "of an unknown feature level"
	}
	return fmt.Sprintf("feature level %d", b.GetFeatureLevel())
}
