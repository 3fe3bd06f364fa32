package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

func (b *bench) stop(who string, r *api.StopRequest) error {
	_, err := b.Halt.Stop(b.as(who), request(r, ""))
	return err
}

// haltBench has two hosts that renew, and one job on the first.
func haltBench(t *testing.T) (b *bench, job string) {
	b = newBench(t)
	b.host("hosta", "hosta")
	b.host("hostb", "hostb")
	job = b.mustSubmit("ann@h")
	b.do(&command.StartJob{Job: pbs.JobID(job), ExecVnode: "(hosta:ncpus=1)"})
	return b, job
}

func (b *bench) fence(host pbs.HostName) int64 {
	h, _ := b.store.View().Host(host)
	return h.Fence
}

func TestStop_LiftsTheDeadlinesBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := haltBench(t)
		var (
			mu    sync.Mutex // replicas are ended at once
			ended []pbs.ReplicaName
		)
		b.Halt.EndReplica = func(_ context.Context, r *state.Replica, _ bool) error {
			mu.Lock()
			defer mu.Unlock()
			ended = append(ended, r.Name)
			return nil
		}
		self := time.Duration(0)
		b.Halt.EndSelf = func(after time.Duration) { self = after }
		began := time.Now()
		for _, host := range []pbs.HostName{"hosta", "hostb"} {
			b.Halt.deadlines.note(host, 310)
			time.AfterFunc(4*time.Second, func() { b.Halt.deadlines.note(host, 0) }) // it renews
		}
		b.do(&command.PutReplica{Replica: state.Replica{Name: "s7", Host: "s7", Address: "h7:1"}})
		reply, err := b.Halt.Stop(b.as("root@replica:s1"), request(&api.StopRequest{Lift: true, End: true}, ""))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(reply.Msg.GetEnding(), func(r *api.EndingReplica) bool { return r.GetName() == "s7" && r.GetAddress() == "h7:1" }) {
			t.Errorf("it tells %v", reply.Msg.GetEnding())
		}
		if took := time.Since(began); took < 4*time.Second || took > 5*time.Second {
			t.Errorf("ended after %s", took)
		}
		if b.store.View().Server().Fence() != 0 || b.fence("hosta") != 0 || b.fence("hostb") != 0 {
			t.Errorf("the fence is %d, those of the hosts %d and %d", b.store.View().Server().Fence(), b.fence("hosta"), b.fence("hostb"))
		}
		if slices.Contains(ended, b.store.View().Cluster().Leader) || self == 0 {
			t.Errorf("ended %v, itself after %s", ended, self)
		}
	})
}

func TestStop_DoesNotWaitForASilentHostForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := haltBench(t)
		began := time.Now()
		if err := b.stop("root@replica:s1", &api.StopRequest{Lift: true, End: true}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != liftWithin {
			t.Errorf("waited %s", took)
		}
	})
}

// What moms said before the deadlines were lifted counts no more: they may hold one by now,
// from an answer of another leader or of this one.
func TestStop_WaitsForWordsThatAreNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := haltBench(t)
		renew := func(host string) {
			_, err := b.Report.Lease(b.asMom(host), request(&api.LeaseRequest{Host: host, BootId: "b", SpoolId: "s"}, ""))
			if err != nil {
				t.Error(err)
			}
		}
		renew("hosta") // it says that it holds none, and is told to hold one
		b.Halt.deadlines.note("hostb", 0)
		if b.Halt.deadlines.lifted(b.store.View()) {
			t.Error("a host that is told a deadline is taken for one that has none")
		}
		time.AfterFunc(4*time.Second, func() { renew("hosta"); renew("hostb") })
		began := time.Now()
		if err := b.stop("root@replica:s1", &api.StopRequest{Lift: true, End: true}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 4*time.Second || took > 5*time.Second {
			t.Errorf("ended after %s", took)
		}
	})
}

func TestStop_NoJobStartsMeanwhile(t *testing.T) {
	b, job := haltBench(t)
	other := b.mustSubmit("ann@h")
	if err := b.stop("ann@h", &api.StopRequest{End: true}); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("by an ordinary user: %v", err)
	}
	if err := b.stop("root@replica:s1", &api.StopRequest{Requeue: true}); err != nil {
		t.Fatal(err)
	}
	if j := b.job(job); j.LastRun().Ending != state.EndingRerun {
		t.Errorf("the running job is %s, its end %d", j.State, j.LastRun().Ending)
	}
	start := func() error {
		out, _ := b.Propose(t.Context(), command.Proposal{Commands: []command.Command{&command.StartJob{Job: pbs.JobID(other), ExecVnode: "(hostb:ncpus=1)"}}})
		return out.Err()
	}
	if err := start(); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("start: %v", err)
	}
	b.do(&command.TermStarted{Leader: "s1"})
	if err := start(); err != nil {
		t.Errorf("start in the next term: %v", err)
	}
}

// tardy takes its time for each commit.
type tardy struct{ *bench }

func (r tardy) Propose(ctx context.Context, p command.Proposal) (command.Outcome, error) {
	<-time.After(10 * time.Millisecond)
	return r.bench.Propose(ctx, p)
}

// Jobs are put back beside each other: the budget of a request is soon spent on commits one
// after the other.
func TestStop_PutsJobsBackTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := haltBench(t)
		for range 100 {
			b.do(&command.StartJob{Job: pbs.JobID(b.mustSubmit("ann@h")), ExecVnode: "(hosta:ncpus=0)"})
		}
		b.behind = b.store.View() // one ends before its turn comes
		b.do(&command.DeleteJob{Job: slices.Collect(b.behind.Running())[7].ID, Force: true})
		b.Halt.Replica = tardy{b}
		began := time.Now()
		if err := b.stop("root@replica:s1", &api.StopRequest{Requeue: true}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		for j := range b.store.View().Running() {
			if j.LastRun().Ending != state.EndingRerun {
				t.Errorf("job %s goes on", j.ID)
			}
		}
	})
}

func TestStop_OneReplica(t *testing.T) {
	b, _ := haltBench(t)
	var (
		mu    sync.Mutex // replicas are ended at once
		ended []pbs.ReplicaName
	)
	b.Halt.EndReplica = func(_ context.Context, r *state.Replica, _ bool) error {
		mu.Lock()
		defer mu.Unlock()
		ended = append(ended, r.Name)
		return nil
	}
	b.do(&command.PutReplica{Replica: state.Replica{Name: "s7", Host: "s7"}})
	if err := b.stop("root@replica:s1", &api.StopRequest{Replica: "s7"}); err != nil || !slices.Equal(ended, []pbs.ReplicaName{"s7"}) {
		t.Errorf("ended %v: %v", ended, err)
	}
	if err := b.stop("root@replica:s1", &api.StopRequest{Replica: "s8"}); pbs.CodeOf(err) != pbs.NoServer {
		t.Errorf("no such replica: %v", err)
	}
	if b.store.View().Server().HaltedAt != 0 {
		t.Error("jobs do not start any more")
	}
}

// A mom holds what its renewal says, until it hears the answer.
func TestLease_NotesTheDeadlineThatIsHeld(t *testing.T) {
	b, _ := haltBench(t)
	check := func(said, want int64) {
		t.Helper()
		_, _ = b.Report.Lease(b.asMom("hosta"), request(&api.LeaseRequest{Host: "hosta", BootId: "b", SpoolId: "s", FenceSeconds: said}, ""))
		if got := b.Halt.deadlines.held["hosta"]; got != want {
			t.Errorf("said %d: held %d, want %d", said, got, want)
		}
	}
	check(400, 400)
	check(0, b.store.View().Server().Fence())
	b.do(&command.HaltServers{Lift: true})
	check(310, 310)
	check(0, 0)
}

// TestStop_SparesWhatCannotRunAgain: of qterm -t delay, which waits for it.
func TestStop_SparesWhatCannotRunAgain(t *testing.T) {
	b, again := haltBench(t)
	once := b.mustSubmit("ann@h")
	var ch command.AttrChange
	ch.Entry.Name, ch.Entry.Value = "Rerunable", "False"
	b.do(&command.AlterJob{Job: pbs.JobID(once), Changes: []command.AttrChange{ch}})
	b.do(&command.StartJob{Job: pbs.JobID(once), ExecVnode: "(hostb:ncpus=1)"})
	if err := b.stop("root@replica:s1", &api.StopRequest{Spare: true}); err != nil {
		t.Fatal(err)
	}
	if j := b.job(again); j.LastRun().Ending != state.EndingRerun {
		t.Errorf("the one that may run again is %s, its end %d", j.State, j.LastRun().Ending)
	}
	if j := b.job(once); j.State != pbs.Running || j.LastRun().Ending != 0 {
		t.Errorf("the one that may not is %s, its end %d", j.State, j.LastRun().Ending)
	}
}

// The moms of the hosts that are up are told to end before the replicas are, in the name of this term; whom nobody could tell is named.
func TestStop_EndsMoms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := haltBench(t)
		b.host("hostc", "hostc")
		b.do(&command.HostDown{Host: "hostc"})
		var (
			mu   sync.Mutex
			told []string
		)
		b.Halt.EndMom = func(_ context.Context, h *state.Host, r *api.EndMomRequest) error {
			mu.Lock()
			defer mu.Unlock()
			if told = append(told, string(h.Name)); r.GetTerm() == 0 || r.GetEpoch() != b.store.View().Cluster().Epoch {
				t.Errorf("%s is told by %v", h.Name, r)
			}
			if h.Name == "hostb" {
				return errors.New("away")
			}
			return nil
		}
		b.Halt.EndReplica = func(context.Context, *state.Replica, bool) error { return nil }
		b.Halt.EndSelf = func(time.Duration) { told = append(told, "itself") }
		if err := b.stop("ann@h", &api.StopRequest{End: true, Moms: true}); pbs.CodeOf(err) != pbs.Unauthorized || len(told) > 0 {
			t.Errorf("ann ends %v: %v", told, err)
		}
		reply, err := b.Halt.Stop(b.as("root@replica:s1"), request(&api.StopRequest{End: true, Moms: true}, ""))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(told[:2])
		if !slices.Equal(told, []string{"hosta", "hostb", "itself"}) || !slices.Equal(reply.Msg.GetUnheard(), []string{"hostb"}) {
			t.Errorf("told %v, unheard %v", told, reply.Msg.GetUnheard())
		}
	})
}

// The schedulers of the hosts of all replicas that end are to end, too, if somebody asks for it, and before the replica of their host.
func TestStop_Schedulers(t *testing.T) {
	b, _ := haltBench(t)
	b.do(&command.PutReplica{Replica: state.Replica{Name: "s7", Host: "s7"}})
	var mu sync.Mutex // replicas are ended at once
	var told []string
	tell := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, text)
	}
	b.Halt.EndReplica = func(_ context.Context, r *state.Replica, scheds bool) error {
		tell(fmt.Sprint(r.Name, " ", scheds))
		return nil
	}
	b.Halt.EndScheds = func() { tell("schedulers") }
	b.Halt.EndSelf = func(time.Duration) { tell("itself") }
	for _, c := range []struct {
		ask  *api.StopRequest
		want []string
	}{
		{&api.StopRequest{End: true}, []string{"itself", "s1 false", "s7 false"}},
		{&api.StopRequest{End: true, Scheds: true}, []string{"itself", "s1 true", "s7 true", "schedulers"}},
		{&api.StopRequest{Replica: "s7", Scheds: true}, []string{"s7 true"}},
		{&api.StopRequest{Scheds: true}, nil},
	} {
		told = nil
		if err := b.stop("root@replica:s1", c.ask); err != nil {
			t.Fatal(err)
		}
		slices.Sort(told)
		if !slices.Equal(told, c.want) {
			t.Errorf("%v: %v, want %v", c.ask, told, c.want)
		}
	}
	for _, scheds := range []bool{false, true} {
		told = nil
		if _, err := b.Halt.End(t.Context(), connect.NewRequest(&api.EndRequest{Scheds: scheds})); err != nil {
			t.Fatal(err)
		}
		want := []string{"itself"}
		if scheds {
			want = []string{"schedulers", "itself"}
		}
		if !slices.Equal(told, want) {
			t.Errorf("an end with its schedulers %t: %v", scheds, told)
		}
	}
}
