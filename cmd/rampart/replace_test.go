package main

import (
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/memnet"
)

// TestReplace_TheDeadOneComesBackByItself: a newcomer takes its place; back with its disk, it
// is taken in again, and nobody had to say a word.
func TestReplace_TheDeadOneComesBackByItself(t *testing.T) {
	onSite(t, func(t *testing.T, s *site) {
		dead := s.followers()[0]
		s.kill(dead)
		s.joinReplica("s4")
		s.until("another in its place", 2*time.Minute, func() bool {
			_, known := s.view().Replica(pbs.ReplicaName(dead))
			return !known && s.voters() == 3
		})
		if len(s.log.with("replacing a replica that is silent", "server="+dead)) == 0 {
			t.Error("the log does not tell of it")
		}
		s.start(dead)
		s.until("four voters", 2*time.Minute, func() bool { return s.leader() != nil && s.voters() == 4 })
		if s.view().Revoked("replica", pbs.HostName(dead)) || !s.up("hosta") {
			t.Error("it was cut off")
		}
	})
}

// TestClass_JoinersAreTold: the class of the founding is in the state, on the disks of those
// who join, and in the status; a change of it tells whom to restart.
func TestClass_JoinersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{t: t, net: memnet.New(1), dir: t.TempDir(), daemons: map[string]*daemon{}, class: pbs.RTTWan}
		defer s.end()
		s.found("s1")
		s.until("the class in the state", time.Minute, func() bool { return s.view().Cluster().RTTClass == pbs.RTTWan })
		s.joinReplica("s2")
		s.until("two voters", 2*time.Minute, func() bool { return s.leader() != nil && s.voters() == 2 })
		if c := s.daemons["s2"].server.RTTClass; c != pbs.RTTWan {
			t.Errorf("s2 was told %q", c)
		}
		status, err := s.root().Cluster().Status(t.Context(), connect.NewRequest(&api.StatusRequest{}))
		if err != nil || status.Msg.GetRttClass() != "wan" || status.Msg.GetHealth() != "degraded" {
			t.Fatalf("%v, %v", status, err)
		}
		for _, r := range status.Msg.GetReplicas() {
			if r.GetRttClass() != "wan" {
				t.Errorf("%s runs with the times of %q", r.GetName(), r.GetRttClass())
			}
		}
		ask := func(class string) (*connect.Response[api.RTTClassReply], error) {
			return s.root().Members().RTTClass(t.Context(), connect.NewRequest(&api.RTTClassRequest{RttClass: class}))
		}
		if _, err := ask("moon"); pbs.CodeOf(err) != pbs.InvalidRequest {
			t.Errorf("moon: %v", err)
		}
		reply, err := ask("metro")
		if err != nil || reply.Msg.GetRttClass() != "metro" || len(reply.Msg.GetWaiting()) != 2 {
			t.Errorf("%v, %v", reply, err)
		}
	})
}
