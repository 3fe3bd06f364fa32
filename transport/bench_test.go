package transport_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
)

// startReal serves a replica on loopback; where says where the leader is.
func startReal(b *testing.B, ca *transport.CA, name pbs.HostName, where func() (string, bool, bool)) string {
	b.Helper()
	id, err := ca.Issue(transport.RoleReplica, name, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	p := &process{id: id}
	p.handler = transport.NewHandler(transport.HandlerConfig{Identity: id, Logger: discard, Network: transport.System{}, Leader: where})
	p.handler.Mount(apiconnect.NewBatchHandler(p, connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, discard))))
	s, err := transport.NewServer(b.Context(), transport.ServerConfig{
		Network: transport.System{}, Address: "127.0.0.1:0", Identity: id, Handler: p.handler, Logger: discard,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	b.Cleanup(func() { cancel(); <-done })
	return s.Addr().String()
}

func BenchmarkSubmit(b *testing.B) {
	ca, err := transport.NewCA("c1", time.Now())
	if err != nil {
		b.Fatal(err)
	}
	leader := startReal(b, ca, "s1", func() (string, bool, bool) { return "", true, true })
	follower := startReal(b, ca, "s2", func() (string, bool, bool) { return leader, false, true })
	id, err := ca.Issue(transport.RoleSubmit, "login", time.Now())
	if err != nil {
		b.Fatal(err)
	}
	tr := transport.NewTransport(transport.System{}, id.ClientTLS(transport.RoleReplica))
	bare := apiconnect.NewBatchClient(&http.Client{Transport: tr}, "https://"+leader)
	for name, batch := range map[string]apiconnect.BatchClient{
		"bare":     bare,
		"leader":   client.New(client.Options{Replicas: []string{leader}, Identity: id, User: "joe"}).Batch(),
		"follower": client.New(client.Options{Replicas: []string{follower}, Identity: id, User: "joe"}).Batch(),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					req := connect.NewRequest(&api.SubmitRequest{Script: []byte("sleep 1")})
					req.Header().Set(transport.HeaderUser, "joe")
					if _, err := batch.Submit(b.Context(), req); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
