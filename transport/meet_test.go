package transport_test

import (
	"io"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"
)

// barred is what a process thinks of hosts, until they are barred.
type barred struct{ host atomic.Value }

func (b *barred) bar(host pbs.HostName) { b.host.Store(host) }

func (b *barred) check(_ transport.Role, host pbs.HostName, _ string) error {
	if b.host.Load() == host {
		return pbs.Refuse(pbs.Unauthorized)
	}
	return nil
}

func TestRecheck_CutsAStreamInTheMiddle(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1, gate := w.replica("s1"), new(barred)
		w.leader.Store("s1")
		s1.id.Check = gate.check
		c := w.client("login", client.Options{
			Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "joe",
		})
		other := w.client("login2", client.Options{
			Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleSubmit, "login2"), User: "joe",
		})
		stream, err := c.Batch().List(t.Context(), connect.NewRequest(&api.ListRequest{}))
		if err != nil || !stream.Receive() {
			t.Fatalf("list: %v", err)
		}
		spared, err := other.Batch().List(t.Context(), connect.NewRequest(&api.ListRequest{}))
		if err != nil || !spared.Receive() {
			t.Fatalf("list: %v", err)
		}
		began := time.Now()
		gate.bar("login")
		s1.id.Recheck()
		if stream.Receive() || stream.Err() == nil || time.Since(began) > time.Second {
			t.Errorf("the stream went on for %s, %v", time.Since(began), stream.Err())
		}
		if !spared.Receive() {
			t.Errorf("the stream of another host: %v", spared.Err())
		}
		_ = stream.Close()
		_ = spared.Close()
	})
}

func TestRecheck_CutsRaftAndOrdersOnBothSides(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1, gate := w.replica("s1"), new(barred)
		s1.id.Check = gate.check
		accepted := make(chan io.Closer, 1)
		w.wg.Go(func() {
			if conn, err := s1.server.Raft().Accept(); err == nil {
				accepted <- conn
			}
		})
		s2 := w.identity(transport.RoleReplica, "s2")
		conn, err := s2.RaftDialer(w.net.Host("s2"))(t.Context(), "s1:15001")
		if err != nil {
			t.Fatal(err)
		}
		raft := <-accepted
		gate.bar("s2")
		s1.id.Recheck()
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
			t.Errorf("Raft goes on: %v", err)
		}
		if again, err := s2.RaftDialer(w.net.Host("s2"))(t.Context(), "s1:15001"); err == nil {
			_ = again.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := again.Read(make([]byte, 1)); err == nil || isTimeout(err) {
				t.Errorf("Raft comes back: %v", err)
			}
			_ = again.Close()
		}
		_, _ = conn.Close(), raft.Close()

		mom := w.start(transport.RoleMom, "hosta")
		moms := client.NewMoms(w.net.Host("s1"), s1.id)
		w.wg.Go(func() {
			<-w.ctx.Done()
			moms.Close()
		})
		ping := func() error {
			_, err := moms.AgentOf("hosta", "hosta:15001").Ping(t.Context(), connect.NewRequest(&api.PingRequest{}))
			return err
		}
		if err := ping(); err != nil {
			t.Fatal(err)
		}
		gate.bar("hosta")
		s1.id.Recheck()
		if err := ping(); err == nil || mom.calls() != 1 {
			t.Errorf("the pooled connection to the mom goes on: %v, %d calls", err, mom.calls())
		}
	})
}

func isTimeout(err error) bool {
	timeout, ok := err.(interface{ Timeout() bool })
	return ok && timeout.Timeout()
}

// A replica that is behind may still pass on what a host asks that the leader has barred.
func TestCheck_OfWhatAnotherReplicaPassesOn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1, gate := w.replica("s1"), new(barred)
		w.replica("s2")
		w.leader.Store("s1")
		s1.id.Check = gate.check
		c := w.client("login", client.Options{
			Replicas: []string{"s2:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "joe",
		})
		if _, err := submit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		gate.bar("login")
		if _, err := submit(t.Context(), c); connect.CodeOf(err) != connect.CodeUnauthenticated || s1.calls() != 1 {
			t.Errorf("through a replica that is behind: %v, %d calls", err, s1.calls())
		}
	})
}
