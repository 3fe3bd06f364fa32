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
	"rampart/transport/api"
)

// padded has a job with a spare chunk start on two hosts.
func (l *leader) padded() pbs.JobID {
	id := l.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "s1"}, Attributes: attr.List(nil).
		Set("Resource_List", "select", "1:ncpus=2").Set("Resource_List", "select_reliable_startup", "2:ncpus=2")}).Job
	l.do(&command.StartJob{Job: id, ExecVnode: "(hosta:ncpus=2)+(hostb:ncpus=2)"})
	return id
}

// A pruning that a leader has asked for and did not see answered is carried on by the next
// one; the vnodes are free when it is done, and the host that is out is ordered to end what it
// has.
func TestPrune_CarriedOnByTheNextLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta", "hostb")
		job := l.padded()
		ctx, resign := context.WithCancel(t.Context())
		start(t, func(context.Context) error { return dispatch.New(options(l, all)).Run(ctx) })
		synctest.Wait()
		all["hosta:15002"].set(true)
		ask := &command.PruneJob{Job: job, RunCount: 1, Host: "hosta", Keep: "1:ncpus=2", Bad: []pbs.HostName{"hostb"}}
		number := l.do(ask).Release
		time.Sleep(5 * time.Second)
		resign()
		synctest.Wait()
		if again := l.do(ask).Release; again != number {
			t.Errorf("asked again it is %d, it was %d", again, number)
		}
		start(t, dispatch.New(options(l, all)).Run)
		start(t, dispatch.NewReleases(options(l, all)).Run)
		all["hosta:15002"].set(false)
		time.Sleep(20 * time.Second)
		if open, err := l.job(job).ReleaseOutcome(number); open || err != nil {
			t.Errorf("open %v, %v", open, err)
		}
		got := all["hosta:15002"].releases()
		if len(got) != 2 || got[0].GetStep() != api.ReleaseStep_RELEASE_STEP_ASKED || got[1].GetStep() != api.ReleaseStep_RELEASE_STEP_DONE {
			t.Errorf("orders %v", got)
		}
		j := l.job(job)
		if j.LastRun().ExecVnode.String() != "(hosta:ncpus=2)" || j.LastRun().Held().String() != "" || j.LastRun().Sister("hostb") || j.State != pbs.Running {
			t.Errorf("%s, held %q, sisters %v, %s", j.LastRun().ExecVnode.String(), j.LastRun().Held().String(), j.LastRun().Sisters, j.State)
		}
		if v, _ := l.View().Vnode("hostb"); len(v.Jobs) != 0 {
			t.Errorf("hostb has %v", v.Jobs)
		}
		if !all["hostb:15002"].told(job) {
			t.Error("hostb was not ordered to end the run")
		}
	})
}

// The mother superior does not answer: nothing has changed, and the start fails.
func TestPrune_Withdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta", "hostb")
		job := l.padded()
		start(t, dispatch.New(options(l, all)).Run)
		start(t, dispatch.NewReleases(options(l, all)).Run)
		synctest.Wait()
		all["hosta:15002"].set(true)
		number := l.do(&command.PruneJob{Job: job, RunCount: 1, Host: "hosta", Keep: "1:ncpus=2"}).Release
		time.Sleep(15 * time.Second)
		if open, err := l.job(job).ReleaseOutcome(number); open || pbs.CodeOf(err) != pbs.NoMom {
			t.Errorf("open %v, %v", open, err)
		}
		if j := l.job(job); j.LastRun().ExecVnode.String() != "(hosta:ncpus=2)+(hostb:ncpus=2)" || j.LastRun().Phases != nil || !j.LastRun().Sister("hostb") {
			t.Errorf("%s %+v %v", j.LastRun().ExecVnode.String(), j.LastRun().Phases, j.LastRun().Sisters)
		}
	})
}

// told reports whether the mom got an order to end a run.
func (m *mom) told(job pbs.JobID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.got {
		for _, o := range r.GetOrders() {
			if o.GetKill() != nil && o.GetJob() == string(job) {
				return true
			}
		}
	}
	return false
}
