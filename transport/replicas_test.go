package transport_test

import (
	"fmt"
	"testing"

	"connectrpc.com/connect"

	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"
)

// TestReplicas_RumourIsAskedLast: who knows one replica reaches another of which it was told by gossip, once
// that one is gone; what gossip says is never asked first, and is bounded.
func TestReplicas_RumourIsAskedLast(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.replica("s2")
		w.leader.Store("s2")
		known := transport.NewReplicas("s1:15001")
		c := w.client("hosta", client.Options{Shared: known, Identity: w.identity(transport.RoleMom, "hosta"), User: "joe"})
		list := func() error {
			stream, err := c.Batch().List(t.Context(), connect.NewRequest(&api.ListRequest{}))
			if err != nil {
				return err
			}
			stream.Receive()
			defer stream.Close()
			return stream.Err()
		}
		if err := list(); err == nil {
			t.Fatal("the one known replica is not there, and yet it answers")
		}
		for i := range 100 {
			known.Rumour(fmt.Sprintf("nowhere%d:15001", i))
		}
		known.Rumour("")
		known.Rumour("s2:15001")
		if err := list(); err != nil {
			t.Errorf("with a rumour of s2: %v", err)
		}
		if all := known.Addresses(); len(all) != 1 {
			t.Errorf("on record are %v, want s1 alone", all)
		}
	})
}
