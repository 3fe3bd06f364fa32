package chaos

import (
	"slices"
	"testing"

	"rampart/fsm/command"
)

// unprovoked are the kinds of commands at which no scenario kills a leader, and why.
var unprovoked = map[string]string{
	"Exercise":         "nobody proposes it: it is there for the tests of feature levels, TestStop_AtKindsOfALaterLevel of fsm",
	"ScheduleBackups":  "it sets what replicas do on their own disks, by the way that ManageServer takes",
	"ForgetAccount":    "it is asked for by administrators alone, and gives up one record: TestForgetAccount of cluster/service",
	"ManageShares":     "it sets numbers of fair share, by the way that ManageServer takes: TestManageShares of fsm/command",
	"JobExiting":       "it only shows where a job stands, and needs files that are long on their way: TestStages_* of mom/task",
	"PreemptJob":       "a full cluster and a queue that preempts are needed: TestPreempt_EachLeaderPlansAnew of cluster/sched",
	"MailsDone":        "no mail is sent in the bubble, which starts no programs: TestPost_LeaderDies of cluster/mail, TestMail_* of cmd/conformance",
	"StagePart":        "the state is to be put back: TestRestore_LeadersDie of cmd/rampart kills leaders there",
	"Restore":          "what was acknowledged since is gone, and the judge would miss it: TestRestore_LeadersDie of cmd/rampart",
	"HaltServers":      "all replicas end after it: TestQterm_* of cmd/conformance",
	"RemoveReplica":    "the world's disks keep their names: TestRemove_LeadersDieBetweenTheSteps of cluster",
	"ReplicaLeft":      "the last step of a removal: TestRemove_LeadersDieBetweenTheSteps of cluster",
	"ReplaceReplica":   "a newcomer and half a minute are needed: TestReplace_LeadersDieInIt of cluster",
	"KeepReplica":      "it takes a replacement back, and the next leader looks again: TestReplace_OneThatIsHeardAgainKeepsItsPlace of cluster",
	"CheckpointJob":    "a script must end the job, and the bubble starts none: TestCheckpoint_* of mom/task and of cmd/conformance",
	"CheckpointMade":   "it is a fact like JobEnded, and comes from a script: TestCheckpoint_* of mom/task and of cmd/conformance",
	"CheckpointFailed": "it is a fact like JobEnded, and comes from a script: TestCheckpoint_* of mom/task",
	"HookTasksDone":    "a script must have run, and the bubble starts no interpreter: TestHooks_* of cmd/conformance",
	"HookWishes":       "it is a fact like JobEnded, and comes from a script: TestHooks_* of cmd/conformance; a deletion that it takes back is waited for at the next leader, too: TestPreterm_* of cluster/service",
	"ReleaseNodes":     "a job over several hosts is needed: Releases (releases.go) kill leaders at it and at what follows",
	"WithdrawRelease":  "a mother superior must be silent for ten seconds, and the next leader looks again: TestReleases_* of cluster/dispatch",
	"PruneJob":         "padded jobs over several hosts are needed: Startups (startups.go) kill leaders at it and at what follows",
	"Reconfigure":      "it takes files on the leader's disk, and is the commands of qmgr in one: TestReconfigure_* of fsm/command",
	"KeepPending":      "a queue whose jobs keep something while they wait, and hours, are needed: the scenarios reserving-* of cmd/conformance kill leaders there",
	"StopForLoad":      "hosts whose load is beyond thresholds are needed, and minutes: load-stop.txtar of cmd/conformance kills leaders there",
	"NewEpoch":         "it is the first command of a cluster of one: nobody could lead after it",
}

// Every kind of command has a scenario in which a leader dies at it, or a reason.
func TestAmbushes_EveryKindOfCommand(t *testing.T) {
	known := command.Names()
	covered := append(Early(), Later()...)
	for _, kind := range known {
		if slices.Contains(covered, kind) == (unprovoked[kind] != "") {
			t.Errorf("%s needs a scenario (ambushes.go), or else a reason", kind)
		}
	}
	for _, kind := range covered {
		if !slices.Contains(known, kind) {
			t.Errorf("there is no kind of command called %s", kind)
		}
	}
	if len(Ambushes()) != len(covered) {
		t.Errorf("%d scenarios for %d kinds", len(Ambushes()), len(covered))
	}
}
