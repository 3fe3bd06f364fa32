package mom

import (
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
)

// A mother superior dies when a sister has ended its part, and the servers let the sister forget it before she is back:
// what the part has used counts all the same.
func TestSister_UsageOfAForgottenPart(t *testing.T) {
	var cput [2]string
	for n, forgotten := range []bool{false, true} {
		together(t, func(t *testing.T, p *party) {
			a, b := p.moms[hostOf(0)], p.moms[hostOf(1)]
			sleep(5 * time.Second) // no poll has told yet what the programs have used
			s := &striking{call: "End", after: true, met: make(chan struct{}), struck: make(chan struct{})}
			kill := a.next(released, 1)
			kill.What = &api.Order_Kill{Kill: &api.KillJob{}}
			if forgotten {
				p.goMad(s.roundTrip)
				go p.insist(kill)
				<-s.met
				p.down(hostOf(0))
				close(s.struck)
				p.goMad(nil)
				b.deliver(b.forget(released))
				if l := p.reached(hostOf(1)).running(); l.task(spool.TaskKey{Job: released, Run: 1}) != nil {
					t.Error("the part is still there")
				}
				p.up(hostOf(0))
			}
			p.insist(kill)
			sleep(10 * time.Minute)
			a.servers.set(func(s *servers) {
				for _, f := range s.facts {
					for _, u := range f.GetEnded().GetUsed() {
						if f.GetJob() == released && u.GetResource() == "cput" {
							cput[n] = u.GetValue()
						}
					}
				}
			})
		})
	}
	if cput[0] == "" || cput[0] != cput[1] {
		t.Errorf("cput %q, and %q when a part was forgotten before its mother superior came for it", cput[0], cput[1])
	}
}

// Only the mother superior is told, and only for a while.
func TestLastShares(t *testing.T) {
	var l lastShares
	now := time.Now()
	part := func(job string, sister bool) task.Task {
		out := task.Task{Order: task.Order{Hosts: []task.Host{{Name: "hosta"}, {Name: "hostb"}}}, Usage: task.Usage{Peak: task.Peak{CPU: time.Second}}}
		out.Key = spool.TaskKey{Job: "1.srv", Run: 1}
		if sister {
			out.Part.Stage = task.PartClean
		}
		if job != "" {
			out.Key.Job = "2.srv"
		}
		return out
	}
	l.keep(part("", false), now)
	if got := l.of(spool.TaskKey{Job: "1.srv", Run: 1}, "hosta"); got.GetCpuNanos() != 0 {
		t.Errorf("a mother superior's own: %v", got)
	}
	l.keep(part("", true), now)
	for caller, want := range map[string]int64{"hosta": int64(time.Second), "hostb": 0} {
		if got := l.of(spool.TaskKey{Job: "1.srv", Run: 1}, pbs.HostName(caller)); got.GetCpuNanos() != want {
			t.Errorf("%s is told %v", caller, got)
		}
	}
	l.keep(part("2", true), now.Add(sharesFor))
	if len(l.shares) != 1 || len(l.oldest) != 1 {
		t.Errorf("kept too long: %v", l.oldest)
	}
}
