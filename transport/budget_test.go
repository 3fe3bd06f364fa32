package transport_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
)

// hooked works on a request for so long at the pleasure of hooks.
func hooked(d time.Duration) func(ctx context.Context) {
	return func(ctx context.Context) {
		defer transport.Working(ctx)()
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
}

// The time of a request stands still while the server runs hooks for it, whatever way it takes:
// to the leader, through a follower, through a mom's gateway.
func TestBudget_StandsStillWhileHooksRun(t *testing.T) {
	for name, leader := range map[string]string{"at the leader": "s1", "through a follower": "s2"} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				s := map[string]*process{"s1": w.replica("s1"), "s2": w.replica("s2")}
				w.leader.Store(leader)
				s[leader].work = hooked(2 * time.Minute)
				c := w.client("login", client.Options{
					Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "joe", Budget: 20 * time.Second,
				})
				if job, err := submit(t.Context(), c); err != nil || job != "1."+leader {
					t.Errorf("submit: %q, %v", job, err)
				}
				people := apiconnect.NewBatchClient(w.forwarder("hosta", "s1:15001"), "http://gateway")
				if reply, err := people.Submit(t.Context(), connect.NewRequest(&api.SubmitRequest{})); err != nil || reply.Msg.GetJob() != "1."+leader {
					t.Errorf("submit by somebody who reads no interim replies: %v, %v", reply, err)
				}
				if n := s[leader].calls(); n != 2 {
					t.Errorf("asked %d times", n)
				}
			})
		})
	}
}

// What is left of the time when hooks have run is all there is.
func TestBudget_RunsOnAfterHooks(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		w.leader.Store("s1")
		var ended atomic.Bool // the first attempt
		s1.work = func(ctx context.Context) {
			time.Sleep(4 * time.Second)
			hooked(time.Minute)(ctx)
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
				ended.Store(true)
			}
		}
		c := w.client("login", client.Options{
			Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "joe", Budget: 9 * time.Second,
		})
		start := time.Now()
		_, err := submit(t.Context(), c)
		if d := time.Since(start); err == nil || d < 68*time.Second || d > 75*time.Second {
			t.Errorf("it ended with %v after %v", err, d)
		}
		synctest.Wait()
		if !ended.Load() {
			t.Error("the leader works on")
		}
	})
}

// A leader that dies in the midst of a hook is gone at once; one that falls silent, soon.
func TestBudget_RunsOnWhenTheServerIsGone(t *testing.T) {
	for name, gone := range map[string]func(w *world, leader *process){
		"dead": func(w *world, leader *process) {
			w.net.Host("s1").Crash()
			leader.kill()
		},
		"silent": func(w *world, _ *process) {
			for _, other := range []string{"login", "s2"} {
				w.net.Cut("s1", other)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				s1, _ := w.replica("s1"), w.replica("s2")
				w.leader.Store("s1")
				s1.work = hooked(10 * time.Minute)
				time.AfterFunc(30*time.Second, func() {
					gone(w, s1)
					w.leader.Store("s2")
				})
				c := w.client("login", client.Options{
					Replicas: []string{"s1:15001", "s2:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "joe", Budget: 20 * time.Second,
				})
				start := time.Now()
				if job, err := submit(t.Context(), c); err != nil || job != "1.s2" {
					t.Errorf("submit: %q, %v", job, err)
				}
				if d := time.Since(start); d < 30*time.Second || d > 40*time.Second {
					t.Errorf("answered after %v", d)
				}
			})
		})
	}
}

// Nobody is there any more: the command ends within its time.
func TestBudget_EndsWithTheLastServer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		w.leader.Store("s1")
		s1.work = hooked(10 * time.Minute)
		time.AfterFunc(30*time.Second, func() { w.net.Cut("s1", "login") })
		c := w.client("login", client.Options{
			Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleSubmit, "login"), User: "joe", Budget: 20 * time.Second,
		})
		start := time.Now()
		_, err := submit(t.Context(), c)
		if d := time.Since(start); pbs.CodeOf(err) != pbs.UnknownResult || d > 60*time.Second {
			t.Errorf("%v after %v", err, d)
		}
	})
}

// Who does not say that he reads interim replies gets none.
func TestWorking_TellsOnlyWhoReadsIt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		w.leader.Store("s1")
		s1.work = hooked(10 * time.Second)
		tr := transport.NewTransport(w.net.Host("hosta"), w.identity(transport.RoleMom, "hosta").ClientTLS(transport.RoleReplica))
		defer tr.CloseIdleConnections()
		for _, reads := range []bool{false, true} {
			c := apiconnect.NewBatchClient(&http.Client{Transport: tr}, "https://s1:15001")
			heard := 0
			req := connect.NewRequest(&api.SubmitRequest{})
			req.Header().Set(transport.HeaderUser, "joe")
			if reads {
				req.Header().Set(transport.HeaderInterim, "1")
			}
			if _, err := c.Submit(transport.OnWorking(t.Context(), func() { heard++ }), req); err != nil {
				t.Fatal(err)
			}
			if reads != (heard >= 8) || !reads && heard > 0 {
				t.Errorf("asked for it: %v, told %d times", reads, heard)
			}
		}
	})
}

// A budget is a context like others.
func TestWithBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		parent, stop := context.WithCancel(context.WithValue(t.Context(), key{}, 1))
		ctx, cancel := transport.WithBudget(parent, time.Minute)
		child, end := context.WithCancel(ctx)
		defer end()
		if at, ok := ctx.Deadline(); !ok || time.Until(at) != time.Minute || ctx.Value(key{}) != 1 {
			t.Errorf("deadline %v, %v", at, ok)
		}
		if transport.IsWorking(ctx) {
			t.Error("it stands still")
		}
		done := transport.Working(ctx)
		time.Sleep(time.Hour)
		if at, bounded := ctx.Deadline(); ctx.Err() != nil || !transport.IsWorking(child) || bounded {
			t.Errorf("while it stands still: %v, deadline %v", ctx.Err(), at)
		}
		done()
		time.Sleep(59 * time.Second)
		if ctx.Err() != nil {
			t.Errorf("before its end: %v", ctx.Err())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) || !errors.Is(child.Err(), context.DeadlineExceeded) {
			t.Errorf("after it: %v, its child %v", ctx.Err(), child.Err())
		}
		cancel()
		other, cancel := transport.WithBudget(parent, time.Minute)
		stop()
		if !errors.Is(other.Err(), context.Canceled) {
			t.Errorf("its parent has ended, it: %v", other.Err())
		}
		cancel()
		transport.Working(t.Context())()
		if transport.IsWorking(httptest.NewRequest(http.MethodGet, "/", nil).Context()) {
			t.Error("a context without a budget stands still")
		}
	})
}

// What bounds work for which the time stands still rings, though the time that is left is shorter.
func TestBudget_BoundsWithinIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := transport.WithBudget(t.Context(), 5*time.Second)
		defer cancel()
		done := transport.Working(ctx)
		alarm, quiet := context.WithTimeout(ctx, 40*time.Second)
		defer quiet()
		began := time.Now()
		select {
		case <-alarm.Done():
		case <-time.After(time.Hour):
		}
		if time.Since(began) != 40*time.Second || ctx.Err() != nil {
			t.Errorf("the alarm rang after %s, with %v", time.Since(began), ctx.Err())
		}
		done()
		if at, ok := ctx.Deadline(); !ok || time.Until(at) != 5*time.Second {
			t.Errorf("afterwards the time is up in %s, %v", time.Until(at), ok)
		}
	})
}
