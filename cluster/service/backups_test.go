package service

import (
	"context"
	"testing"

	"rampart/fsm/command"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// Who has changed the plan looks at it through a follower, which may be behind, or, in need
// of a backup, where nobody leads.
func TestListBackups_ShowsThePlanOfNowIfThereIsALeader(t *testing.T) {
	b := newBench(t)
	b.behind = b.store.View()
	b.do(&command.ScheduleBackups{Plan: &state.BackupPlan{Every: 3600, Keep: 3, Dir: "/backups"}})
	for _, c := range []struct {
		cutOff error
		want   string
	}{
		{nil, "every 1h0m0s in /backups, the last 3 are kept"},
		{context.DeadlineExceeded, "no backups are made"},
	} {
		b.cutOff = c.cutOff
		r, err := b.Snapshots.ListBackups(b.as("boss@hosta"), request(&api.ListBackupsRequest{}, ""))
		if err != nil || r.Msg.GetPlan() != c.want {
			t.Errorf("%v: %v, %q", c.cutOff, err, r.Msg.GetPlan())
		}
	}
}
