package transport_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"
)

// What the leader logs about a request is in the log of the replica that was asked, too, once, whatever comes of the request; of one
// that the leader was asked itself it is in its own alone, and nobody who asks sees anything of it.
func TestNote_InTheLogOfWhoWasAsked(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1, s2 := w.replica("s1"), w.replica("s2")
		w.leader.Store("s2")
		lines := []transport.LogLine{
			{Event: pbs.LogDebug2, Class: "Req", Text: "Type 1 request received from joe@hosta, sock=0"},
			{Event: pbs.LogDebug | pbs.LogForce, Class: "Req", Object: "req_reject", Text: "50% & more\r\nä;b"},
		}
		s2.work = func(ctx context.Context) {
			for _, l := range lines {
				transport.Note(ctx, l)
			}
		}
		ask := func(server string) {
			t.Helper()
			c := w.client("hosta", client.Options{Replicas: []string{server + ":15001"}, Identity: w.identity(transport.RoleMom, "hosta"), User: "joe"})
			reply, err := c.Batch().Submit(t.Context(), connect.NewRequest(&api.SubmitRequest{}))
			if refusal := pbs.CodeOf(err); err != nil && refusal != pbs.ScriptOverLimit {
				t.Fatal(err)
			}
			if err == nil && reply.Header().Get("Rampart-Noted") != "" {
				t.Errorf("whoever asks at %s reads the log: %v", server, reply.Header())
			}
		}
		for _, answer := range []func(int) error{nil, func(int) error { return pbs.Refuse(pbs.ScriptOverLimit) }} {
			s1.logged, s2.answer = nil, answer
			ask("s1")
			if !slices.Equal(s1.logged, lines) || len(s2.logged) != 0 {
				t.Errorf("the log of s1 has %+v, that of s2 besides %+v", s1.logged, s2.logged)
			}
			s1.logged = nil
			ask("s2")
			if len(s1.logged)+len(s2.logged) != 0 {
				t.Errorf("asked at the leader: s1 %+v, s2 besides %+v", s1.logged, s2.logged)
			}
		}
		s1.logged, s2.answer = nil, nil
		s2.work = func(ctx context.Context) {
			for i := range 1000 {
				transport.Note(ctx, transport.LogLine{Text: fmt.Sprint(i, strings.Repeat("x", 5000))})
			}
		}
		ask("s1")
		if n := len(s1.logged); n != 13 {
			t.Errorf("%d long lines were carried", n)
		}
	})
}
