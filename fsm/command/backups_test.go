package command

import (
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A plan that no replica could carry out is refused, and the one before stays.
func TestScheduleBackups_RefusesWhatCannotBeDone(t *testing.T) {
	s, do := staging(t)
	good := state.BackupPlan{Every: 3600, Keep: 3, Dir: "/backups"}
	if got := do(1, &ScheduleBackups{Plan: &good}); got != 0 || *s.View().Cluster().Backups != good {
		t.Fatalf("%d, %v", got, s.View().Cluster().Backups)
	}
	for _, p := range []state.BackupPlan{
		{Every: 59, Keep: 3}, {Every: -1, Keep: 3}, {Every: 3600}, {Every: 3600, Keep: maxBackups + 1}, {Every: 3600, Keep: 1, Dir: "backups"},
	} {
		if got := do(1, &ScheduleBackups{Plan: &p}); got != pbs.InvalidRequest || *s.View().Cluster().Backups != good {
			t.Errorf("%v: %d, %v", p, got, s.View().Cluster().Backups)
		}
	}
	if got := do(1, &ScheduleBackups{}); got != 0 || s.View().Cluster().Backups != nil {
		t.Errorf("off: %d, %v", got, s.View().Cluster().Backups)
	}
}
