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
)

// fence sets node_fail_requeue.
func (l *leader) fence(seconds string) {
	l.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{
		{Entry: attr.Entry{Name: "node_fail_requeue", Value: seconds}},
	}})
}

// holds is what a host says of its fence in a renewal.
func (l *leader) holds(seconds int64) {
	l.do(&command.ShortenFence{Host: "hosta", Held: seconds, Changed: l.View().Server().FenceChanged})
}

func (l *leader) stateOf(id pbs.JobID) pbs.JobState {
	j, _ := l.View().Job(id)
	return j.State
}

// silentHost returns a leader with the fence, and the job of a host that does not answer.
func silentHost(t *testing.T, fence string) (*leader, moms, pbs.JobID) {
	l := newLeader(t)
	l.fence(fence)
	all := newMoms(l, "hosta")
	job := l.run("hosta")
	all["hosta:15002"].down = true
	return l, all, job
}

// pass lets time go by, in steps in which a mom would renew.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// The time from the start of the term until the job of a dead mom is queued again.
func TestFence_LeaderWaitsForTheLongestThatTheHostMayHold(t *testing.T) {
	const never = 24 * time.Hour
	for _, c := range []struct {
		name   string
		before string
		change func(l *leader) // while the mom is cut off
		want   time.Duration
	}{
		{"30", "30", func(*leader) {}, 38 * time.Second},
		{"1 acts as 15", "1", func(*leader) {}, 21500 * time.Millisecond},
		{"310", "310", func(*leader) {}, 346 * time.Second},
		{"0 is never", "0", func(*leader) {}, never},
		{"grows", "30", func(l *leader) { l.fence("310") }, 346 * time.Second},
		{"shrinks", "310", func(l *leader) { l.fence("30") }, 346 * time.Second},
		{"grows and shrinks", "30", func(l *leader) { l.fence("60"); l.fence("30") }, 71 * time.Second},
		{"is lifted", "30", func(l *leader) { l.fence("0") }, never},
		{"is set", "0", func(l *leader) { l.fence("30") }, never},
		{"shrinks, and the mom had renewed with it", "310", func(l *leader) { l.fence("30"); l.holds(30) }, 38 * time.Second},
		{"is set, and the mom had renewed with it", "0", func(l *leader) { l.fence("30"); l.holds(30) }, 38 * time.Second},
		{"the mom says that it holds less than there is", "310", func(l *leader) { l.holds(30) }, 346 * time.Second},
		{
			"shrinks, and the mom's word is older than the last change", "310",
			func(l *leader) {
				l.fence("30")
				old := l.View().Server().FenceChanged
				l.fence("310")
				l.fence("30")
				l.do(&command.ShortenFence{Host: "hosta", Held: 30, Changed: old})
			},
			346 * time.Second,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, all, job := silentHost(t, c.before)
				start(t, dispatch.NewWatcher(options(l, all)).Run)
				c.change(l)
				pass(min(c.want, time.Hour))
				if s := l.stateOf(job); s != pbs.Running {
					t.Fatalf("%s after %s", s, min(c.want, time.Hour))
				}
				pass(10 * time.Second) // the watcher looks every 5 s
				if s := l.stateOf(job); (s == pbs.Queued) != (c.want != never) {
					t.Errorf("%s at %s", s, c.want)
				}
			})
		})
	}
}

// A mom that may hold a longer fence than there is now is called, so that it renews with the shorter one at once.
func TestFence_CallsWhoHoldsALongerOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		l.fence("310")
		all := newMoms(l, "hosta", "hostb")
		l.fence("310")
		start(t, dispatch.NewWatcher(options(l, all)).Run)
		synctest.Wait()
		for i, fence := range []string{"60", "60", "90", "0", "90"} {
			l.fence(fence)
			synctest.Wait()
			want := []int{1, 1, 2, 2, 3}[i]
			for name, m := range all {
				m.mu.Lock()
				if m.pinged != want {
					t.Errorf("%s: called %d times after a fence of %s, want %d", name, m.pinged, fence, want)
				}
				m.mu.Unlock()
			}
		}
	})
}

func TestFence_CountsFromTheLastRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, all, job := silentHost(t, "30")
		w := dispatch.NewWatcher(options(l, all))
		start(t, w.Run)
		pass(25 * time.Second)
		w.Renewed("hosta") // it is down by now: its registration is late, its lease is not
		pass(37 * time.Second)
		if s := l.stateOf(job); s != pbs.Running {
			t.Fatalf("%s 37 s after a renewal", s)
		}
		pass(10 * time.Second)
		if s := l.stateOf(job); s != pbs.Queued {
			t.Errorf("%s 47 s after it", s)
		}
	})
}

func TestFence_ANewLeaderWaitsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, all, job := silentHost(t, "30")
		for range 3 {
			start(t, func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, 35*time.Second)
				defer cancel()
				return dispatch.NewWatcher(options(l, all)).Run(ctx)
			})
			pass(35 * time.Second)
		}
		if s := l.stateOf(job); s != pbs.Running {
			t.Errorf("%s, and no leader has waited for the fence", s)
		}
	})
}

// A mom that came back between the leader's look and the commit is not meant.
func TestFence_VerdictIsVoidForWhoRegistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		l.fence("30")
		l.host("hosta")
		job := l.run("hosta")
		l.do(&command.HostDown{Host: "hosta"})
		h, _ := l.View().Host("hosta")
		verdict := &command.HostFenced{Host: "hosta", Registered: h.Registered, Fence: h.Fence}
		l.host("hosta")
		l.do(verdict)
		if s := l.stateOf(job); s != pbs.Running {
			t.Errorf("%s of a host that is up", s)
		}
		l.do(&command.HostDown{Host: "hosta"})
		l.do(verdict)
		if s := l.stateOf(job); s != pbs.Running {
			t.Errorf("%s by a verdict on an earlier silence", s)
		}
		h, _ = l.View().Host("hosta")
		l.fence("60")
		l.do(&command.HostFenced{Host: "hosta", Registered: h.Registered, Fence: h.Fence})
		if s := l.stateOf(job); s != pbs.Running {
			t.Errorf("%s by a verdict that waited for a shorter fence", s)
		}
	})
}

// What becomes of the jobs of a host that is given up, and of the orders for it.
func TestFence_JobsOfAHostThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		l.fence("30")
		all := newMoms(l, "hosta", "hostb")
		fixed := l.do(&command.SubmitJob{
			Owner: pbs.User{Name: "ann", Host: "s1"}, Script: []byte("date\n"), Attributes: attr.List{{Name: "Rerunable", Value: "False"}},
		}).Job
		l.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{
			{Entry: attr.Entry{Name: "job_history_enable", Value: "True"}},
		}})
		l.do(&command.StartJob{Job: fixed, ExecVnode: "(hosta:ncpus=1)"})
		again, deleted, rerun, forced, other := l.run("hosta"), l.run("hosta"), l.run("hosta"), l.run("hosta"), l.run("hostb")
		l.do(&command.DeleteJob{Job: deleted})
		l.do(&command.RerunJob{Job: rerun})
		l.do(&command.RerunJob{Job: forced, Force: true})
		if err := l.refusal(&command.StartJob{Job: forced, ExecVnode: "(hostb:ncpus=1)"}); pbs.CodeOf(err) != pbs.BadState {
			t.Errorf("a second run while the first may live: %v", err)
		}
		if err := l.refusal(&command.ForgetHost{Host: "hosta"}); pbs.CodeOf(err) != pbs.BadNodeState {
			t.Errorf("a host that is up was forgotten: %v", err)
		}
		all["hosta:15002"].down = true
		start(t, dispatch.NewWatcher(options(l, all)).Run)
		pass(20 * time.Second)
		result := l.do(&command.ForgetHost{Host: "hosta"}) // before its fence falls
		if result.Requeued != 2 || result.Finished != 2 {
			t.Errorf("forgotten with %+v", result)
		}
		for id, want := range map[pbs.JobID]pbs.JobState{
			fixed: pbs.Finished, again: pbs.Queued, deleted: pbs.Finished, rerun: pbs.Queued, forced: pbs.Queued, other: pbs.Running,
		} {
			if s := l.stateOf(id); s != want {
				t.Errorf("%s is %s, want %s", id, s, want)
			}
		}
		j, _ := l.View().Job(fixed)
		if j.LastRun().ExitStatus != -4 || j.Comment != "Job deleted, execution node hosta down" {
			t.Errorf("not rerunnable: %d, %q", j.LastRun().ExitStatus, j.Comment)
		}
		if err := l.refusal(&command.StartJob{Job: forced, ExecVnode: "(hostb:ncpus=1)"}); err != nil {
			t.Errorf("nothing of the first run can live: %v", err)
		}
		kills := 0
		for o := range l.View().Orders("hosta") {
			if o.Kind != state.OrderKill {
				t.Errorf("order %d of kind %d about %s", o.ID, o.Kind, o.Job)
			}
			kills++
		}
		if kills != 5 {
			t.Errorf("%d orders to kill what may come back, want 5", kills)
		}
		if result := l.do(&command.ForgetHost{Host: "hosta"}); result.Requeued+result.Finished != 0 {
			t.Errorf("forgotten twice: %+v", result)
		}
	})
}
