package transport_test

import (
	"context"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"

	"connectrpc.com/connect"
)

// Watch goes on until its server ends.
func (p *process) Watch(ctx context.Context, _ *connect.Request[api.WatchRequest], s *connect.ServerStream[api.WatchReply]) error {
	if err := s.Send(&api.WatchReply{Index: 1}); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-transport.Stopping(ctx):
		return pbs.Refuse(pbs.NoQuorum)
	}
}

// TestStopping_EndsWhatWouldGoOn: a server that ends does not wait for those who watch.
func TestStopping_EndsWhatWouldGoOn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		c := w.client("login", client.Options{
			Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "ann",
		})
		stream, err := c.Batch().Watch(w.ctx, connect.NewRequest(&api.WatchRequest{}))
		if err != nil || !stream.Receive() {
			t.Fatalf("watch: %v, %v", err, stream.Err())
		}
		begin := time.Now()
		s1.kill()
		if stream.Receive() || stream.Err() == nil {
			t.Error("the stream goes on, or ends as if nothing more could come")
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("it ended after %s", took)
		}
	})
}

// TestStopping_IdleConnectionsHoldNobodyUp: a restart is as long as its requests in hand,
// and not as long as a protocol's farewell.
func TestStopping_IdleConnectionsHoldNobodyUp(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		c := w.client("login", client.Options{
			Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "ann",
		})
		w.leader.Store("s1")
		if _, err := submit(w.ctx, c); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		s1.kill()
		<-s1.ended
		if took := time.Since(begin); took > 200*time.Millisecond {
			t.Errorf("the server ended after %s", took)
		}
	})
}

// TestStopping_RequestsInHandAreAnswered: what was begun before the end gets its answer.
func TestStopping_RequestsInHandAreAnswered(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		c := w.client("login", client.Options{
			Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "ann",
		})
		w.leader.Store("s1")
		begun := make(chan struct{})
		s1.answer = func(int) error {
			close(begun)
			<-time.After(2 * time.Second)
			return nil
		}
		answered := make(chan error, 1)
		go func() {
			_, err := submit(w.ctx, c)
			answered <- err
		}()
		<-begun
		s1.kill()
		if err := <-answered; err != nil || s1.calls() != 1 {
			t.Errorf("%v after %d calls", err, s1.calls())
		}
	})
}

// TestSilent_NobodyWaitsHereForALeader: a replica whose store does not answer hears of no leader;
// its people are sent away at once.
func TestSilent_NobodyWaitsHereForALeader(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1, s2 := w.replica("s1"), w.replica("s2")
		c := w.client("login", client.Options{
			Replicas: []string{"s1:15001", "s2:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "ann",
		})
		s1.silent.Store(true)
		begin := time.Now()
		answered := make(chan error, 1)
		go func() {
			_, err := submit(w.ctx, c)
			answered <- err
		}()
		<-time.After(100 * time.Millisecond)
		w.leader.Store("s2")
		s2.silent.Store(false)
		if err := <-answered; err != nil || s2.calls() != 1 || time.Since(begin) > time.Second {
			t.Errorf("%v after %d calls and %s", err, s2.calls(), time.Since(begin))
		}
	})
}

// TestStopping_NobodyWaitsHereForALeader: a process that ends will not hear who leads next;
// its people are sent away at once.
func TestStopping_NobodyWaitsHereForALeader(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1, s2 := w.replica("s1"), w.replica("s2")
		c := w.client("login", client.Options{
			Replicas: []string{"s1:15001", "s2:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "ann",
		})
		answered := make(chan error, 1)
		go func() {
			_, err := submit(w.ctx, c)
			answered <- err
		}()
		<-time.After(100 * time.Millisecond) // it waits at s1
		begin := time.Now()
		s1.kill()
		<-s1.ended
		if took := time.Since(begin); took > 200*time.Millisecond {
			t.Errorf("the server ended after %s", took)
		}
		w.leader.Store("s2")
		if err := <-answered; err != nil || s2.calls() != 1 {
			t.Errorf("%v after %d calls", err, s2.calls())
		}
	})
}
