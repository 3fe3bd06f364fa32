package mom

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/build"
)

// A striking is the moment in which somebody dies: a call to hostb, before or after it was
// carried out.
type striking struct {
	call        string
	after       bool
	met, struck chan struct{}
}

func (s *striking) roundTrip(host string, req *http.Request, mom http.RoundTripper) (*http.Response, error) {
	if host != hostOf(1) || path.Base(req.URL.Path) != s.call {
		return mom.RoundTrip(req)
	}
	select {
	case <-s.met:
		return mom.RoundTrip(req)
	default:
	}
	if s.after {
		if _, err := mom.RoundTrip(req); err != nil {
			return nil, err
		}
	}
	close(s.met)
	select {
	case <-s.struck:
	case <-req.Context().Done(): // the caller itself dies
	}
	return nil, errors.New("connection reset by peer")
}

// insist delivers an order until the mother superior has taken it, as the leader does.
func (p *party) insist(o *api.Order) {
	for range 100 {
		if p.reached(hostOf(0)) != nil {
			a := p.moms[hostOf(0)]
			if _, err := a.tryDeliver(a.term, 0, o); err == nil {
				return
			}
		}
		time.Sleep(time.Second)
	}
	p.t.Errorf("nobody takes %v", o)
}

// over is the order to run a job over all hosts.
func (p *party) over(job string, run uint32) *api.Order {
	o := p.moms[hostOf(0)].run(job, "sleep 1000", p.assignment(hostOf(0), hostOf(1), hostOf(2))...)
	o.RunCount = run
	for n := range 3 {
		o.GetRun().Hosts = append(o.GetRun().Hosts, &api.RunHost{Name: hostOf(n), Address: hostOf(n) + ":15002"})
	}
	return o
}

// shrink is the order to release all hosts but some.
func (p *party) shrink(hosts ...string) []*api.Order {
	var all []*api.Order
	for n, step := range []api.ReleaseStep{api.ReleaseStep_RELEASE_STEP_ASKED, api.ReleaseStep_RELEASE_STEP_DONE} {
		o := p.moms[hostOf(0)].next(released, 1)
		r := &api.ReleaseNodes{Number: uint64(n + 1), Step: step, Attributes: p.assignment(hosts...)}
		for _, h := range hosts {
			r.Hosts = append(r.Hosts, &api.RunHost{Name: h})
		}
		o.What = &api.Order_Release{Release: r}
		all = append(all, o)
	}
	return all
}

// Whoever dies at whatever call of a mother superior to a sister, before or after it was carried out,
// and whether its host is booted: each run is told to have begun once at most and to be over once, and
// nothing of it stays on any host.
func TestSister_DeathsAtEachCall(t *testing.T) {
	const other = "2.srv"
	about := func(p *party, what func(o *api.Order)) []*api.Order {
		o := p.moms[hostOf(0)].next(released, 1)
		what(o)
		return []*api.Order{o}
	}
	for _, c := range []struct {
		name, call string
		prepare    func(p *party)
		orders     func(p *party) []*api.Order
	}{
		{"join", "Join", nil, func(p *party) []*api.Order { return []*api.Order{p.over(other, 1)} }},
		{"poll", "Poll", nil, nil},
		{"signal", "Signal", nil, func(p *party) []*api.Order {
			return about(p, func(o *api.Order) { o.What = &api.Order_Signal{Signal: &api.SignalJob{Signal: "SIGUSR1"}} })
		}},
		{"update", "Update", nil, func(p *party) []*api.Order { return p.shrink(hostOf(0), hostOf(1)) }},
		{"release", "End", nil, func(p *party) []*api.Order { return p.shrink(hostOf(0), hostOf(2)) }},
		{"end", "End", nil, func(p *party) []*api.Order {
			return about(p, func(o *api.Order) { o.What = &api.Order_Kill{Kill: &api.KillJob{}} })
		}},
		{"checkpoint", "Checkpoint", func(p *party) { p.site(restartBySleep) }, func(p *party) []*api.Order {
			return about(p, func(o *api.Order) { o.What = &api.Order_Checkpoint{Checkpoint: &api.CheckpointJob{}} })
		}},
		{"restart", "Restart", func(p *party) {
			p.site(restartBySleep)
			p.hold()
			sleep(time.Second)
			p.held(0, true)
		}, func(p *party) []*api.Order {
			o := p.over(released, 2)
			o.GetRun().Restart = &api.Restart{Session: 1}
			return []*api.Order{o}
		}},
		{"spawn", "Spawn", nil, nil},
	} {
		if build.Raced && testing.Short() && c.name != "join" && c.name != "update" && c.name != "end" {
			continue // make test plays them without the race detector
		}
		for _, victim := range []int{1, 0} {
			for _, how := range []struct {
				name        string
				after, boot bool
			}{{"before", false, false}, {"after", true, false}, {"before, and its host is booted", false, true}, {"after, and its host is booted", true, true}} {
				if testing.Short() && (how.boot || how.after != (victim == 0)) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s dies %s", c.name, hostOf(victim), how.name), func(t *testing.T) {
					together(t, func(t *testing.T, p *party) {
						if c.prepare != nil {
							c.prepare(p)
						}
						s := &striking{call: c.call, after: how.after, met: make(chan struct{}), struck: make(chan struct{})}
						p.goMad(s.roundTrip)
						if c.orders != nil {
							orders := c.orders(p)
							go func() {
								for _, o := range orders {
									p.insist(o)
								}
							}()
						}
						if c.call == "Spawn" {
							go func() {
								_, _ = caller{p, hostOf(0)}.SisterOf(hostOf(1), "").Spawn(context.Background(), connect.NewRequest(&api.SpawnRequest{
									Job: released, RunCount: 1, Key: "another", Node: 1, Args: []string{"/bin/sleep", "1000"},
								}))
							}()
						}
						select {
						case <-s.met:
						case <-time.After(5 * time.Minute):
							t.Fatal("nobody calls")
						}
						p.down(hostOf(victim))
						close(s.struck)
						sleep(3 * time.Second)
						if how.boot {
							p.moms[hostOf(victim)].host.Reboot()
						}
						p.up(hostOf(victim))
						p.goMad(nil)
						sleep(5 * time.Minute)
						a := p.moms[hostOf(0)]
						for job, runs := range map[string]uint32{released: 2, other: 1} {
							for run := uint32(1); run <= runs; run++ {
								kill := a.next(job, run)
								kill.What = &api.Order_Kill{Kill: &api.KillJob{}}
								p.insist(kill)
							}
						}
						sleep(10 * time.Minute)
						for n := range 3 {
							p.programs(hostOf(n), 0)
						}
						a.once(released)
						a.once(other)
					})
				})
			}
		}
	}
}

// once checks that each run of a job was told to have begun once at most, and to be over once.
func (w *world) once(job string) {
	w.t.Helper()
	begun, over := map[uint32]int{}, map[uint32]int{}
	w.servers.set(func(s *servers) {
		for _, f := range s.facts {
			switch {
			case f.GetJob() != job:
			case f.GetStarted() != nil:
				begun[f.GetRunCount()]++
			case f.GetEnded() != nil:
				over[f.GetRunCount()]++
			}
		}
	})
	for run, n := range over {
		if n != 1 {
			w.t.Errorf("run %d of %s is over %d times", run, job, n)
		}
	}
	for run, n := range begun {
		if n != 1 || over[run] != 1 {
			w.t.Errorf("run %d of %s has begun %d times and is over %d times", run, job, n, over[run])
		}
	}
}
