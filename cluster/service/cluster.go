package service

import (
	"context"
	"fmt"
	"io"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/cluster/identity"
	"rampart/cluster/member"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// Cluster implements the Cluster service: administration, enrolment and what replicas ask each other.
type Cluster struct {
	base
	CA     CA
	Logins Logins
	Ledger Ledger
	Blobs  BlobKeeper
	Moms   func() []Build
}

// Status is answered by every replica, without a leader too.
func (c *Cluster) Status(ctx context.Context, r *connect.Request[api.StatusRequest]) (*connect.Response[api.StatusReply], error) {
	v, err := c.present(ctx)
	if err != nil {
		return nil, err
	}
	all := []member.Status{c.Replica.Status()}
	if !r.Msg.GetLocal() {
		all = c.Replica.Statuses(ctx)
	}
	out := &api.StatusReply{Server: v.Cluster().Name, DigestIndex: int64(v.Index()), FeatureLevel: v.Cluster().FeatureLevel}
	for _, f := range v.Cluster().Faults {
		out.Faults = append(out.Faults, &api.Fault{Index: f.Index, Text: f.Text})
	}
	for _, d := range v.Cluster().Differences {
		out.Differences = append(out.Differences, &api.Difference{Replica: string(d.Replica), Index: d.Index, UnixNano: int64(d.At)})
	}
	out.Removals, out.RttClass = removals(v), string(v.Cluster().RTTClass.OrLan())
	for _, s := range all {
		out.Replicas = append(out.Replicas, StatusMessage(s))
	}
	if !r.Msg.GetLocal() {
		assess(out, all)
		out.Moms = c.moms()
	}
	return connect.NewResponse(out), nil
}

// assess adds what this replica makes of what all of them told.
func assess(out *api.StatusReply, all []member.Status) {
	verdicts, condition, mayFail := member.Assess(all)
	out.Health, out.MayFail = string(condition), uint32(mayFail)
	out.Advice = member.Advise(all)
	if advice := member.WithoutQuorum(all); advice != "" {
		out.Advice = append(out.Advice, advice)
	}
	for i, v := range verdicts {
		out.Replicas[i].Health, out.Replicas[i].Lag, out.Replicas[i].Advice = string(v.Health), v.Lag, v.Advice
	}
}

// StatusMessage writes a replica's status as it travels.
func StatusMessage(s member.Status) *api.ReplicaStatus {
	out := &api.ReplicaStatus{
		Name: string(s.Self.Name), ServerId: s.Self.ServerID, Address: s.Self.Address, Role: string(s.Role),
		Term: s.Term, CommitIndex: s.Commit, AppliedIndex: s.Applied, Version: s.Self.Version, Build: s.Self.Build,
		LastContactMs: s.LastContact.Milliseconds(), Digest: fmt.Sprintf("%016x", s.Digest),
		Host: string(s.Self.Host), GossipAddress: s.Self.GossipAddress,
		FeatureLevel: s.Self.FeatureLevel, Generation: s.Self.Generation, Start: s.Self.Start,
		Writes: uint64(s.Disk.Writes), WriteP99Us: s.Disk.P99.Microseconds(), WriteMaxUs: s.Disk.Max.Microseconds(),
		DiskSlow: s.Disk.Sick, DiskFree: s.Disk.Free, DiskLow: s.Disk.Low, DiskDir: s.Disk.Dir, Voter: s.Voter, Zone: s.Self.Zone, RttClass: string(s.Class),
	}
	if s.Scripts != nil {
		out.Scripts = &api.LargeScripts{Index: s.Scripts.Index, Missing: uint64(s.Scripts.Missing)}
	}
	for _, m := range s.Marks {
		out.Marks = append(out.Marks, &api.DigestMark{Index: m.Index, Digest: m.Digest})
	}
	for _, a := range s.Alarms {
		out.Alarms = append(out.Alarms, a.Text)
		out.AlarmDetails = append(out.AlarmDetails, &api.Alarm{Kind: string(a.Kind), Text: a.Text, Advice: a.Advice, Serves: a.Serves})
	}
	return out
}

// Transfer hands leadership to a replica that has caught up.
func (c *Cluster) Transfer(ctx context.Context, r *connect.Request[api.TransferRequest]) (*connect.Response[api.TransferReply], error) {
	if err := c.onlyManagers(ctx); err != nil {
		return nil, err
	}
	if err := c.Replica.Transfer(ctx, pbs.ReplicaName(r.Msg.GetTo())); err != nil {
		return nil, err
	}
	c.catchUp(ctx)
	return connect.NewResponse(&api.TransferReply{Leader: c.newLeader(ctx)}), nil
}

// This replica hears who leads with the first message of the new term.
const (
	newLeaderWithin = 5 * time.Second
	newLeaderEvery  = 20 * time.Millisecond
)

// newLeader returns the name of the leader as soon as one is known, "" if that takes long.
func (c *Cluster) newLeader(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, newLeaderWithin)
	defer cancel()
	look := time.NewTicker(newLeaderEvery)
	defer look.Stop()
	for {
		if name := c.leaderName(ctx); name != "" {
			return name
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ""
		}
	}
}

// catchUp waits until this replica has applied all that was acknowledged, which takes
// a leader. Without one there is nothing to wait for.
func (c *base) catchUp(ctx context.Context) { _, _ = c.Replica.Read(ctx, cluster.Fresh) }

// leaderName returns the name of the leader, "" while none is known.
func (c *Cluster) leaderName(ctx context.Context) string {
	v, err := c.present(ctx)
	address, _, ok := c.Replica.Leader()
	if err != nil || !ok {
		return ""
	}
	for r := range v.Replicas() {
		if r.Address == address {
			return string(r.Name)
		}
	}
	return ""
}

// onlyManagers permits people who administrate the cluster.
func (c *base) onlyManagers(ctx context.Context) error {
	v, err := c.present(ctx)
	if err != nil {
		return err
	}
	p, err := c.person(ctx, v)
	if err != nil {
		return err
	}
	if p.perm < attr.Manager {
		return c.told(ctx, deny(p, "Req", "Server", v.Cluster().Name, typeManage))
	}
	return nil
}

// snapshotChunk is how much of a snapshot file one message carries.
const snapshotChunk = 256 << 10

// SaveSnapshot takes a snapshot now and streams its file.
func (c *Cluster) SaveSnapshot(ctx context.Context, _ *connect.Request[api.SaveSnapshotRequest], stream *connect.ServerStream[api.SaveSnapshotReply]) error {
	if err := c.onlyManagers(ctx); err != nil {
		return err
	}
	c.catchUp(ctx)
	saved, err := c.Blobs.Attach(ctx, func(ctx context.Context) (io.ReadCloser, error) { return c.Replica.Snapshot(ctx) })
	if err != nil {
		return err
	}
	defer saved.Close()
	return inPieces(saved, snapshotChunk, func(piece []byte) error { return stream.Send(&api.SaveSnapshotReply{Data: piece}) })
}

// AddReplica makes a joined replica a non-voter; it is promoted when it has caught
// up. A replica speaks for itself only.
func (c *Cluster) AddReplica(ctx context.Context, r *connect.Request[api.AddReplicaRequest]) (*connect.Response[api.AddReplicaReply], error) {
	m := r.Msg.GetReplica()
	caller, _ := transport.CallerFrom(ctx)
	if string(caller.Host) != m.GetName() {
		return nil, fmt.Errorf("replica %s adds %s: %w", caller.Host, m.GetName(), pbs.Refuse(pbs.Unauthorized))
	}
	err := c.Replica.AddReplica(ctx, state.Replica{
		Name: pbs.ReplicaName(m.GetName()), ServerID: m.GetServerId(), Address: m.GetAddress(), GossipAddress: m.GetGossipAddress(),
	})
	return reply(&api.AddReplicaReply{}, err)
}

// ReadIndex tells a follower which index a linearizable read must wait for.
func (c *Cluster) ReadIndex(ctx context.Context, _ *connect.Request[api.ReadIndexRequest]) (*connect.Response[api.ReadIndexReply], error) {
	index, term, err := c.Replica.ReadIndex(ctx)
	return reply(&api.ReadIndexReply{Index: index, Term: term}, err)
}

// Clock tells this replica's wall clock.
func (c *Cluster) Clock(context.Context, *connect.Request[api.ClockRequest]) (*connect.Response[api.ClockReply], error) {
	return connect.NewResponse(&api.ClockReply{UnixNano: int64(c.now())}), nil
}

// LastStart tells what this replica knows of the starts of the one that asks.
func (c *Cluster) LastStart(ctx context.Context, r *connect.Request[api.LastStartRequest]) (*connect.Response[api.LastStartReply], error) {
	a, err := c.Replica.LastStart(ctx, identity.Question{
		ServerID: r.Msg.GetServerId(), Address: r.Msg.GetAddress(), Decided: r.Msg.GetDecided(),
		Start: identity.Start{Generation: r.Msg.GetGeneration(), Token: r.Msg.GetStart()},
	})
	out := &api.LastStartReply{
		Generation: a.Known.Generation, Start: a.Known.Token, ReplacedBy: a.ReplacedBy, RunsAt: a.RunsAt, Removed: a.Removed, Anew: a.Anew,
	}
	if !a.Excluded.IsZero() {
		out.Excluded = a.Excluded.Unix()
	}
	return reply(out, err)
}

// recordsPerMessage bounds one message of a Records stream.
const recordsPerMessage = 512

// Records fills a gap in another replica's ledger.
func (c *Cluster) Records(ctx context.Context, r *connect.Request[api.RecordsRequest], stream *connect.ServerStream[api.RecordsReply]) error {
	msg := &api.RecordsReply{Kept: c.Ledger.Kept()}
	err := c.Ledger.Records(r.Msg.GetFirst(), r.Msg.GetLast(), func(rec *api.LedgerRecord) error {
		msg.Records = append(msg.Records, rec)
		if len(msg.Records) < recordsPerMessage {
			return ctx.Err()
		}
		full := msg
		msg = &api.RecordsReply{}
		return stream.Send(full)
	})
	if len(msg.Records) > 0 || msg.Kept > 0 { // what there is goes out before what went wrong
		if sent := stream.Send(msg); err == nil {
			err = sent
		}
	}
	return err
}
