package service

import (
	"context"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/command"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// Backups are the backups that a replica has made on schedule.
type Backups struct {
	Dir     string
	All     []*api.Backup // the latest first
	Trouble string        // why the last one was not made
}

// ScheduleBackups puts the plan into the state, where every replica finds it.
func (s *Snapshots) ScheduleBackups(ctx context.Context, r *connect.Request[api.ScheduleBackupsRequest]) (*connect.Response[api.ScheduleBackupsReply], error) {
	_, err := s.change(ctx, r, func(p person) ([]command.Command, error) {
		var plan *state.BackupPlan
		if m := r.Msg.GetPlan(); m != nil {
			plan = &state.BackupPlan{Every: m.GetEverySeconds(), Keep: m.GetKeep(), Dir: m.GetDir()}
		}
		return []command.Command{&command.ScheduleBackups{Plan: plan}}, s.manage(p)
	})
	return reply(&api.ScheduleBackupsReply{}, err)
}

// ListBackups tells managers which backups this replica has.
func (s *Snapshots) ListBackups(ctx context.Context, _ *connect.Request[api.ListBackupsRequest]) (*connect.Response[api.ListBackupsReply], error) {
	if err := s.onlyManagers(ctx); err != nil {
		return nil, err
	}
	v, err := s.lately(ctx)
	if err != nil {
		return nil, err
	}
	out := &api.ListBackupsReply{Replica: string(s.Replica.Status().Self.Name), Plan: v.Cluster().Backups.String()}
	if s.Backups != nil {
		b := s.Backups()
		out.Dir, out.Backups, out.Trouble = b.Dir, b.All, b.Trouble
	}
	return connect.NewResponse(out), nil
}

// latelyWithin leaves a manager whose cluster has lost its quorum the patience to look at what a
// replica has.
const latelyWithin = time.Second

// lately returns the state of now, so that whoever has changed the plan sees it; where no
// leader can tell it, as this replica knows it.
func (c *base) lately(ctx context.Context) (*state.View, error) {
	soon, cancel := context.WithTimeout(ctx, latelyWithin)
	defer cancel()
	if v, err := c.Replica.Read(soon, cluster.Fresh); err == nil {
		return v, nil
	}
	return c.present(ctx)
}
