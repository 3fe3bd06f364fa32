package world

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/proc"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"
)

// plain runs a world with one replica and two execution hosts, one of which has two vnodes more.
func plain(t *testing.T, do func(ctx context.Context, w *World)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w, err := New(Config{
			Size: Size{Servers: 1}, Dir: dir, Plain: true, Submit: []string{"login"},
			Hosts: []Host{
				{Name: "hosta", Vnodes: "$configversion 2\nhosta: resources_available.ncpus = 0\nhosta[0]: resources_available.ncpus = 1\nhosta[1]: resources_available.ncpus = 2\n"},
				{Name: "hostb"},
			},
			Program: func(proc.Spec) proc.Program { return proc.Program{Runs: time.Minute, Status: 3} },
			Logger:  slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Stop()
		if err := w.Start(t.Context()); err != nil {
			t.Error(err)
			return
		}
		do(t.Context(), w)
	})
}

func within(t *testing.T, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !cond(); <-time.After(time.Second) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// A plain world has the hosts and vnodes that it was given, and what its programs do is the caller's.
func TestPlain_HostsAndPrograms(t *testing.T) {
	plain(t, func(ctx context.Context, w *World) {
		var names []string
		for vn := range w.View().Vnodes() {
			names = append(names, string(vn.Name))
		}
		if got, want := fmt.Sprint(names), "[hosta hosta[0] hosta[1] hostb]"; got != want {
			t.Errorf("vnodes %s, want %s", got, want)
		}
		if _, made := w.View().Queue(SecondQueue); made {
			t.Error("a plain world has the queue of loads")
		}
		ann, err := w.Ask("login", transport.RoleSubmit, 0, client.Options{User: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		defer ann.Close()
		reply, err := ann.Batch().Submit(ctx, connect.NewRequest(&api.SubmitRequest{
			Attributes: []*api.Attribute{{Name: "Keep_Files", Value: "oe"}}, Script: []byte("anything\n"),
		}))
		if err != nil {
			t.Fatal(err)
		}
		id := pbs.JobID(reply.Msg.GetJob())
		running := func() bool {
			j, ok := w.View().Job(id)
			return ok && j.State == pbs.Running
		}
		within(t, 5*time.Second, "the job runs", running)
		<-time.After(50 * time.Second)
		if !running() {
			t.Error("the job has ended before its program")
		}
		within(t, 30*time.Second, "the job is gone", func() bool {
			_, ok := w.View().Job(id)
			return !ok
		})
	})
}

// Faults hit by name, and end.
func TestNamed_Faults(t *testing.T) {
	plain(t, func(_ context.Context, w *World) {
		down := func(want bool) func() bool {
			return func() bool {
				v := w.View()
				if v == nil {
					return false
				}
				vn, ok := v.Vnode("hostb")
				return ok && vn.Flags&state.VnodeDown != 0 == want
			}
		}
		for _, c := range []struct {
			name        string
			strike, end func() error
		}{
			{"kill", func() error { return w.Faults().Kill("hostb") }, func() error { return w.Faults().Launch("hostb") }},
			{"unplug", func() error { return w.Faults().Unplug("hostb") }, func() error { return w.Faults().Launch("hostb") }},
			{"split", func() error { return w.Faults().Split("hostb") }, func() error { return w.Faults().Mend("hostb") }},
		} {
			if err := c.strike(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			within(t, 5*time.Minute, c.name+" brings hostb down", down(true))
			if err := c.end(); err != nil {
				t.Errorf("end of %s: %v", c.name, err)
			}
			within(t, 5*time.Minute, "hostb is back after "+c.name, down(false))
		}
		if w.Leader() != "s1" {
			t.Errorf("the leader is %q", w.Leader())
		}
		if err := w.Faults().Kill("s1"); err != nil || w.Leader() != "" || w.View() != nil {
			t.Errorf("Kill: %v, then the leader is %q", err, w.Leader())
		}
		if err := w.Faults().Kill("s1"); err == nil || err.Error() != "nothing runs on s1" {
			t.Errorf("Kill of a dead replica: %v", err)
		}
		if !w.Faults().LaunchAll() {
			t.Error("nothing was started again")
		}
		within(t, time.Minute, "s1 leads", func() bool { return w.Leader() == "s1" })
		for _, err := range []error{w.Faults().Kill("nobody"), w.Faults().Split("hosta", "nobody"), w.Faults().Slow("nobody", 0), w.Faults().Mend("nobody"), w.Faults().Launch("nobody"), w.Faults().Unplug("nobody")} {
			if err == nil || err.Error() != `there is no replica and no host "nobody"` {
				t.Errorf("a name of nobody: %v", err)
			}
		}
	})
}
