package dispatch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/dispatch"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// spread runs a job on two hosts.
func (l *leader) spread() pbs.JobID {
	for h := range l.View().Hosts() { // starts wait for it
		l.do(&command.HooksTold{Host: h.Name, Registered: h.Registered, Generation: l.View().Cluster().HookGeneration})
	}
	id := l.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "s1"}, Attributes: attr.List(nil).Set("Resource_List", "select", "2:ncpus=2")}).Job
	l.do(&command.StartJob{Job: id, ExecVnode: "(hosta:ncpus=2)+(hostb:ncpus=2)"})
	l.do(&command.JobStarted{Source: command.Source{Host: "hosta", Spool: "s", Seq: 1}, Job: id, RunCount: 1, Session: 7})
	return id
}

func (l *leader) job(id pbs.JobID) *state.Job {
	j, _ := l.View().Job(id)
	return j
}

// releases returns the orders about released vnodes that a mom got.
func (m *mom) releases() (all []*api.ReleaseNodes) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.got {
		for _, o := range r.GetOrders() {
			if o.GetRelease() != nil {
				all = append(all, o.GetRelease())
			}
		}
	}
	return all
}

// The order carries the assignment that was asked for; when it is answered the same is told
// as done.
func TestReleases_Orders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta", "hostb")
		job := l.spread()
		start(t, dispatch.New(options(l, all)).Run)
		start(t, dispatch.NewReleases(options(l, all)).Run)
		synctest.Wait()
		l.do(&command.ReleaseNodes{Job: job, Vnodes: []string{"hostb"}})
		synctest.Wait()
		got := all["hosta:15002"].releases()
		if len(got) != 2 || got[0].GetStep() != api.ReleaseStep_RELEASE_STEP_ASKED || got[1].GetStep() != api.ReleaseStep_RELEASE_STEP_DONE || got[1].GetNumber() <= got[0].GetNumber() {
			t.Fatalf("orders %v", got)
		}
		for _, r := range got {
			values := map[string]string{}
			for _, a := range r.GetAttributes() {
				values[a.GetName()+"."+a.GetResource()] = a.GetValue()
			}
			for name, want := range map[string]string{
				"exec_vnode.": "(hosta:ncpus=2)", "exec_host.": "hosta/0*2", "exec_host2.": "hosta:15002/0*2", "schedselect.": "1:ncpus=2",
				"Resource_List.ncpus": "2", "Resource_List.nodect": "1", "Resource_List.select": "1:ncpus=2",
			} {
				if values[name] != want {
					t.Errorf("%s = %q, want %q", name, values[name], want)
				}
			}
			if len(r.GetHosts()) != 1 || r.GetHosts()[0].GetAddress() != "hosta:15002" {
				t.Errorf("hosts %v", r.GetHosts())
			}
		}
		if j := l.job(job); j.LastRun().ExecVnode.String() != "(hosta:ncpus=2)" || j.LastRun().Held().String() != "(hostb:ncpus=2)" {
			t.Errorf("%s, held %s", j.LastRun().ExecVnode.String(), j.LastRun().Held().String())
		}
	})
}

// Row 21: what is not answered for ten seconds is withdrawn; a new leader carries on what was
// asked, and gives it the whole time again.
func TestReleases_WithdrawnByWhoeverLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta", "hostb")
		job := l.spread()
		ctx, resign := context.WithCancel(t.Context())
		start(t, func(context.Context) error { return dispatch.New(options(l, all)).Run(ctx) })
		start(t, func(context.Context) error { return dispatch.NewReleases(options(l, all)).Run(ctx) })
		synctest.Wait()
		all["hosta:15002"].set(true)
		number := l.do(&command.ReleaseNodes{Job: job}).Release
		time.Sleep(8 * time.Second)
		resign()
		synctest.Wait()
		start(t, dispatch.New(options(l, all)).Run)
		start(t, dispatch.NewReleases(options(l, all)).Run)
		time.Sleep(9 * time.Second)
		if open, _ := l.job(job).ReleaseOutcome(number); !open {
			t.Error("withdrawn by the clock of the leader before")
		}
		time.Sleep(3 * time.Second)
		open, err := l.job(job).ReleaseOutcome(number)
		if open || pbs.CodeOf(err) != pbs.NoMom || err.Error() != "Server could not connect to MOM" {
			t.Errorf("open %v, %v", open, err)
		}
		all["hosta:15002"].set(false)
		time.Sleep(20 * time.Second)
		got := all["hosta:15002"].releases()
		if len(got) != 1 || got[0].GetStep() != api.ReleaseStep_RELEASE_STEP_WITHDRAWN {
			t.Errorf("orders %v", got)
		}
		if j := l.job(job); j.LastRun().ExecVnode.String() != "(hosta:ncpus=2)+(hostb:ncpus=2)" || j.LastRun().Phases != nil {
			t.Errorf("%s %+v", j.LastRun().ExecVnode.String(), j.LastRun().Phases)
		}
	})
}
