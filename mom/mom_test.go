package mom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// servers is the cluster as a mom sees it: it takes reports, or is away.
type servers struct {
	apiconnect.UnimplementedReportHandler
	mu       sync.Mutex
	away     bool
	epoch    uint64
	again    bool // ask for registration with the next lease
	scripts  map[string]string
	acked    map[string]uint64
	facts    []*api.Fact
	samples  []*api.SamplesRequest
	regs     []*api.RegisterRequest
	leases   int
	fence    int64 // seconds
	term     uint64
	lowest   uint64
	held     *api.LeaseRequest // the last one
	onLease  func(*api.LeaseRequest)
	onAnew   func(*api.RegisterRequest) // a registration for the epoch, from another one
	refusals map[string]bool            // jobs whose script is refused
	owner    *api.RunOwner              // of all runs
}

var _ apiconnect.ReportHandler = (*servers)(nil)

func (s *servers) here() error {
	if s.away {
		return connect.NewError(connect.CodeUnavailable, errors.New("away"))
	}
	return nil
}

func (s *servers) Register(_ context.Context, r *connect.Request[api.RegisterRequest]) (*connect.Response[api.RegisterReply], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.regs = append(s.regs, r.Msg)
	if f := r.Msg.GetForEpoch(); f != 0 && f != s.epoch {
		return connect.NewResponse(&api.RegisterReply{Epoch: s.epoch}), s.here()
	}
	if e := r.Msg.GetEpoch(); !s.away && e != 0 && e != s.epoch {
		if s.onAnew != nil {
			s.onAnew(r.Msg)
		}
		s.acked[r.Msg.GetSpoolId()] = max(s.acked[r.Msg.GetSpoolId()], r.Msg.GetToldSeq())
	}
	return connect.NewResponse(&api.RegisterReply{Epoch: s.epoch, AckedSeq: s.acked[r.Msg.GetSpoolId()], FenceSeconds: s.fence, Term: s.term, LowestOpen: s.lowest}), s.here()
}

func (s *servers) Facts(_ context.Context, r *connect.Request[api.FactsRequest]) (*connect.Response[api.FactsReply], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.here(); err != nil {
		return nil, err
	}
	id := r.Msg.GetSpoolId()
	for _, f := range r.Msg.GetFacts() {
		if f.GetSeq() == s.acked[id]+1 {
			s.acked[id]++
			s.facts = append(s.facts, f)
		}
	}
	return connect.NewResponse(&api.FactsReply{AckedSeq: s.acked[id]}), nil
}

func (s *servers) Samples(_ context.Context, r *connect.Request[api.SamplesRequest]) (*connect.Response[api.SamplesReply], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, r.Msg)
	return connect.NewResponse(&api.SamplesReply{}), s.here()
}

func (s *servers) Lease(_ context.Context, r *connect.Request[api.LeaseRequest]) (*connect.Response[api.LeaseReply], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases++
	if s.onLease != nil {
		s.onLease(r.Msg)
	}
	again := s.again
	s.again, s.held = false, r.Msg
	return connect.NewResponse(&api.LeaseReply{Epoch: s.epoch, Register: again, FenceSeconds: s.fence}), s.here()
}

func (s *servers) Script(_ context.Context, r *connect.Request[api.ScriptRequest], out *connect.ServerStream[api.ScriptReply]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.here(); err != nil {
		return err
	}
	if s.refusals[r.Msg.GetJob()] {
		return connect.NewError(connect.CodeNotFound, errors.New("not the present run"))
	}
	if r.Msg.GetConfirm() {
		return out.Send(&api.ScriptReply{Owner: s.owner})
	}
	script := s.scripts[r.Msg.GetJob()]
	half := len(script) / 2
	return errors.Join(out.Send(&api.ScriptReply{Data: []byte(script[:half])}), out.Send(&api.ScriptReply{Data: []byte(script[half:])}))
}

func (s *servers) set(change func(*servers)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// told returns the facts of a job, as short words.
func (s *servers) told(job string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var words []string
	for _, f := range s.facts {
		if f.GetJob() != job {
			continue
		}
		switch e := f.GetEnded(); {
		case f.GetStarted() != nil:
			words = append(words, fmt.Sprintf("%d started", f.GetRunCount()))
		case e.GetNeverStarted():
			words = append(words, fmt.Sprintf("%d never %d", f.GetRunCount(), e.GetExitStatus()))
		case e.GetLost():
			words = append(words, fmt.Sprintf("%d lost %d", f.GetRunCount(), e.GetExitStatus()))
		default:
			words = append(words, fmt.Sprintf("%d ended %d", f.GetRunCount(), e.GetExitStatus()))
		}
	}
	return words
}

func (s *servers) ended(job string) *api.Ended {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.facts {
		if f.GetJob() == job && f.GetEnded() != nil {
			return f.GetEnded()
		}
	}
	return nil
}

// direct carries requests without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	d.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// names is the user database.
type names struct{ home string }

func (n names) ByUID(context.Context, uint32) (transport.Account, error) {
	return transport.Account{Name: "ann", UID: 1000, GID: 100, Home: n.home, Shell: "/bin/bash"}, nil
}

func (n names) ByName(ctx context.Context, name string) (transport.Account, error) {
	if name != "ann" {
		return transport.Account{}, transport.ErrNoAccount
	}
	return n.ByUID(ctx, 1000)
}

// world is a host with its mom, inside a bubble.
type world struct {
	t       *testing.T
	home    string // PBS_HOME
	user    string // of ann
	host    *proc.Fake
	servers *servers
	config  Config
	mom     *Mom
	agent   apiconnect.AgentClient // of a mom in another process
	down    func()
	order   uint64
	term    uint64
	full    bool
	mu      sync.Mutex
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, home: t.TempDir(), user: t.TempDir(), host: proc.NewFake(nil), term: 1,
		servers: &servers{epoch: 7, scripts: map[string]string{}, acked: map[string]uint64{}, refusals: map[string]bool{}},
	}
	_, handler := apiconnect.NewReportHandler(w.servers)
	w.config = Config{
		Host: "hosta", Home: w.home, Address: "10.0.0.1:15002", Adopt: true,
		Reporter: apiconnect.NewReportClient(&http.Client{Transport: direct{handler}}, "http://servers"),
		System:   w.host, Accounts: names{w.user}, Probe: func() Hardware { return Hardware{4, 8 << 20, "linux"} },
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), NoSync: true, PID: 4711, Local: time.UTC,
		Fault: func(step, path string) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.full && step == "write" {
				return syscall.ENOSPC
			}
			return nil
		},
	}
	return w
}

func (w *world) setFull(full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.full = full
}

// up starts a mom; w.down stops it as a crash would, leaving everything as it is.
func (w *world) up() {
	w.t.Helper()
	m, err := New(w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	w.mom, w.down = m, func() {
		w.t.Helper()
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("run: %v", err)
		}
		w.down = func() {}
	}
	w.t.Cleanup(func() { w.down() })
	synctest.Wait()
}

func (w *world) deliver(orders ...*api.Order) []*api.Answer {
	w.t.Helper()
	r, err := w.tryDeliver(w.term, 0, orders...)
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return r.GetAnswers()
}

func (w *world) tryDeliver(term, lowest uint64, orders ...*api.Order) (*api.DeliverReply, error) {
	c := w.agent
	if c == nil {
		_, handler := w.mom.Handler()
		c = apiconnect.NewAgentClient(&http.Client{Transport: direct{handler}}, "http://mom")
	}
	r, err := c.Deliver(context.Background(), connect.NewRequest(&api.DeliverRequest{
		Epoch: w.servers.epoch, Term: term, LowestOpen: lowest, Orders: orders,
	}))
	if err != nil {
		return nil, err
	}
	return r.Msg, nil
}

func (w *world) next(job string, run uint32) *api.Order {
	w.order++
	return &api.Order{Id: w.order, Job: job, RunCount: run}
}

func (w *world) run(job, script string, more ...*api.Attribute) *api.Order {
	w.servers.set(func(s *servers) { s.scripts[job] = script })
	o := w.next(job, 1)
	number, _, _ := strings.Cut(job, ".")
	attr := func(name, res, value string) *api.Attribute {
		return &api.Attribute{Name: name, Resource: res, Value: value}
	}
	list := append([]*api.Attribute{
		attr("Job_Name", "", "work"), attr("euser", "", "ann"), attr("queue", "", "workq"),
		attr("Output_Path", "", "hosta:"+w.user+"/work.o"+number), attr("Error_Path", "", "hosta:"+w.user+"/work.e"+number),
		attr("Rerunable", "", "True"), attr("exec_host", "", "hosta/0*2"), attr("exec_vnode", "", "(hosta:ncpus=2)"),
		attr("Resource_List", "ncpus", "2"), attr("Variable_List", "", `PBS_O_WORKDIR=/w,LIST=a\,b`),
	}, more...)
	o.What = &api.Order_Run{Run: &api.RunJob{Attributes: list, ScriptBytes: uint64(len(script))}}
	return o
}

func (w *world) kill(job string, delay time.Duration, requeue bool) *api.Order {
	o := w.next(job, 1)
	o.What = &api.Order_Kill{Kill: &api.KillJob{DelayMs: delay.Milliseconds(), Requeue: requeue}}
	return o
}

func (w *world) forget(job string) *api.Order {
	o := w.next(job, 1)
	o.What = &api.Order_Forget{Forget: &api.ForgetJob{}}
	return o
}

func (w *world) wants(job string, words ...string) {
	w.t.Helper()
	synctest.Wait()
	if got := w.servers.told(job); !slices.Equal(got, words) {
		w.t.Errorf("facts of %s: %q, want %q", job, got, words)
	}
}

func (w *world) log() string {
	files, _ := filepath.Glob(filepath.Join(w.home, "mom_logs", "*"))
	var all strings.Builder
	for _, f := range files {
		b, _ := os.ReadFile(f)
		all.Write(b)
	}
	return all.String()
}

// sleep lets virtual time pass.
func sleep(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func bubble(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		f(t, w)
		w.down()
	})
}

func TestLife_FromOrderToForget(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		if a := w.deliver(w.run("1.srv", "echo hello\nsleep 90\nexit 5")); a[0].GetRefusal() != nil {
			t.Fatalf("refused: %v", a)
		}
		w.wants("1.srv", "1 started")
		if nodes, err := os.ReadFile(filepath.Join(w.home, "aux", "1.srv")); err != nil || string(nodes) != "hosta\n" {
			t.Errorf("node file %q, %v", nodes, err)
		}
		sleep(95 * time.Second)
		w.wants("1.srv", "1 started", "1 ended 5")
		if out, err := os.ReadFile(filepath.Join(w.user, "work.o1")); err != nil || string(out) != "hello\n" {
			t.Errorf("output %q, %v", out, err)
		}
		var used []string
		for _, u := range w.servers.ended("1.srv").GetUsed() {
			used = append(used, u.GetResource()+"="+u.GetValue())
		}
		want := "cpupercent=100 cput=00:01:30 mem=1024kb ncpus=2 vmem=2048kb walltime=00:01:30"
		if got := strings.Join(used, " "); got != want {
			t.Errorf("used %s, want %s", got, want)
		}
		w.deliver(w.forget("1.srv"))
		left, _ := filepath.Glob(filepath.Join(w.home, "mom_priv", "jobs", "*"))
		if len(left) != 0 {
			t.Errorf("left after forgetting: %v", left)
		}
		w.servers.set(func(s *servers) {
			if len(s.samples) != 2 || s.leases < 15 {
				t.Errorf("%d samples, %d leases", len(s.samples), s.leases)
			}
		})
		for _, text := range []string{
			";0008;pbs_mom;Job;1.srv;Started, pid = ", ";0008;pbs_mom;Job;1.srv;task 00000001 started, ",
			";0008;pbs_mom;Job;1.srv;kill_job", ";0100;pbs_mom;Job;1.srv;Obit sent",
			";0080;pbs_mom;Job;1.srv;copy file request received",
		} {
			if !strings.Contains(w.log(), text) {
				t.Errorf("log lacks %q:\n%s", text, w.log())
			}
		}
	})
}

func TestRegister_TellsHostVnodesAndTasks(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		defs := Definitions{filepath.Join(w.home, "mom_priv", "config.d")}
		text := "$configversion 2\nhosta: resources_available.ncpus = 0\nhosta[0]: resources_available.ncpus = 1\nhosta[0]: sharing = default_excl\n"
		if err := defs.Insert("v", []byte(text)); err != nil {
			t.Fatal(err)
		}
		w.servers.set(func(s *servers) { s.away = true })
		w.up()
		sleep(10 * time.Second)
		if _, err := w.tryDeliver(1, 0); connect.CodeOf(err) != connect.CodeUnavailable {
			t.Errorf("an order before the registration: %v", err)
		}
		w.servers.set(func(s *servers) { s.away = false })
		sleep(2 * time.Second)
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.servers.set(func(s *servers) { s.again = true })
		sleep(6 * time.Second)
		w.servers.set(func(s *servers) {
			last := s.regs[len(s.regs)-1]
			if len(last.GetTasks()) != 1 || last.GetPcpus() != 4 || last.GetBootId() != "boot-1" || last.GetSpoolId() == "" {
				t.Errorf("last registration %v", last)
			}
			var all []string
			for _, v := range last.GetVnodes() {
				for _, a := range v.GetAttributes() {
					all = append(all, fmt.Sprintf("%s:%s.%s=%s", v.GetName(), a.GetName(), a.GetResource(), a.GetValue()))
				}
			}
			for _, want := range []string{
				"hosta:resources_available.ncpus=0", "hosta:resources_available.mem=8388608kb", "hosta:resources_available.arch=linux",
				"hosta[0]:resources_available.ncpus=1", "hosta[0]:resources_available.host=hosta", "hosta[0]:sharing.=default_excl",
			} {
				if !slices.Contains(all, want) {
					t.Errorf("registration lacks %s: %q", want, all)
				}
			}
		})
	})
}

func TestDeliver_RepeatsGetTheOldAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		run := w.run("1.srv", "sleep 10")
		bad := w.next("9.srv", 1)
		bad.What = &api.Order_Signal{Signal: &api.SignalJob{Signal: "TERM"}}
		first := w.deliver(run, bad)
		w.down()
		w.up()
		again := w.deliver(run, bad)
		for i := range first {
			if first[i].String() != again[i].String() {
				t.Errorf("answer %d: %v, then %v", i, first[i], again[i])
			}
		}
		if pbs.Code(again[1].GetRefusal().GetCode()) != pbs.UnknownJob {
			t.Errorf("signal to an unknown job: %v", again[1])
		}
		if n := w.host.Starts("1.srv"); n != 1 {
			t.Errorf("started %d times", n)
		}
		// What is below the lowest open order is refused for ever, also after the job.
		w.term++
		if _, err := w.tryDeliver(w.term, 5); err != nil {
			t.Fatal(err)
		}
		if a := w.deliver(run); a[0].GetRefusal() == nil {
			t.Error("an order that was confirmed before is obeyed")
		}
		if _, err := w.tryDeliver(w.term-1, 9, w.kill("1.srv", 0, false)); connect.CodeOf(err) != connect.CodeFailedPrecondition {
			t.Errorf("an order of an earlier term: %v", err)
		}
		sleep(11 * time.Second)
		w.wants("1.srv", "1 started", "1 ended 0")
	})
}

func TestDeliver_NewEpochRegistersFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.servers.set(func(s *servers) { s.epoch = 8 })
		kill := w.kill("1.srv", 0, false)
		kill.Id = 1 // a number that an order of the old epoch had
		if _, err := w.tryDeliver(1, 0, kill); connect.CodeOf(err) != connect.CodeFailedPrecondition {
			t.Fatalf("order of an unknown epoch: %v", err)
		}
		sleep(time.Second)
		if a := w.deliver(kill); a[0].GetRefusal() != nil {
			t.Errorf("refused: %v", a)
		}
		sleep(time.Second)
		w.wants("1.srv", "1 started", "1 ended 265")
	})
}

func TestKill_TermThenKill(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.host = proc.NewFake(func(s proc.Spec) proc.Program {
			return proc.Program{Runs: time.Hour, IgnoresTerm: strings.HasPrefix(s.Job, "2")}
		})
		w.config.System = w.host
		w.up()
		w.deliver(w.run("1.srv", "x"), w.run("2.srv", "x"), w.run("3.srv", "x"))
		w.deliver(w.kill("1.srv", 10*time.Second, false), w.kill("2.srv", 10*time.Second, false), w.kill("3.srv", 0, true))
		w.wants("1.srv", "1 started", "1 ended 271")
		w.wants("2.srv", "1 started")
		w.wants("3.srv", "1 started", "1 ended -11")
		sleep(10 * time.Second)
		w.wants("2.srv", "1 started", "1 ended 265")
		if got := w.host.Signals("2.srv"); !slices.Equal(got, []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}) {
			t.Errorf("signals %v", got)
		}
		if _, err := os.Stat(filepath.Join(w.user, "work.o3")); err == nil {
			t.Error("the output of a requeued run was delivered")
		}
		w.deliver(w.kill("4.srv", 0, false))
		sleep(time.Second)
		w.wants("4.srv", "1 never -4")
	})
}

func TestWalltime_Enforced(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		limit := &api.Attribute{Name: "Resource_List", Resource: "walltime", Value: "00:01:00"}
		w.deliver(w.run("1.srv", "sleep 1000", limit), w.run("2.srv", "sleep 100", limit))
		longer := w.next("2.srv", 1)
		longer.What = &api.Order_Alter{Alter: &api.AlterJob{Attributes: []*api.Attribute{{Name: "Resource_List", Resource: "walltime", Value: "01:00:00"}}}}
		w.deliver(longer)
		sleep(61*time.Second + time.Millisecond)
		w.wants("1.srv", "1 started", "1 ended 271")
		note, err := os.ReadFile(filepath.Join(w.user, "work.e1"))
		if want := "=>> PBS: job killed: walltime 61 exceeded limit 60\n"; err != nil || string(note) != want {
			t.Errorf("stderr %q, %v; want %q", note, err, want)
		}
		w.wants("2.srv", "1 started")
		sleep(time.Minute)
		w.wants("2.srv", "1 started", "1 ended 0")
	})
}

func TestWalltime_HeedsTheKillDelayOfTheQueue(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.host = proc.NewFake(func(proc.Spec) proc.Program { return proc.Program{Runs: time.Hour, IgnoresTerm: true} })
		w.config.System = w.host
		w.up()
		limit := &api.Attribute{Name: "Resource_List", Resource: "walltime", Value: "00:01:00"}
		delay := &api.Attribute{Name: "kill_delay", Value: "3"}
		w.deliver(w.run("1.srv", "x", limit, delay))
		sleep(65 * time.Second)
		w.wants("1.srv", "1 started", "1 ended 265")
	})
}

func TestRestart_AdoptsAndReportsOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 60\nexit 3"), w.run("2.srv", "sleep 10"))
		w.down()
		sleep(20 * time.Second)
		w.up()
		w.wants("2.srv", "1 started", "1 ended 0")
		w.wants("1.srv", "1 started")
		w.servers.set(func(s *servers) { s.away = true })
		sleep(50 * time.Second)
		w.down()
		w.servers.set(func(s *servers) { s.away = false })
		w.up()
		sleep(5 * time.Second)
		w.wants("1.srv", "1 started", "1 ended 3")
		if w.host.Starts("1.srv") != 1 {
			t.Error("a second copy was started")
		}
	})
}

func TestRestart_WithoutAdoptingEndsAndRequeues(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.down()
		w.config.Adopt = false
		w.up()
		sleep(time.Second)
		w.wants("1.srv", "1 started", "1 lost -4")
		if len(w.host.Running()) != 0 {
			t.Error("the job runs on")
		}
	})
}

func TestRestart_AfterReboot(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"), w.run("2.srv", "sleep 5\nexit 4"))
		w.down()
		sleep(10 * time.Second) // the second job ends, unseen
		w.host.Reboot()
		w.up()
		sleep(time.Second)
		w.wants("1.srv", "1 started", "1 lost -4")
		w.wants("2.srv", "1 started", "1 ended 4")
	})
}

func TestRestart_SpoiltRecordIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.down()
		w.host.Reboot()
		if err := os.WriteFile(filepath.Join(w.home, "mom_priv", "jobs", "1.srv@1", "task.log"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		w.up()
		sleep(time.Second)
		w.wants("1.srv", "1 started", "1 lost -4")
	})
}

func TestRestart_UnstartedJobAsksFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.servers.set(func(s *servers) { s.away = true })
		w.deliver(w.run("1.srv", "sleep 10"), w.run("2.srv", "sleep 10"))
		w.down()
		w.servers.set(func(s *servers) { s.away, s.refusals["2.srv"] = false, true })
		w.up()
		sleep(20 * time.Second)
		w.wants("1.srv", "1 started", "1 ended 0")
		if w.host.Starts("2.srv") != 0 {
			t.Error("a run that the servers have given up was started")
		}
	})
}

func TestStop_KillEndsJobsFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.mom.Stop(true)
		sleep(time.Second)
		w.down()
		w.wants("1.srv", "1 started", "1 lost -4")
		if len(w.host.Running()) != 0 {
			t.Error("a job survived SIGTERM to the mom")
		}
	})
}

// TestStop_TakesNoMoreJobs: the servers hear that the host is out before its jobs end, so
// that none of them is sent back to it.
func TestStop_TakesNoMoreJobs(t *testing.T) {
	for _, kill := range []bool{true, false} {
		bubble(t, func(t *testing.T, w *world) {
			w.up()
			w.deliver(w.run("1.srv", "sleep 1000"))
			synctest.Wait()
			before := len(w.servers.facts)
			w.servers.set(func(s *servers) {
				s.onLease = func(r *api.LeaseRequest) {
					s.onLease = nil
					if r.GetTrouble() == "" || len(s.facts) != before {
						t.Errorf("kill %v: trouble %q after %d facts, want some after %d", kill, r.GetTrouble(), len(s.facts), before)
					}
				}
			})
			leases := w.servers.leases
			w.mom.Stop(kill)
			synctest.Wait()
			if w.servers.leases == leases {
				t.Errorf("kill %v: the servers were not told", kill)
			}
			w.down()
		})
	}
}

// TestStop_WithoutServers: nobody to tell delays the end a little, and no more.
func TestStop_WithoutServers(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.servers.set(func(s *servers) { s.away = true })
		w.mom.Stop(false)
		sleep(leaveWait + time.Second)
		if w.mom.running() != nil {
			t.Error("the mom waits for servers that are away")
		}
		w.down()
	})
}

func TestStop_LeavesJobsRunning(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.mom.Stop(false)
		sleep(time.Second)
		w.down()
		w.wants("1.srv", "1 started")
		if len(w.host.Running()) != 1 {
			t.Error("the job did not survive")
		}
	})
}

func TestRunJob_FullDisk(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.setFull(true)
		run := w.run("1.srv", "sleep 1")
		reply, err := w.tryDeliver(w.term, 0, run)
		if err != nil || !strings.Contains(reply.GetAnswers()[0].GetRefusal().GetMessage(), "no space left on device") {
			t.Fatalf("order on a full disk: %v, %v", reply, err)
		}
		if !strings.Contains(w.log(), "cannot save job") || !strings.Contains(w.log(), "no space left on device") {
			t.Errorf("log:\n%s", w.log())
		}
		left, _ := filepath.Glob(filepath.Join(w.home, "mom_priv", "jobs", "*"))
		if len(left) != 0 {
			t.Errorf("half saved: %v", left)
		}
		w.setFull(false)
		if a := w.deliver(run); a[0].GetRefusal() == nil {
			t.Error("the same order got another answer")
		}
		if a := w.deliver(w.run("1.srv", "sleep 1")); a[0].GetRefusal() != nil {
			t.Errorf("with space again: %v", a)
		}
		w.setFull(true) // the job ends while nothing can be saved
		sleep(10 * time.Second)
		w.setFull(false)
		sleep(10 * time.Second)
		w.wants("1.srv", "1 started", "1 ended 0")
	})
}

// A delivery that was held up arrives after the one that ended its run (L2).
func TestDeliver_OvertakenRunStartsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		first, late := w.run("1.srv", "sleep 9"), w.run("2.srv", "sleep 9")
		kill := w.kill("2.srv", 0, true)
		deliver := func(orders ...*api.Order) *api.DeliverReply {
			t.Helper()
			r, err := w.tryDeliver(w.term, first.GetId(), orders...)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		deliver(first, kill)
		w.wants("2.srv", "1 never -4")
		r := deliver(first, late)
		if a := r.GetAnswers(); len(a) != 2 || a[0].GetRefusal() != nil || a[1].GetRefusal() == nil {
			t.Errorf("answers %v", a)
		}
		sleep(20 * time.Second)
		w.wants("2.srv", "1 never -4")
	})
}

func TestOutput_Undelivered(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "echo precious", &api.Attribute{Name: "Join_Path", Value: "oe"}))
		w.deliver(w.run("2.srv", "echo elsewhere"))
		sleep(time.Second)
		w.host.SetFull(true)
		w.deliver(w.run("3.srv", "echo kept\nsleep 1", &api.Attribute{Name: "Join_Path", Value: "oe"}))
		sleep(2 * time.Second)
		e := w.servers.ended("3.srv")
		if e.GetStageoutStatus() >= 0 || !strings.Contains(e.GetComment(), "not delivered") || e.GetExitStatus() != 0 {
			t.Errorf("end %v", e)
		}
		if b, err := os.ReadFile(filepath.Join(w.home, "undelivered", "3.srv.OU")); err != nil || string(b) != "kept\n" {
			t.Errorf("undelivered %q, %v", b, err)
		}
		if _, err := os.Stat(filepath.Join(w.user, "work.e1")); err == nil {
			t.Error("a joined job has a file for stderr")
		}
	})
}

func TestRunJob_NoAccount(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.config.SwitchUser = true
		w.up()
		run := w.run("1.srv", "sleep 1")
		for _, a := range run.GetRun().GetAttributes() {
			if a.GetName() == "euser" {
				a.Value = "nobody-here"
			}
		}
		w.deliver(run)
		sleep(time.Second)
		w.wants("1.srv", "1 never -1")
	})
}

func TestRun_TwoMomsInOneHome(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		second, err := New(w.config)
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "another mom") {
			t.Errorf("second mom: %v", err)
		}
		pid, err := os.ReadFile(filepath.Join(w.home, "mom_priv", "mom.lock"))
		if err != nil || string(pid) != "4711\n" {
			t.Errorf("mom.lock %q, %v", pid, err)
		}
	})
}
