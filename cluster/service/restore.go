package service

import (
	"context"
	"crypto/rand"
	"encoding/binary"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// Snapshots implements the Snapshots service: it puts a state back from a file.
type Snapshots struct {
	base
	Blobs   BlobKeeper
	Backups func() Backups
}

// manage permits a manager's change that puts a state back.
func (s *Snapshots) manage(p person) error {
	if p.perm < attr.Manager {
		return deny(p, "Req", "Server", p.view.Cluster().Name, typeManage)
	}
	return nil
}

// StageSnapshot takes the next piece of a snapshot file. The pieces are in the state, so
// any leader can go on with them.
func (s *Snapshots) StageSnapshot(ctx context.Context, r *connect.Request[api.StageSnapshotRequest]) (*connect.Response[api.StageSnapshotReply], error) {
	_, err := s.change(ctx, r, func(p person) ([]command.Command, error) {
		return []command.Command{&command.StagePart{Key: r.Msg.GetKey(), Number: r.Msg.GetNumber(), Data: r.Msg.GetData()}}, s.manage(p)
	})
	return reply(&api.StageSnapshotReply{}, err)
}

// StageBlob takes a large script of the file. It stays while the file is staged.
func (s *Snapshots) StageBlob(ctx context.Context, r *connect.Request[api.StageBlobRequest]) (*connect.Response[api.StageBlobReply], error) {
	v, err := s.present(ctx)
	if err != nil {
		return nil, err
	}
	p, err := s.person(ctx, v)
	if err == nil {
		err = s.manage(p)
	}
	if err != nil {
		return nil, s.told(ctx, err)
	}
	_, err = s.Blobs.Put(ctx, r.Msg.GetData())
	return reply(&api.StageBlobReply{}, err)
}

// RestoreSnapshot reads the file whole and tries what would come of it before it is
// proposed: what the log cannot say, why a file is bad, is said here.
func (s *Snapshots) RestoreSnapshot(ctx context.Context, r *connect.Request[api.RestoreSnapshotRequest]) (*connect.Response[api.RestoreSnapshotReply], error) {
	if r.Msg.GetLook() {
		return s.look(ctx, r.Msg)
	}
	out := &api.RestoreSnapshotReply{}
	result, err := s.change(ctx, r, func(p person) ([]command.Command, error) {
		if err := s.manage(p); err != nil {
			return nil, err
		}
		var err error
		var after *state.View
		if out, after, err = rehearse(p.view, r.Msg); err == nil {
			err = s.haveScripts(after)
		}
		return []command.Command{restoreOf(r.Msg)}, err
	})
	if err != nil {
		return nil, err
	}
	out.Gone, out.Again = result.Finished, result.Requeued
	if v, err := s.present(ctx); err == nil {
		out.Jobs, out.NextJob = uint64(v.JobCount()), v.Cluster().NextJob
	}
	return connect.NewResponse(out), nil
}

// look tells what would be done, on a state that has all that was acknowledged.
func (s *Snapshots) look(ctx context.Context, m *api.RestoreSnapshotRequest) (*connect.Response[api.RestoreSnapshotReply], error) {
	v, err := s.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return nil, err
	}
	p, err := s.person(ctx, v)
	if err == nil {
		err = s.manage(p)
	}
	if err != nil {
		return nil, s.told(ctx, err)
	}
	out, _, err := rehearse(v, m)
	return reply(out, err)
}

// haveScripts refuses a state whose large scripts were not sent.
func (s *Snapshots) haveScripts(after *state.View) error {
	missing := 0
	for b := range after.Blobs() {
		if _, ok := s.Blobs.Held(b.Sum); !ok {
			missing++
		}
	}
	if missing > 0 {
		return pbs.Errorf(pbs.InvalidRequest, "%d large job scripts are neither in the snapshot file nor in the cluster: the file is not one that snapshot save or a backup has written", missing)
	}
	return nil
}

func rehearse(v *state.View, m *api.RestoreSnapshotRequest) (*api.RestoreSnapshotReply, *state.View, error) {
	after, file, result, err := command.Rehearse(v, restoreOf(m), fsm.ReadSnapshot)
	if err != nil {
		return nil, nil, err
	}
	return &api.RestoreSnapshotReply{
		Snapshot: command.SnapshotName(file), Jobs: uint64(after.JobCount()), NextJob: after.Cluster().NextJob,
		Gone: result.Finished, Again: result.Requeued,
	}, after, nil
}

func restoreOf(m *api.RestoreSnapshotRequest) *command.Restore {
	return &command.Restore{Key: m.GetKey(), Parts: m.GetParts(), Epoch: randomEpoch()}
}

// randomEpoch returns a number that no epoch has had, and that is none of those that mean
// something.
func randomEpoch() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return binary.BigEndian.Uint64(b[:])>>1 | 1
}
