package main

import (
	"context"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/build"
	"rampart/transport/client"
)

// removing waits for the level at which replicas can be removed, and asks as root of a host.
func (s *site) removing(by, name string) (*api.RemoveReplicaReply, error) {
	s.t.Helper()
	s.until("the feature level", time.Minute, func() bool {
		return s.leader() != nil
	})
	ctx := client.WithRequestID(s.t.Context(), client.NewRequestID())
	var first *api.RemoveReplicaReply
	for range 2 { // the first answer may be lost (L8)
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		reply, err := s.client(by, "root", s.daemons[by].server.Listen).Members().
			RemoveReplica(ctx, connect.NewRequest(&api.RemoveReplicaRequest{Replica: name}))
		cancel()
		if err != nil {
			return nil, err
		}
		first = reply.Msg
		if first.GetPending() {
			break // this host would not hear the answer again
		}
	}
	return first, nil
}

// out reports whether a replica is off the record and revoked, and the others do their work.
func (s *site) out(name string) bool {
	if s.leader() == nil {
		return false
	}
	v := s.view()
	_, known := v.Replica(pbs.ReplicaName(name))
	return !known && v.Revoked("replica", pbs.HostName(name)) && len(v.Leaving()) == 0
}

func (s *site) saysRemoved(name string) bool {
	return len(s.log.with("no member any more", "daemon="+name)) > 0
}

func TestRemove_CutOffSaysSoAndComesBackByANewTokenOnly(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	onSite(t, func(t *testing.T, s *site) {
		out, by := s.followers()[0], s.followers()[1]
		old := s.token("replica", out)
		reply, err := s.removing(by, out)
		if err != nil || reply.GetPending() || !reply.GetGossipTurning() || !s.out(out) {
			t.Fatalf("%v, %v", reply, err)
		}
		s.until("a replica that says so", time.Minute, func() bool { return s.saysRemoved(out) })
		s.kill(out)
		s.log.clear()
		s.start(out)
		s.until("a replica that says so again", time.Minute, func() bool { return s.saysRemoved(out) })
		<-time.After(time.Minute)
		if !s.out(out) || !s.up("hosta") {
			t.Error("it came back by itself")
		}
		if _, err := s.removing(by, s.leader().name); err != nil { // two are left, then one
			t.Errorf("one of two, the leader: %v", err)
		}
		last := s.leader().name
		if _, err := s.removing(last, last); pbs.CodeOf(err) != pbs.InvalidRequest {
			t.Errorf("the last one: %v", err)
		}
		s.kill(out)
		at := s.daemons[last].server.Listen
		admin := s.client(last, "root", at)
		again, err := admin.Cluster().CreateToken(t.Context(), connect.NewRequest(&api.CreateTokenRequest{Role: "replica", Host: out}))
		if err != nil {
			t.Fatal(err)
		}
		if s.tryRejoin(out, old, at) == nil {
			t.Error("an old token lets it in")
		}
		s.rejoin(out, again.Msg.GetToken(), at)
		s.until("a replica that is back", 2*time.Minute, func() bool {
			_, known := s.view().Replica(pbs.ReplicaName(out))
			return known && s.daemons[out].machine.View().Index() > 0
		})
	})
}

// TestRemove_TheLeaderAskedThroughItself: it hands over, and answers before it is cut off.
func TestRemove_TheLeaderAskedThroughItself(t *testing.T) {
	onSite(t, func(t *testing.T, s *site) {
		out := s.leader().name
		reply, err := s.removing(out, out)
		if err != nil || !reply.GetPending() {
			t.Fatalf("%v, %v", reply, err)
		}
		s.until("the end of it", time.Minute, func() bool { return s.leader() != nil && s.leader().name != out && s.out(out) })
		s.until("a replica that says so", time.Minute, func() bool { return s.saysRemoved(out) })
		if s.leader().name == out || !s.up("hosta") {
			t.Error("the others do not go on")
		}
	})
}
