package chaos

import (
	"strings"
	"testing"

	"rampart/transport/api"
)

// unlived is what moms call each other by, or tell the servers, at which no scenario of a life strikes, and why.
var unlived = map[string]string{
	"Follow":           "it brings output to a pbsdsh that waits, and the bubble's do not: TestSpawn_* of mom",
	"Checkpoint":       "scripts of the site save programs, and the bubble starts none: TestJointCheckpoint_* of mom, TestCheckpoint_* of cmd/conformance",
	"Restart":          "as Checkpoint",
	"not_checkpointed": "as Checkpoint",
	"checkpoint_made":  "as Checkpoint",
	"exiting":          "files must be long on their way: TestStages_* of mom/task",
	"hooks":            "a script must have run, and the bubble starts no interpreter: TestHooks_* of cmd/conformance",
}

// Each call between the moms of a run, and each fact that they tell of it, belongs to a step at which a leader and
// hosts are lost, or there is a reason.
func TestLives_EveryStep(t *testing.T) {
	does := map[string]bool{}
	for _, step := range lifeSteps() {
		for _, what := range step.does {
			does[what] = true
		}
	}
	known := map[string]bool{}
	methods := api.File_sister_proto.Services().ByName("Sister").Methods()
	for i := range methods.Len() {
		known[string(methods.Get(i).Name())] = true
	}
	facts := (&api.Fact{}).ProtoReflect().Descriptor().Oneofs().ByName("what").Fields()
	for i := range facts.Len() {
		known[string(facts.Get(i).Name())] = true
	}
	for what := range known {
		if does[what] == (unlived[what] != "") {
			t.Errorf("%s needs a step (lives.go), or else a reason", what)
		}
	}
	for what := range does {
		if !known[what] {
			t.Errorf("there is nothing that is called %s", what)
		}
	}
	all := Lives()
	for _, step := range lifeSteps() {
		for _, who := range []string{"the leader", "a mother superior", "a sister"} {
			n := 0
			for _, s := range all {
				if strings.HasPrefix(s.Name, "lives, "+who) && strings.HasSuffix(s.Name, " when "+step.when) {
					n++
				}
			}
			if n != 1 && (n != 0 || who != "a sister" || step.does != nil) {
				t.Errorf("%d scenarios for %s when %s", n, who, step.when)
			}
		}
	}
}
