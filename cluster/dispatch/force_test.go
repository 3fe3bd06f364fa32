package dispatch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/dispatch"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// reign runs the duties of a leader in a term, and returns how that leader dies.
func (l *leader) reign(t *testing.T, all moms, term uint64) (dies func()) {
	opts := options(l, all)
	opts.Term = term
	ctx, cancel := context.WithCancel(t.Context())
	until := func(run func(context.Context) error) func(context.Context) error {
		return func(context.Context) error { return run(ctx) }
	}
	start(t, until(dispatch.New(opts).Run))
	start(t, until(dispatch.NewWatcher(opts).Run))
	synctest.Wait()
	return func() {
		cancel()
		synctest.Wait()
	}
}

// forced is a job whose run on a mom that is silent by now was ended by force, right
// before the leader died; the next one reigns.
func forced(t *testing.T, c command.Command) (*leader, moms, pbs.JobID) {
	l := newLeader(t)
	l.fence("30")
	all := newMoms(l, "hosta", "hostb")
	dies := l.reign(t, all, 3)
	job := l.run("hosta")
	synctest.Wait()
	l.do(&command.JobStarted{Source: command.Source{Host: "hosta", Spool: "s", Seq: 1}, Job: job, RunCount: 1, Session: 4711})
	all["hosta:15002"].set(true)
	l.do(c)
	dies()
	l.reign(t, all, 4)
	return l, all, job
}

// kills returns the terms under which a mom was told to kill the first run of a job.
func (m *mom) kills(job pbs.JobID) []uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	var terms []uint64
	for _, r := range m.got {
		for _, o := range r.GetOrders() {
			if _, kill := o.GetWhat().(*api.Order_Kill); kill && o.GetJob() == string(job) && o.GetRunCount() == 1 {
				terms = append(terms, r.GetTerm())
			}
		}
	}
	return terms
}

const firstJob = pbs.JobID("0.srv")

// elsewhere is why the job may not start on another host.
func (l *leader) elsewhere() error {
	return l.refusal(&command.StartJob{Job: firstJob, ExecVnode: "(hostb:ncpus=1)"})
}

// A forced qrerun queues the job and frees its vnode at once. That it must not start
// before its mom has confirmed the end, every later leader knows (L2, L9).
func TestForce_RerunWaitsForTheMomAtTheNextLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, all, job := forced(t, &command.RerunJob{Job: firstJob, Force: true})
		if v, _ := l.View().Vnode("hosta"); l.stateOf(job) != pbs.Queued || len(v.Jobs) != 0 {
			t.Errorf("%s, the vnode holds %v", l.stateOf(job), v.Jobs)
		}
		if err := l.elsewhere(); pbs.CodeOf(err) != pbs.BadState {
			t.Errorf("a second run while the first may live: %v", err)
		}
		all["hosta:15002"].set(false)
		l.host("hosta")
		pass(5 * time.Second)
		if terms := all["hosta:15002"].kills(job); len(terms) != 1 || terms[0] != 4 {
			t.Errorf("told to kill under the terms %v", terms)
		}
		if err := l.elsewhere(); pbs.CodeOf(err) != pbs.BadState {
			t.Errorf("the mom has the order, and has not said that the run is over: %v", err)
		}
		l.do(&command.JobEnded{Source: command.Source{Host: "hosta", Spool: "s", Seq: 2}, Job: job, RunCount: 1, ExitStatus: 271})
		if err := l.elsewhere(); err != nil {
			t.Errorf("after the mom's word: %v", err)
		}
	})
}

// Without its mom it waits for the fence, by the clock of the leader that reigns.
func TestForce_RerunWaitsForTheFenceOfTheNextLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, all, job := forced(t, &command.RerunJob{Job: firstJob, Force: true})
		pass(37 * time.Second)
		if err := l.elsewhere(); pbs.CodeOf(err) != pbs.BadState {
			t.Errorf("before the fence has fallen: %v", err)
		}
		pass(10 * time.Second)
		if err := l.elsewhere(); err != nil {
			t.Errorf("behind the fence: %v", err)
		}
		all["hosta:15002"].set(false)
		l.host("hosta")
		pass(5 * time.Second)
		if terms := all["hosta:15002"].kills(job); len(terms) != 1 {
			t.Errorf("back again it was told to kill %d times", len(terms))
		}
		if s := l.stateOf(job); s != pbs.Running {
			t.Errorf("the new run is %s", s)
		}
	})
}

// A forced qdel ends the job at once; what is left of it is killed by the next leader.
func TestForce_DeletedIsKilledByTheNextLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, all, job := forced(t, &command.DeleteJob{Job: firstJob, Force: true})
		if j, there := l.View().Job(job); there && j.State != pbs.Finished {
			t.Errorf("it is %s", j.State)
		}
		if v, _ := l.View().Vnode("hosta"); len(v.Jobs) != 0 {
			t.Errorf("the vnode holds %v", v.Jobs)
		}
		pass(60 * time.Second) // whatever is given up with the host, the order stays
		all["hosta:15002"].set(false)
		l.host("hosta")
		pass(5 * time.Second)
		if terms := all["hosta:15002"].kills(job); len(terms) != 1 || terms[0] != 4 {
			t.Errorf("told to kill under the terms %v", terms)
		}
		if n := l.open("hosta"); n != 0 {
			t.Errorf("%d orders are open", n)
		}
	})
}
