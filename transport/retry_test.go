package transport_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
)

// three starts three replicas, s1 leading, and a client that knows all.
func three(w *world, budget time.Duration) ([]*process, *client.Client) {
	all := []*process{w.replica("s1"), w.replica("s2"), w.replica("s3")}
	w.leader.Store("s1")
	c := w.client("login", client.Options{
		Replicas: []string{"s1:15001", "s2:15001", "s3:15001"},
		Identity: w.identity(transport.RoleSubmit, "login"), User: "joe", Budget: budget,
	})
	return all, c
}

func TestRetry_KeepsTheID(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, c := three(w, 0)
		answers := []error{transport.ErrNotLeader, pbs.Refuse(pbs.UnknownResult), pbs.Refuse(pbs.NoQuorum)}
		all[0].answer = func(calls int) error {
			if calls <= len(answers) {
				return answers[calls-1]
			}
			return nil
		}
		if job, err := submit(t.Context(), c); err != nil || job != "1.s1" {
			t.Fatalf("submit: %q, %v", job, err)
		}
		ids := all[0].requestIDs()
		if len(ids) != 4 || ids[0] == "" {
			t.Fatalf("ids %q", ids)
		}
		for _, id := range ids {
			if id != ids[0] {
				t.Errorf("a repeat has another id: %q", ids)
			}
		}
		if _, err := submit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if ids = all[0].requestIDs(); ids[4] == ids[0] {
			t.Error("two calls have one id")
		}
	})
}

func TestRetry_NotAfterARefusal(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, c := three(w, 0)
		all[0].answer = func(int) error { return pbs.Attribute(pbs.UnknownResource, "Resource_List.foo") }
		_, err := submit(t.Context(), c)
		if pbs.CodeOf(err) != pbs.UnknownResource || err.Error() != "Unknown resource Resource_List.foo" || all[0].calls() != 1 {
			t.Errorf("%v after %d calls", err, all[0].calls())
		}
	})
}

func TestRetry_LeaderCrashes(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, c := three(w, 0)
		all[0].answer = func(int) error { // it dies with the request in hand
			w.net.Host("s1").Crash()
			all[0].kill()
			time.AfterFunc(time.Second, func() { w.leader.Store("s3") })
			return nil
		}
		start := time.Now()
		if job, err := submit(t.Context(), c); err != nil || job != "1.s3" {
			t.Fatalf("submit: %q, %v", job, err)
		}
		if d := time.Since(start); d > 3*time.Second {
			t.Errorf("the gap was %v", d)
		}
		if a, b := all[0].requestIDs()[0], all[2].requestIDs()[0]; a != b {
			t.Errorf("asked %q at one leader and %q at the next", a, b)
		}
	})
}

// A leader that is stopped keeps its connections; only time tells.
func TestRetry_LeaderFallsSilent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, c := three(w, 0)
		if _, err := submit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{"login", "s2", "s3"} {
			w.net.Cut("s1", other)
		}
		w.leader.Store("s2")
		start := time.Now()
		if job, err := submit(t.Context(), c); err != nil || job != "1.s2" {
			t.Fatalf("submit: %q, %v", job, err)
		}
		if d := time.Since(start); d > 8*time.Second {
			t.Errorf("the gap was %v", d)
		}
		_ = all
	})
}

func TestBudget_Ends(t *testing.T) {
	for name, test := range map[string]struct {
		answer error
		want   pbs.Code
	}{
		"no quorum": {pbs.Refuse(pbs.NoQuorum), pbs.NoQuorum},
		"unknown":   {pbs.Refuse(pbs.UnknownResult), pbs.UnknownResult},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			all, c := three(w, 10*time.Second)
			all[0].answer = func(int) error { return test.answer }
			id := transport.NewRequestID()
			start := time.Now()
			_, err := submit(client.WithRequestID(t.Context(), id), c)
			if pbs.CodeOf(err) != test.want {
				t.Errorf("%s: %v", name, err)
			}
			if d := time.Since(start); d < 6*time.Second || d > 11*time.Second {
				t.Errorf("%s: it took %v", name, d)
			}
			if test.want == pbs.UnknownResult && !strings.Contains(err.Error(), string(id)) {
				t.Errorf("the user is not told the id to ask again with: %v", err)
			}
		})
	}
}

// Without a leader nothing was done, and it is not worth the whole budget to say so;
// somebody who waits is told before (design section 7).
func TestNoQuorum_IsToldBeforeTheBudgetEnds(t *testing.T) {
	call := map[string]func(*client.Client) error{
		"a change": func(c *client.Client) error {
			_, err := submit(context.Background(), c)
			return err
		},
		"a listing": func(c *client.Client) error {
			s, err := c.Batch().List(context.Background(), connect.NewRequest(&api.ListRequest{}))
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			for s.Receive() {
			}
			return s.Err()
		},
	}
	for name, do := range call {
		inWorld(t, func(t *testing.T, w *world) {
			all := []*process{w.replica("s1"), w.replica("s2"), w.replica("s3")}
			for _, p := range all {
				p.answer = func(int) error { return pbs.Refuse(pbs.NoQuorum) }
			}
			w.leader.Store("s1")
			start := time.Now()
			told := make(chan time.Duration, 100) // by a timer
			c := w.client("login", client.Options{
				Replicas: []string{"s1:15001", "s2:15001", "s3:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "joe",
				Waiting: func() { told <- time.Since(start) },
			})
			if err := do(c); pbs.CodeOf(err) != pbs.NoQuorum {
				t.Errorf("%s: %v", name, err)
			}
			if d := time.Since(start); d < 10*time.Second || d > 16*time.Second {
				t.Errorf("%s: it took %v", name, d)
			}
			if n := len(told); n != 1 {
				t.Errorf("%s: the user was told %d times", name, n)
			} else if after := <-told; after > 5*time.Second {
				t.Errorf("%s: the user was told after %v", name, after)
			}
		})
	}
}

// leftOpen answers as a replica does that cannot tell what became of the first attempt,
// and has no quorum afterwards.
func leftOpen(calls int) error {
	if calls == 1 {
		return pbs.Refuse(pbs.UnknownResult)
	}
	return pbs.Refuse(pbs.NoQuorum)
}

// Whatever becomes of a listing, there is no outcome that could be unknown.
func TestStream_SilenceIsNoUnknownOutcome(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, c := three(w, 10*time.Second)
		all[0].answer, all[1].answer, all[2].answer = leftOpen, leftOpen, leftOpen
		s, err := c.Batch().List(t.Context(), connect.NewRequest(&api.ListRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		if s.Receive() || pbs.CodeOf(s.Err()) == pbs.UnknownResult || s.Err() == nil {
			t.Errorf("%v", s.Err())
		}
		_ = s.Close()
	})
}

// What one attempt left open, a later "nobody is here" does not settle.
func TestBudget_UnknownStaysUnknown(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, c := three(w, 10*time.Second)
		all[0].answer = leftOpen
		if _, err := submit(t.Context(), c); pbs.CodeOf(err) != pbs.UnknownResult {
			t.Errorf("submit: %v", err)
		}
	})
}

func TestWrongAddress_SaysSo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.net.Host("s1")
		c := w.client("login", client.Options{
			Replicas: []string{"s1:1", "typo:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "joe",
		})
		start := time.Now()
		_, err := submit(t.Context(), c)
		if !errors.Is(err, client.ErrUnreachable) || time.Since(start) > 4*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestCancel_EndsACall(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, c := three(w, 0)
		all[0].answer = func(int) error { return pbs.Refuse(pbs.NoQuorum) }
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		if _, err := submit(ctx, c); err == nil || time.Since(start) > 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestStream_StartsAgainAtAnotherReplica(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, c := three(w, 0)
		all[0].answer = func(int) error { return pbs.Refuse(pbs.NoQuorum) }
		s, err := c.Batch().List(t.Context(), connect.NewRequest(&api.ListRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for s.Receive() {
			n++
		}
		if err := s.Err(); err != nil || n != 3 {
			t.Errorf("%d messages, %v", n, err)
		}
		_ = s.Close()
		if all[0].calls() == 0 || all[0].calls()+all[1].calls() < 2 {
			t.Errorf("%d calls at s1, %d at s2", all[0].calls(), all[1].calls())
		}
	})
}

func TestStream_RefusalIsFinal(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, c := three(w, 0)
		all[0].answer = func(int) error { return pbs.Refuse(pbs.UnknownQueue) }
		s, err := c.Batch().List(t.Context(), connect.NewRequest(&api.ListRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		if s.Receive() || pbs.CodeOf(s.Err()) != pbs.UnknownQueue || all[0].calls() != 1 {
			t.Errorf("%v after %d calls", s.Err(), all[0].calls())
		}
		_ = s.Close()
	})
}

// hangs lets the leader take a request and say nothing for long, while its connections
// live; another one leads soon.
func hangs(w *world, leader *process) {
	leader.answer = func(int) error {
		<-time.After(time.Minute)
		return nil
	}
	time.AfterFunc(time.Second, func() { w.leader.Store("s2") })
}

// A short budget is shared among the replicas: one that says nothing does not take it all.
func TestBudget_SilentReplicaTakesItsShareOnly(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, c := three(w, 6*time.Second)
		hangs(w, all[0])
		if job, err := submit(t.Context(), c); err != nil || job != "1.s2" {
			t.Fatalf("submit: %q, %v", job, err)
		}
		if a, b := all[0].requestIDs()[0], all[1].requestIDs()[0]; a != b {
			t.Errorf("asked %q at one and %q at the next", a, b)
		}
	})
}

// A gateway keeps to the budget of the command behind it.
func TestForwarder_SharesTheBudgetOfItsAsker(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		all, _ := three(w, 0)
		hangs(w, all[0])
		people := apiconnect.NewBatchClient(w.forwarder("hosta", "s1:15001", "s2:15001", "s3:15001"), "http://gateway")
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
		defer cancel()
		if reply, err := people.Submit(ctx, connect.NewRequest(&api.SubmitRequest{})); err != nil || reply.Msg.GetJob() != "1.s2" {
			t.Errorf("submit: %v, %v", reply, err)
		}
	})
}
