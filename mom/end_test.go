package mom

import (
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/transport/api"
)

// TestEndMom: a mom that the leader tells to end does so when its answer is out, and leaves its jobs running; a leader of an earlier term does not end it.
func TestEndMom(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.term = 5
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.wants("1.srv", "1 started")
		if _, err := w.mom.EndMom(t.Context(), connect.NewRequest(&api.EndMomRequest{Epoch: w.servers.epoch, Term: 4})); connect.CodeOf(err) != connect.CodeFailedPrecondition {
			t.Errorf("an earlier leader: %v", err)
		}
		sleep(2 * time.Second)
		if w.mom.running() == nil {
			t.Fatal("an earlier leader has ended it")
		}
		if _, err := w.mom.EndMom(t.Context(), connect.NewRequest(&api.EndMomRequest{Epoch: w.servers.epoch, Term: 5})); err != nil {
			t.Fatal(err)
		}
		if w.mom.running() == nil {
			t.Error("it ends before it has answered")
		}
		sleep(2 * time.Second)
		if w.mom.running() != nil || !strings.Contains(w.log(), "told to end by the servers") {
			t.Errorf("it goes on: %s", w.log())
		}
		w.wants("1.srv", "1 started") // and has not ended
	})
}
