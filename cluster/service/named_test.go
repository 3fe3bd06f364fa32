package service

import (
	"context"
	"errors"
	"testing"

	"connectrpc.com/connect"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// A command means the server that its user named, whatever gateway it came through.
func TestNamed_RefusesAnotherServer(t *testing.T) {
	b := newBench(t)
	resolve := func(_ context.Context, host string) ([]string, error) {
		switch host {
		case "s1", "batch.site.org":
			return []string{"10.0.0.1"}, nil
		case "mail.site.org":
			return []string{"10.0.0.9"}, nil
		}
		return nil, errors.New("no such host")
	}
	asked := 0
	call := Named(b, resolve).WrapUnary(func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) {
		asked++
		return nil, nil
	})
	for _, c := range []struct {
		server string
		ours   bool
	}{
		{"", true},
		{"default", true},
		{"srv", true},
		{"srv:15001", true},
		{"s1", true},
		{"s1host", true},
		{"s1host.site.org", true},
		{"s1host.site.org:15001", true},
		{"s1:15001", true},
		{"other,s1host", true},
		{"batch.site.org", true},
		{"10.0.0.1", true},
		{"10.0.0.1:15001", true},
		{"SRV", true},
		{"S1Host.Site.org:15001", true},
		{"LocalHost", true},
		{"localhost:15001", true},
		{"[::1]:15001", true},
		{"localhost:1", false},
		{"localhost.site.org", false},
		{"other", false},
		{"other,another", false},
		{"mail.site.org", false},
		{"s1:1", false},
		{"10.0.0.1:1", false},
		{"batch.site.org:1", false},
		{"s1hostile", false},
		{":15001", false},
	} {
		r := connect.NewRequest(&api.SubmitRequest{})
		r.Header().Set(transport.HeaderServer, c.server)
		before := asked
		_, err := call(t.Context(), r)
		if ours := asked > before; ours != c.ours || !ours && pbs.CodeOf(err) != pbs.NoServer {
			t.Errorf("%q: done %v, %v; want %v", c.server, ours, err, c.ours)
		}
	}
}

// A replica that waits for the others has no state that could tell who it is, and must be
// able to say what it waits for, and to be recovered.
func TestNamed_BeforeTheStateIsLoaded(t *testing.T) {
	b := &bench{t: t, store: state.NewStore()}
	asked := 0
	call := Named(b, nil).WrapUnary(func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) {
		asked++
		return nil, nil
	})
	r := connect.NewRequest(&api.StatusRequest{})
	r.Header().Set(transport.HeaderServer, "srv")
	if _, err := call(t.Context(), r); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

// The first replica of a new cluster has begun its term before it has said who it is: who
// asks by its address in between is not refused.
func TestNamed_BeforeAnyReplicaHasAnnouncedItself(t *testing.T) {
	b := &bench{t: t, store: state.NewStore()}
	b.do(&command.InitCluster{ID: "c1", Name: "srv", Epoch: 7})
	asked := 0
	call := Named(b, nil).WrapUnary(func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) {
		asked++
		return nil, nil
	})
	r := connect.NewRequest(&api.CreateTokenRequest{})
	r.Header().Set(transport.HeaderServer, "127.0.0.9")
	if _, err := call(t.Context(), r); err != nil || asked != 1 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	b.do(&command.PutReplica{Replica: state.Replica{Name: "s1", Host: "s1host", Address: "s1:15001"}})
	if _, err := call(t.Context(), r); pbs.CodeOf(err) != pbs.NoServer {
		t.Errorf("afterwards: %v", err)
	}
}

// Before the founding is in the log nobody's rights are known: who asks then is told to ask again.
func TestPerson_WithoutAState(t *testing.T) {
	b := newBench(t)
	r := request(&api.CreateTokenRequest{Role: "mom"}, "")
	b.behind = state.NewStore().View()
	if _, err := b.Cluster.CreateToken(b.as("boss"), r); pbs.CodeOf(err) != pbs.NoQuorum {
		t.Errorf("before: %v", err)
	}
	if _, err := b.Cluster.CreateToken(b.as("root@replica:s1"), r); err != nil { // who recovers a cluster must be able to
		t.Errorf("root of a replica, before: %v", err)
	}
	b.behind = nil
	if _, err := b.Cluster.CreateToken(b.as("boss"), r); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
