package service

import (
	"context"

	"connectrpc.com/connect"

	"rampart/cluster/recovery"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

// Recovery implements the Recovery service: what can be done without a quorum. Every replica answers it, whatever it
// waits for.
type Recovery struct{ base }

// LogEnd tells how far the log of this replica reaches.
func (s *Recovery) LogEnd(context.Context, *connect.Request[api.LogEndRequest]) (*connect.Response[api.LogEndReply], error) {
	end, err := s.Replica.LogEnd()
	return reply(&api.LogEndReply{End: endMessage(end)}, err)
}

// Recover makes the cluster go on with the furthest log of those that survived. Managers may
// say so; where the state has not been loaded, root on a replica's host.
func (s *Recovery) Recover(ctx context.Context, r *connect.Request[api.RecoverRequest]) (*connect.Response[api.RecoverReply], error) {
	by, err := s.recoverer(ctx, r.Msg)
	if err != nil {
		return nil, err
	}
	plan, err := s.Replica.Recover(ctx, disaster(r.Msg, by))
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(rescueMessage(plan)), nil
}

// recoverer returns whose word it is. A replica that relays it has asked that itself.
func (s *Recovery) recoverer(ctx context.Context, m *api.RecoverRequest) (pbs.User, error) {
	caller, _ := transport.CallerFrom(ctx)
	if !caller.Person() {
		if caller.Role != transport.RoleReplica || !m.GetRelayed() {
			return pbs.User{}, pbs.Refuse(pbs.Unauthorized)
		}
		return pbs.User{Name: m.GetUser(), Host: pbs.HostName(m.GetHost())}, nil
	}
	m.Relayed = false // only a replica may say so
	return caller.User, s.onlyManagers(ctx)
}

func disaster(m *api.RecoverRequest, by pbs.User) recovery.Disaster {
	d := recovery.Disaster{By: by, Look: m.GetLook(), Relayed: m.GetRelayed()}
	for _, name := range m.GetLost() {
		d.Lost = append(d.Lost, pbs.ReplicaName(name))
	}
	return d
}

// DisasterMessage writes a request as one replica relays it to another.
func DisasterMessage(d recovery.Disaster) *api.RecoverRequest {
	m := &api.RecoverRequest{Look: d.Look, Relayed: true, User: d.By.Name, Host: string(d.By.Host)}
	for _, name := range d.Lost {
		m.Lost = append(m.Lost, string(name))
	}
	return m
}

func rescueMessage(r recovery.Rescue) *api.RecoverReply {
	m := &api.RecoverReply{Lost: r.Lost, Epoch: r.Epoch, Committed: r.Committed, UnixNano: int64(r.Time)}
	for _, s := range r.Survivors {
		m.Survivors = append(m.Survivors, endMessage(s))
	}
	return m
}

// RescueOf reads the answer to a request.
func RescueOf(m *api.RecoverReply) recovery.Rescue {
	r := recovery.Rescue{Lost: m.GetLost(), Epoch: m.GetEpoch(), Committed: m.GetCommitted(), Time: pbs.Time(m.GetUnixNano())}
	for _, s := range m.GetSurvivors() {
		r.Survivors = append(r.Survivors, EndOf(s))
	}
	return r
}

func endMessage(e recovery.LogEnd) *api.LogEnd {
	return &api.LogEnd{ServerId: e.ServerID, Address: e.Address, Voter: e.Voter, Index: e.Index, Term: e.Term, Leader: e.Leader}
}

// EndOf reads how far a replica's log reaches.
func EndOf(m *api.LogEnd) recovery.LogEnd {
	return recovery.LogEnd{
		ServerID: m.GetServerId(), Address: m.GetAddress(), Voter: m.GetVoter(),
		Index: m.GetIndex(), Term: m.GetTerm(), Leader: m.GetLeader(),
	}
}
