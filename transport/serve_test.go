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
