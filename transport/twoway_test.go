package transport_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
)

// A talk is what one side of a call in both directions saw of its end.
type talk struct {
	over  bool // the replica ends the call once it has heard something
	heard chan error
}

// hold is the replica's side.
func (t *talk) hold(s *connect.BidiStream[api.TerminalUp, api.TerminalDown]) error {
	if _, err := s.Receive(); err != nil {
		return err
	}
	if err := s.Send(&api.TerminalDown{}); err != nil {
		return err
	}
	if t.over {
		return connect.NewError(connect.CodeUnavailable, errors.New("the session has ended"))
	}
	_, err := s.Receive()
	t.heard <- err
	return err
}

// talkers are the ways to a replica for somebody who talks while he is answered: through the
// gateway of a host without one, and with a connection of his own.
func (w *world) talkers(t *talk) map[string]apiconnect.BatchClient {
	w.replica("s1").talk = t.hold
	w.leader.Store("s1")
	tr := &http.Transport{DialContext: dialMem(w, "login"), Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	w.wg.Go(func() {
		<-w.ctx.Done()
		tr.CloseIdleConnections()
	})
	w.forwarder("login", "s1:15001")
	return map[string]apiconnect.BatchClient{
		"through a gateway": apiconnect.NewBatchClient(&http.Client{Transport: tr}, "http://gateway"),
		"by itself": w.client("laptop", client.Options{
			Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleSubmit, "laptop"), User: "joe",
		}).Batch(),
	}
}

// within fails unless something ends in that time.
func within(t *testing.T, d time.Duration, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(d):
		t.Errorf("%s: it goes on", what)
	}
}

// TestTwoWay_EndsWithTheAnswer: a caller who still may talk hears that he has been answered.
func TestTwoWay_EndsWithTheAnswer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for name, c := range w.talkers(&talk{over: true}) {
			ctx, cancel := context.WithCancel(t.Context())
			s := c.Attach(ctx)
			if err := s.Send(&api.TerminalUp{Job: "1.s"}); err != nil {
				t.Fatal(name, err)
			}
			if _, err := s.Receive(); err != nil {
				t.Fatal(name, err)
			}
			within(t, time.Second, name, func() {
				if _, err := s.Receive(); connect.CodeOf(err) != connect.CodeUnavailable {
					t.Errorf("%s: %v", name, err)
				}
			})
			_ = s.CloseRequest()
			cancel()
		}
	})
}

// TestTwoWay_EndsWithItsContext: whoever gives a call up hears no more of it, and the replica
// hears that he is gone.
func TestTwoWay_EndsWithItsContext(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		k := &talk{heard: make(chan error, 1)}
		for name, c := range w.talkers(k) {
			ctx, cancel := context.WithCancel(t.Context())
			s := c.Attach(ctx)
			if err := s.Send(&api.TerminalUp{Job: "1.s"}); err != nil {
				t.Fatal(name, err)
			}
			if _, err := s.Receive(); err != nil {
				t.Fatal(name, err)
			}
			time.AfterFunc(time.Second, func() {
				cancel()
				if name == "through a gateway" { // with HTTP/2 as it is, which does not look
					_ = s.CloseResponse()
				}
			})
			within(t, 2*time.Second, name+", here", func() { _, _ = s.Receive() })
			within(t, time.Second, name+", there", func() { <-k.heard })
			_ = s.CloseRequest()
		}
	})
}
