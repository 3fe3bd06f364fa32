package mom

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/build"
)

const released = "1.srv"

// party is moms that reach each other, on hosts a, b, c and so on; each has servers of its own.
type party struct {
	t    testing.TB
	moms map[string]*world
	last uint64 // order about the assignment

	mu   sync.Mutex
	live map[string]*Mom // that others reach
	cut  map[string]bool // nobody reaches it
	mad  func(host string, req *http.Request, mom http.RoundTripper) (*http.Response, error)
}

// reached returns the mom of a host, nil if nobody reaches it.
func (p *party) reached(host string) *Mom {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut[host] {
		return nil
	}
	return p.live[host]
}

// cutOff makes hosts unreachable, or reachable again.
func (p *party) cutOff(cut bool, hosts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range hosts {
		p.cut[h] = cut
	}
}

// up starts the mom of a host, down ends it as a crash would.
func (p *party) up(host string) {
	w := p.moms[host]
	w.up()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live[host] = w.mom
}

func (p *party) down(host string) {
	p.mu.Lock()
	delete(p.live, host)
	p.mu.Unlock()
	p.moms[host].down()
}

// caller reaches the moms of a party as one of them.
type caller struct {
	p    *party
	host string
}

// SisterOf implements Sisters.
func (c caller) SisterOf(host, _ string) apiconnect.SisterClient {
	return apiconnect.NewSisterClient(&http.Client{Transport: roads{c, host}}, "http://"+host)
}

// roads lead from one mom to another.
type roads struct {
	from caller
	to   string
}

// RoundTrip implements http.RoundTripper.
func (r roads) RoundTrip(req *http.Request) (*http.Response, error) {
	m := r.from.p.reached(r.to)
	if m == nil || m.running() == nil {
		return nil, errors.New("connection refused")
	}
	_, handler := m.SisterHandler(connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, m.config.Logger)))
	ctx := transport.WithCaller(req.Context(), transport.Caller{Role: transport.RoleMom, Host: pbs.HostName(r.from.host)})
	r.from.p.mu.Lock()
	mad := r.from.p.mad
	r.from.p.mu.Unlock()
	if req = req.WithContext(ctx); mad != nil {
		return mad(r.to, req, direct{handler})
	}
	return direct{handler}.RoundTrip(req)
}

func hostOf(n int) string { return "host" + string(rune('a'+n)) }

// together runs f beside three moms and a run over all of them, with a program on each sister.
func together(t *testing.T, f func(t *testing.T, p *party), more ...*api.Attribute) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &party{t: t, moms: map[string]*world{}, live: map[string]*Mom{}, cut: map[string]bool{}}
		var hosts []*api.RunHost
		for n := range 3 {
			w, name := newWorld(t), hostOf(n)
			w.config.Host, w.config.Sisters = pbs.HostName(name), caller{p, name}
			w.servers.owner = &api.RunOwner{Mother: hostOf(0), User: "ann"}
			p.moms[name] = w
			hosts = append(hosts, &api.RunHost{Name: name, Address: name + ":15002"})
			p.up(name)
		}
		a := p.moms[hostOf(0)]
		o := a.run(released, "sleep 1000", append(p.assignment(hostOf(0), hostOf(1), hostOf(2)), more...)...)
		o.GetRun().Hosts = hosts
		if got := a.deliver(o); got[0].GetRefusal() != nil {
			t.Fatalf("refused: %v", got)
		}
		sleep(time.Second)
		for n := range 2 {
			p.spawn(hostOf(n + 1))
		}
		f(t, p)
		for host := range p.moms {
			p.down(host)
		}
	})
}

func (p *party) assignment(hosts ...string) []*api.Attribute {
	vnodes, slots := make([]string, len(hosts)), make([]string, len(hosts))
	for i, h := range hosts {
		vnodes[i], slots[i] = "("+h+":ncpus=1)", h+"/0"
	}
	return []*api.Attribute{
		{Name: "exec_host", Value: strings.Join(slots, "+")},
		{Name: "exec_vnode", Value: strings.Join(vnodes, "+")},
		{Name: "schedselect", Value: fmt.Sprintf("%d:ncpus=1", len(hosts))},
		{Name: "Resource_List", Resource: "ncpus", Value: fmt.Sprint(len(hosts))},
	}
}

// spawn starts a program on a sister, as pbsdsh does.
func (p *party) spawn(host string) {
	p.t.Helper()
	_, err := caller{p, hostOf(0)}.SisterOf(host, "").Spawn(context.Background(), connect.NewRequest(&api.SpawnRequest{
		Job: released, RunCount: 1, Key: "k" + host, Node: 1, Args: []string{"/bin/sleep", "1000"},
	}))
	if err != nil {
		p.t.Errorf("spawn at %s: %v", host, err)
	}
	synctest.Wait()
}

// order tells the mother superior of an assignment, and returns its answer.
func (p *party) order(step api.ReleaseStep, hosts ...string) *api.Answer {
	p.t.Helper()
	p.last++
	return p.repeat(p.last, step, hosts...)
}

func (p *party) repeat(number uint64, step api.ReleaseStep, hosts ...string) *api.Answer {
	p.t.Helper()
	w := p.moms[hostOf(0)]
	o := w.next(released, 1)
	r := &api.ReleaseNodes{Number: number, Step: step, Attributes: p.assignment(hosts...)}
	for _, h := range hosts {
		r.Hosts = append(r.Hosts, &api.RunHost{Name: h})
	}
	o.What = &api.Order_Release{Release: r}
	return w.deliver(o)[0]
}

// release asks for an assignment and says that it is done.
func (p *party) release(hosts ...string) {
	p.t.Helper()
	for _, step := range []api.ReleaseStep{api.ReleaseStep_RELEASE_STEP_ASKED, api.ReleaseStep_RELEASE_STEP_DONE} {
		if a := p.order(step, hosts...); a.GetRefusal() != nil {
			p.t.Errorf("%s refused: %v", step, a.GetRefusal())
		}
	}
	sleep(time.Second)
}

// again stops a mom as a crash would, lets something happen, and starts it again.
func (p *party) again(host string, meanwhile ...func()) {
	p.down(host)
	for _, do := range meanwhile {
		do()
	}
	p.up(host)
}

// programs counts what lives of the run on a host.
func (p *party) programs(host string, want int) {
	p.t.Helper()
	synctest.Wait()
	if got := len(p.moms[host].host.Running()); got != want {
		p.t.Errorf("%d programs on %s, want %d", got, host, want)
	}
}

// logs counts the lines of a host's log that contain a text.
func (p *party) logs(host, text string, want int) {
	p.t.Helper()
	if got := strings.Count(p.moms[host].log(), text); got != want {
		p.t.Errorf("%d lines with %q on %s, want %d:\n%s", got, text, host, want, p.moms[host].log())
	}
}

func (p *party) nodes(want ...string) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.moms[hostOf(0)].home, "aux", released))
	if got := strings.Fields(string(text)); err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
		p.t.Errorf("node file %q, %v; want %q", text, err, want)
	}
}

const (
	deleted = ";0008;pbs_mom;Job;" + released + ";DELETE_JOB2 received"
	updated = ";0008;pbs_mom;Job;" + released + ";updated nodes info"
)

func report(host string) string { return ";0100;pbs_mom;Job;" + released + ";" + host + " cput=" }

// left checks that the release of hostb is over on all hosts.
func (p *party) left() {
	p.t.Helper()
	p.programs("hostb", 0)
	p.programs("hostc", 1)
	p.programs("hosta", 1)
	p.logs("hostb", deleted, 1)
	p.logs("hostc", deleted, 0)
	p.logs("hostc", updated, 1)
	p.nodes("hosta", "hostc")
	p.moms["hostb"].wants(released, "1 ended 265")
	p.moms["hostc"].wants(released)
	p.moms["hosta"].wants(released, "1 started")
}

// A released host is left as the specification says (ramp-down section 9.3), and the others go on.
func TestRelease_LeavesTheHost(t *testing.T) {
	together(t, func(t *testing.T, p *party) {
		sleep(30 * time.Second)
		asked := p.order(api.ReleaseStep_RELEASE_STEP_ASKED, "hosta", "hostc")
		if asked.GetRefusal() != nil || len(asked.GetUsed()) == 0 || len(asked.GetPresent()) > 0 {
			t.Errorf("answer %v", asked)
		}
		p.nodes("hosta", "hostc")
		sleep(time.Minute)
		p.programs("hostb", 1)
		p.logs("hostb", deleted, 0)
		if a := p.order(api.ReleaseStep_RELEASE_STEP_DONE, "hosta", "hostc"); a.GetRefusal() != nil {
			t.Errorf("answer %v", a)
		}
		sleep(time.Second)
		p.left()
		p.logs("hosta", report("hostb"), 1)
		p.logs("hosta", report("hostc"), 0)
		if tasks, _ := filepath.Glob(filepath.Join(p.moms["hostb"].home, "mom_priv", "jobs", "*")); len(tasks) != 1 {
			t.Errorf("tasks of hostb %v", tasks) // until the servers have it forgotten
		}

		second := p.order(api.ReleaseStep_RELEASE_STEP_ASKED, "hosta")
		if len(second.GetPresent()) == 0 {
			t.Errorf("answer to a second release: %v", second)
		}
		p.order(api.ReleaseStep_RELEASE_STEP_DONE, "hosta")
		sleep(time.Second)
		p.programs("hostc", 0)
		p.logs("hostc", deleted, 1)
		p.logs("hostb", deleted, 1)
		p.nodes("hosta")

		a := p.moms["hosta"]
		a.deliver(a.kill(released, 0, false))
		sleep(time.Second)
		e := a.servers.ended(released)
		if e == nil || len(e.GetPresent()) == 0 {
			t.Fatalf("the end %v", e)
		}
		cput := func(list []*api.Attribute) string {
			for _, u := range list {
				if u.GetResource() == "cput" {
					return u.GetValue()
				}
			}
			return ""
		}
		if all, present := cput(e.GetUsed()), cput(e.GetPresent()); all <= present {
			t.Errorf("the run has used %s, its last phase %s", all, present)
		}
	})
}

// That a host is to be left is in its log once, however often its mom is told until its disk takes it.
func TestRelease_ToldOnce(t *testing.T) {
	together(t, func(_ *testing.T, p *party) {
		var full atomic.Bool
		p.down("hostb")
		p.moms["hostb"].config.Fault = func(step, path string) error {
			if full.Load() && step == string(spool.Write) && filepath.Base(path) == "task.log" {
				return syscall.ENOSPC
			}
			return nil
		}
		p.up("hostb")
		sleep(5 * time.Second)
		full.Store(true)
		p.order(api.ReleaseStep_RELEASE_STEP_ASKED, "hosta", "hostc")
		p.order(api.ReleaseStep_RELEASE_STEP_DONE, "hosta", "hostc")
		sleep(20 * time.Second)
		p.logs("hostb", deleted, 0)
		p.programs("hostb", 1)
		full.Store(false)
		sleep(20 * time.Second)
		p.left()
	})
}

// Only what is the run's is touched on a host that leaves it (specification: ramp-down section 16).
func TestRelease_OtherJobsOfTheHost(t *testing.T) {
	together(t, func(t *testing.T, p *party) {
		b := p.moms["hostb"]
		other := b.run("2.srv", "sleep 1000")
		for _, a := range other.GetRun().GetAttributes() {
			switch a.GetName() {
			case "exec_host":
				a.Value = "hostb/1"
			case "exec_vnode":
				a.Value = "(hostb:ncpus=1)"
			}
		}
		b.deliver(other)
		sleep(time.Second)
		p.programs("hostb", 2)
		p.release("hosta", "hostc")
		p.programs("hostb", 1)
		if got := b.host.Running(); len(got) != 1 || got[0] != "2.srv" {
			t.Errorf("%q run on hostb", got)
		}
		if _, err := os.Stat(filepath.Join(b.home, "aux", "2.srv")); err != nil {
			t.Errorf("the node file of the other job: %v", err)
		}
		b.wants("2.srv", "1 started")
	})
}

// What is withdrawn never was: every program lives, and the next release is as the first.
func TestRelease_Withdrawn(t *testing.T) {
	together(t, func(_ *testing.T, p *party) {
		p.order(api.ReleaseStep_RELEASE_STEP_ASKED, "hosta", "hostc")
		p.again("hosta")
		sleep(time.Minute)
		p.order(api.ReleaseStep_RELEASE_STEP_WITHDRAWN, "hosta", "hostb", "hostc")
		p.nodes("hosta", "hostb", "hostc")
		p.repeat(1, api.ReleaseStep_RELEASE_STEP_ASKED, "hosta", "hostc")
		p.nodes("hosta", "hostb", "hostc")
		sleep(time.Minute)
		p.programs("hostb", 1)
		p.logs("hostb", deleted, 0)
		p.logs("hostc", updated, 0)
		p.release("hosta", "hostc")
		p.left()
	})
}

// Whoever is away, and at whatever step, the release comes to its end.
func TestRelease_MomsDie(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	asked, done := api.ReleaseStep_RELEASE_STEP_ASKED, api.ReleaseStep_RELEASE_STEP_DONE
	for name, play := range map[string]func(p *party){
		"the mother superior after it was asked": func(p *party) {
			p.order(asked, "hosta", "hostc")
			p.again("hosta")
			p.order(done, "hosta", "hostc")
		},
		"the mother superior before it reaches anybody": func(p *party) {
			p.cutOff(true, "hostb", "hostc")
			p.release("hosta", "hostc")
			p.again("hosta")
			p.cutOff(false, "hostb", "hostc")
		},
		"the mother superior, and its node file": func(p *party) {
			p.release("hosta", "hostc")
			p.again("hosta", func() { _ = os.Remove(filepath.Join(p.moms["hosta"].home, "aux", released)) })
		},
		"the sister before it hears of it": func(p *party) {
			p.order(asked, "hosta", "hostc")
			p.again("hostb", func() { p.order(done, "hosta", "hostc") })
		},
		"the sister for an hour": func(p *party) {
			p.down("hostb")
			p.release("hosta", "hostc")
			sleep(time.Hour / 5) // its program takes no longer than that
			p.up("hostb")
		},
		"the sister after it was told": func(p *party) {
			p.release("hosta", "hostc")
			p.again("hostb")
		},
		"a sister that stays": func(p *party) {
			p.order(asked, "hosta", "hostc")
			p.again("hostc", func() { p.order(done, "hosta", "hostc") })
		},
		"all at once": func(p *party) {
			p.cutOff(true, "hostb", "hostc")
			p.release("hosta", "hostc")
			for host := range p.moms {
				p.down(host)
			}
			p.cutOff(false, "hostb", "hostc")
			for n := range 3 {
				p.up(hostOf(n))
			}
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			together(t, func(_ *testing.T, p *party) {
				play(p)
				sleep(30 * time.Second)
				p.left()
			})
		})
	}
}

// A sister whose host was booted has nothing of the run any more: it says so once, and nobody ends the
// run for it.
func TestRelease_BootedSister(t *testing.T) {
	together(t, func(_ *testing.T, p *party) {
		p.down("hostb")
		p.release("hosta", "hostc")
		p.moms["hostb"].host.Reboot()
		p.up("hostb")
		sleep(5 * time.Minute)
		p.moms["hostb"].wants(released, "1 lost -4")
		p.programs("hosta", 1)
		p.programs("hostc", 1)
	})
}

// The end of the run overtakes the release: no program is left anywhere, and each host says so once.
func TestRelease_JobEndsMeanwhile(t *testing.T) {
	for _, step := range []api.ReleaseStep{api.ReleaseStep_RELEASE_STEP_ASKED, api.ReleaseStep_RELEASE_STEP_DONE} {
		together(t, func(t *testing.T, p *party) {
			p.cutOff(true, "hostb")
			p.order(api.ReleaseStep_RELEASE_STEP_ASKED, "hosta", "hostc")
			if step == api.ReleaseStep_RELEASE_STEP_DONE {
				p.order(step, "hosta", "hostc")
			}
			a := p.moms["hosta"]
			a.deliver(a.kill(released, 0, false))
			sleep(5 * time.Second)
			p.cutOff(false, "hostb")
			sleep(time.Minute)
			for n := range 3 {
				p.programs(hostOf(n), 0)
			}
			p.moms["hostb"].wants(released, "1 ended 265")
			p.moms["hostc"].wants(released, "1 ended 265")
			if got := p.order(api.ReleaseStep_RELEASE_STEP_ASKED, "hosta").GetRefusal(); got.GetCode() != uint32(pbs.BadState) {
				t.Errorf("a release of what is over: %v", got)
			}
		})
	}
}

// A host that was released is not obeyed by those that stay, nor are programs started there.
func TestRelease_StrangersAreRefused(t *testing.T) {
	together(t, func(t *testing.T, p *party) {
		p.release("hosta", "hostc")
		ctx := context.Background()
		_, err := caller{p, "hostb"}.SisterOf("hostc", "").Spawn(ctx, connect.NewRequest(&api.SpawnRequest{Job: released, RunCount: 1, Key: "x", Args: []string{"/bin/true"}}))
		if code := pbs.CodeOf(transport.FromWire(err)); code != pbs.Unauthorized {
			t.Errorf("a released host starts a program: %v", err)
		}
		_, err = caller{p, "hosta"}.SisterOf("hostb", "").Spawn(ctx, connect.NewRequest(&api.SpawnRequest{Job: released, RunCount: 1, Key: "x", Args: []string{"/bin/true"}}))
		if err == nil {
			t.Error("a program was started on a released host")
		}
		_, err = caller{p, "hostc"}.SisterOf("hostc", "").Update(ctx, connect.NewRequest(&api.UpdatePartRequest{Job: released, RunCount: 1, Number: 99}))
		if code := pbs.CodeOf(transport.FromWire(err)); code != pbs.Unauthorized {
			t.Errorf("a sister gives another its assignment: %v", err)
		}
		_, err = caller{p, "hostc"}.SisterOf("hostc", "").Signal(ctx, connect.NewRequest(&api.SignalPartRequest{Job: released, RunCount: 1, Signal: "SIGKILL"}))
		if code := pbs.CodeOf(transport.FromWire(err)); code != pbs.Unauthorized {
			t.Errorf("a sister signals another: %v", err)
		}
		_, err = caller{p, "hostc"}.SisterOf("hostc", "").End(ctx, connect.NewRequest(&api.EndPartRequest{Job: released, RunCount: 1}))
		if code := pbs.CodeOf(transport.FromWire(err)); code != pbs.Unauthorized {
			t.Errorf("a sister ends the part of another: %v", err)
		}
		if got := p.moms["hosta"].mom.running().all()[0].Task(); got.State() != task.Running {
			t.Errorf("the run is %s", got.State())
		}
	})
}
