package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// Members implements the Members service: the membership of replicas.
type Members struct{ base }

// RemoveReplica takes a replica out of the cluster for good. A leader that is to go hands
// over, and the request is done by the next one. A caller that asks through the replica itself
// gets its answer before that is cut off.
func (m *Members) RemoveReplica(ctx context.Context, r *connect.Request[api.RemoveReplicaRequest]) (*connect.Response[api.RemoveReplicaReply], error) {
	name := pbs.ReplicaName(r.Msg.GetReplica())
	caller, _ := transport.CallerFrom(ctx)
	_, err := m.change(ctx, r, func(p person) ([]command.Command, error) {
		if p.perm < attr.Manager {
			return nil, deny(p, "Req", "Server", p.view.Cluster().Name, typeManage)
		}
		if _, ok := p.view.Replica(name); ok {
			if err := m.Replica.MayRemove(ctx, name); err != nil {
				return nil, err
			}
			if err := m.giveWay(ctx, name); err != nil {
				return nil, err
			}
		}
		return []command.Command{&command.RemoveReplica{Name: name}}, nil
	})
	if err != nil {
		return nil, err
	}
	out := &api.RemoveReplicaReply{Pending: string(caller.Host) == string(name)}
	if out.Pending {
		err = m.Replica.Withdraw(ctx, name)
	} else {
		err = m.Replica.FinishRemoval(ctx, name)
	}
	if v, present := m.present(ctx); present == nil {
		out.GossipTurning = len(v.Cluster().GossipKeys) > 1
	}
	return reply(out, err)
}

// giveWay hands leadership over if this replica is the one to go.
func (m *Members) giveWay(ctx context.Context, name pbs.ReplicaName) error {
	if m.Replica.Status().Self.Name != name {
		return nil
	}
	if err := m.Replica.Transfer(ctx, ""); err != nil && !errors.Is(err, cluster.ErrNotLeader) {
		return err
	}
	return fmt.Errorf("remove %s: it has handed over: %w", name, cluster.ErrNotLeader)
}

// RTTClass shows or changes how far the replicas are from each other, and tells who runs with
// other times until it is restarted.
func (m *Members) RTTClass(ctx context.Context, r *connect.Request[api.RTTClassRequest]) (*connect.Response[api.RTTClassReply], error) {
	if asked := r.Msg.GetRttClass(); asked != "" {
		if err := m.setClass(ctx, r, asked); err != nil {
			return nil, err
		}
	}
	v, err := m.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return nil, err
	}
	out := &api.RTTClassReply{RttClass: string(v.Cluster().RTTClass.OrLan())}
	for _, s := range m.Replica.Statuses(ctx) {
		if s.Wants != "" {
			out.Waiting = append(out.Waiting, string(s.Self.Name))
		}
	}
	return connect.NewResponse(out), nil
}

func (m *Members) setClass(ctx context.Context, r connect.AnyRequest, asked string) error {
	_, err := m.change(ctx, r, func(p person) ([]command.Command, error) {
		if p.perm < attr.Manager {
			return nil, deny(p, "Req", "Server", p.view.Cluster().Name, typeManage)
		}
		class, err := pbs.ParseRTTClass(asked)
		if err != nil {
			return nil, pbs.Errorf(pbs.InvalidRequest, "%v", err)
		}
		return []command.Command{&command.SetRTTClass{Class: class}}, nil
	})
	return err
}

// Standing tells a replica whether it was removed; a removed one can no longer authenticate as a replica.
func (m *Members) Standing(ctx context.Context, r *connect.Request[api.StandingRequest]) (*connect.Response[api.StandingReply], error) {
	v, err := m.present(ctx)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&api.StandingReply{Removed: v.Barred(r.Msg.GetServerId())}), nil
}

// removals tells which replicas leave or have left, the latest first.
func removals(v *state.View) []*api.Removal {
	var all []*api.Removal
	for _, x := range v.Cluster().Removals {
		m := &api.Removal{Replica: string(x.Name), Decided: unix(x.At), Left: unix(x.Left)}
		if i := strings.LastIndexByte(x.ReplacedBy, '.'); i >= 0 {
			m.ReplacedBy = x.ReplacedBy[:i] // NAME.DISKID
		}
		if x.By.Name != "" {
			m.Asker = x.By.String()
		}
		all = append(all, m)
	}
	return all
}
