package transport_test

import (
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// dying lets the leader die with a request in hand; the others find no leader.
func dying(w *world, all []*process) {
	all[0].answer = func(int) error {
		w.net.Host("s1").Crash()
		all[0].kill()
		return nil
	}
	for _, p := range all[1:] {
		p.answer = func(int) error { return pbs.Refuse(pbs.NoQuorum) }
	}
}

// A leader that dies with a request in hand may have committed it; that the next replica
// finds no leader does not mean that nothing was done (L6).
func TestBudget_BrokenConnectionStaysUnknown(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, c := three(w, time.Second)
		dying(w, all)
		if _, err := submit(t.Context(), c); pbs.CodeOf(err) != pbs.UnknownResult {
			t.Errorf("submit: %v", err)
		}
	})
}

// A command behind the gateway of its host hears it, too.
func TestForwarder_TellsThatAnAttemptIsOpen(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, _ := three(w, time.Second)
		dying(w, all)
		people := apiconnect.NewBatchClient(w.forwarder("hosta", "s1:15001", "s2:15001"), "http://gateway")
		_, err := people.Submit(t.Context(), connect.NewRequest(&api.SubmitRequest{}))
		if e := new(connect.Error); !asConnect(err, &e) || e.Code() != connect.CodeUnavailable || e.Meta().Get(transport.HeaderUncertain) == "" {
			t.Errorf("submit: %v", err)
		}
	})
}
