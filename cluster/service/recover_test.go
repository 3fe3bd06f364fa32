package service

import (
	"context"
	"testing"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

func TestRecover_OnlyManagersAndReplicasThatRelay(t *testing.T) {
	b := newBench(t)
	ask := func(c transport.Caller, m *api.RecoverRequest) error {
		_, err := b.Recovery.Recover(transport.WithCaller(context.Background(), c), connect.NewRequest(m))
		return err
	}
	user := func(name string, role transport.Role, host pbs.HostName) transport.Caller {
		return transport.Caller{Role: role, Host: host, User: pbs.User{Name: name, Host: host}, Vouched: true}
	}
	lost := &api.RecoverRequest{Lost: []string{"s2"}, User: "somebody", Host: "else", Relayed: true}
	for name, c := range map[string]transport.Caller{
		"a user": user("ann", transport.RoleReplica, "s1host"), "root elsewhere": user("root", transport.RoleSubmit, "login"),
		"a mom": {Role: transport.RoleMom, Host: "hosta"},
	} {
		if err := ask(c, lost); err == nil {
			t.Errorf("%s may recover", name)
		}
	}
	if err := ask(transport.Caller{Role: transport.RoleReplica, Host: "s1host"}, &api.RecoverRequest{Lost: []string{"s2"}}); err == nil {
		t.Error("a replica may recover at its own wish")
	}
	if len(b.disasters) != 0 {
		t.Fatalf("refused, and done: %+v", b.disasters)
	}
	if err := ask(user("root", transport.RoleReplica, "s1host"), lost); err != nil {
		t.Error(err)
	}
	if err := ask(transport.Caller{Role: transport.RoleReplica, Host: "s2host"}, &api.RecoverRequest{
		Lost: []string{"s2"}, User: "boss", Host: "h", Relayed: true,
	}); err != nil {
		t.Error(err)
	}
	if len(b.disasters) != 2 || b.disasters[0].By != (pbs.User{Name: "root", Host: "s1host"}) || b.disasters[0].Relayed ||
		b.disasters[1].By != (pbs.User{Name: "boss", Host: "h"}) || !b.disasters[1].Relayed {
		t.Errorf("told of %+v", b.disasters)
	}
}
