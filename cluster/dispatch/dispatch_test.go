package dispatch_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster/dispatch"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/build"
)

// A leader is a state with one writer: what is proposed is applied at once.
type leader struct {
	t *testing.T

	mu      sync.Mutex
	store   *state.Store
	index   uint64
	changed chan struct{}
	lose    int // so many confirmations fail
}

func newLeader(t *testing.T) *leader {
	l := &leader{t: t, store: state.NewStore(), changed: make(chan struct{})}
	l.do(&command.InitCluster{ID: "c", Name: "srv", Epoch: 7})
	return l
}

func (l *leader) View() *state.View { return l.store.View() }

func (l *leader) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

func (l *leader) Propose(_ context.Context, p command.Proposal) (command.Outcome, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := p.Commands[0].(*command.OrderConfirmed); ok && l.lose > 0 {
		l.lose--
		return command.Outcome{}, errors.New("not the leader")
	}
	l.index++
	out, _ := command.Run(l.store, l.index, 3, command.Entry{Time: pbs.Time(time.Now().UnixNano()), Proposals: []command.Proposal{p}})
	if err := l.store.Publish().Check(); err != nil {
		l.t.Error(err)
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return out[0], nil
}

func (l *leader) do(commands ...command.Command) state.Result {
	l.t.Helper()
	out, err := l.Propose(l.t.Context(), command.Proposal{Asker: pbs.User{Name: "root", Host: "s1"}, Commands: commands})
	if err != nil || out.Refusal != nil {
		l.t.Fatalf("%T: %v %v", commands[0], err, out.Refusal)
	}
	return out.Result
}

// host registers a mom with one vnode.
func (l *leader) host(name string) {
	l.do(&command.HostUp{
		Host: pbs.HostName(name), Address: name + ":15002", BootID: "b", SpoolID: "s",
		Vnodes: []command.ReportedVnode{{Name: pbs.VnodeName(name), Available: resource.List{{Name: "ncpus", Value: "1000"}}}},
	})
	h, _ := l.View().Host(pbs.HostName(name))
	l.do(&command.HooksTold{Host: h.Name, Registered: h.Registered, Generation: l.View().Cluster().HookGeneration})
}

// run queues a job and gives it to the host.
func (l *leader) run(host string) pbs.JobID {
	id := l.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "s1"}, Script: []byte("date\n")}).Job
	l.do(&command.StartJob{Job: id, ExecVnode: "(" + host + ":ncpus=1)"})
	return id
}

func (l *leader) open(host string) int {
	n := 0
	for range l.View().Orders(pbs.HostName(host)) {
		n++
	}
	return n
}

// A mom answers, unless it is down.
type mom struct {
	name string

	mu     sync.Mutex
	down   bool
	slow   time.Duration
	refuse map[uint64]*api.Refusal
	got    []*api.DeliverRequest
	pinged int
	files  map[string]bool
	hooks  *api.SetHooksRequest
}

func (m *mom) answer() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return connect.NewError(connect.CodeUnavailable, errors.New("connection refused"))
	}
	return nil
}

func (m *mom) Deliver(ctx context.Context, r *connect.Request[api.DeliverRequest]) (*connect.Response[api.DeliverReply], error) {
	if err := m.answer(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.pinged++
	m.mu.Unlock()
	select {
	case <-time.After(m.slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.got = append(m.got, r.Msg)
	reply := &api.DeliverReply{}
	for _, o := range r.Msg.GetOrders() {
		reply.Answers = append(reply.Answers, &api.Answer{Order: o.GetId(), Refusal: m.refuse[o.GetId()]})
	}
	return connect.NewResponse(reply), nil
}

func (m *mom) Ping(ctx context.Context, _ *connect.Request[api.PingRequest]) (*connect.Response[api.PingReply], error) {
	if err := m.answer(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.pinged++
	m.mu.Unlock()
	select {
	case <-time.After(m.slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return connect.NewResponse(&api.PingReply{Host: m.name}), nil
}

// SetHooks takes what it is told; of a file it asks for the content once.
func (m *mom) SetHooks(_ context.Context, r *connect.Request[api.SetHooksRequest]) (*connect.Response[api.SetHooksReply], error) {
	if err := m.answer(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil {
		m.files = map[string]bool{}
	}
	for _, f := range r.Msg.GetFiles() {
		m.files[f.GetSum()] = true
	}
	reply := &api.SetHooksReply{}
	for _, h := range r.Msg.GetHooks() {
		if sum := h.GetScript(); sum != "" && !m.files[sum] {
			reply.Missing = append(reply.Missing, sum)
		}
	}
	if len(reply.Missing) == 0 {
		m.hooks = r.Msg
	}
	return connect.NewResponse(reply), nil
}

func (m *mom) FollowRun(context.Context, *connect.Request[api.FollowRunRequest]) (*connect.ServerStreamForClient[api.OutputPiece], error) {
	return nil, connect.NewError(connect.CodeUnimplemented, errors.New("not here"))
}

func (m *mom) PeekRun(context.Context, *connect.Request[api.PeekRunRequest]) (*connect.Response[api.PeekReply], error) {
	return nil, connect.NewError(connect.CodeUnimplemented, errors.New("not here"))
}

func (m *mom) EndMom(context.Context, *connect.Request[api.EndMomRequest]) (*connect.Response[api.EndMomReply], error) {
	return nil, connect.NewError(connect.CodeUnimplemented, errors.New("nobody asks it here"))
}

// Terminal is no affair of the duties.
func (m *mom) Terminal(context.Context) *connect.BidiStreamForClient[api.TerminalUp, api.TerminalDown] {
	return nil
}

func (m *mom) set(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// ids returns the orders as they came.
func (m *mom) ids() []uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []uint64
	for _, r := range m.got {
		for _, o := range r.GetOrders() {
			ids = append(ids, o.GetId())
		}
	}
	return ids
}

type moms map[string]*mom

func (m moms) Agent(address string) apiconnect.AgentClient { return m[address] }

func newMoms(l *leader, names ...string) moms {
	all := moms{}
	for _, n := range names {
		l.host(n)
		all[n+":15002"] = &mom{name: n}
	}
	return all
}

// start runs a duty in the bubble until the test ends.
func start(t *testing.T, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func options(l *leader, m moms) dispatch.Options {
	return dispatch.Options{Source: l, Proposer: l, Moms: m, Term: 3, Logger: slog.New(slog.DiscardHandler)}
}

func TestDispatcher_DeliversUntilConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta", "hostb")
		job := l.run("hosta") // before the term began
		start(t, dispatch.New(options(l, all)).Run)
		synctest.Wait()
		l.lose = 2 // the confirmation is lost: delivered again
		l.run("hosta")
		l.run("hostb")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if a, b := l.open("hosta"), l.open("hostb"); a+b != 0 {
			t.Errorf("open orders: %d and %d", a, b)
		}
		first := all["hosta:15002"].got[0]
		if first.GetEpoch() != 7 || first.GetTerm() != 3 || first.GetLowestOpen() != 1 {
			t.Errorf("delivery %v", first)
		}
		run := first.GetOrders()[0].GetRun()
		if run.GetScriptBytes() != 5 || first.GetOrders()[0].GetJob() != string(job) || first.GetOrders()[0].GetRunCount() != 1 {
			t.Errorf("order %v", first.GetOrders()[0])
		}
		if !slices.ContainsFunc(run.GetAttributes(), func(a *api.Attribute) bool {
			return a.GetName() == "exec_vnode" && a.GetValue() == "(hosta:ncpus=1)"
		}) {
			t.Errorf("attributes %v", run.GetAttributes())
		}
	})
}

// A run hears where what the job has written is, if that is another host and one that can be asked: a run that was sent back to the queue by its mom has
// left it there, one that was lost has not.
func TestDispatcher_TellsWhereOutputIs(t *testing.T) {
	for _, c := range []struct {
		name string
		end  *command.JobEnded
		on   string
		down bool
		want string
	}{
		{"another host", &command.JobEnded{ExitStatus: pbs.ExitRerun}, "hostb", false, "hosta"},
		{"the same host", &command.JobEnded{ExitStatus: pbs.ExitRerun}, "hosta", false, ""},
		{"a host that is down", &command.JobEnded{ExitStatus: pbs.ExitRerun}, "hostb", true, ""},
		{"it was lost", &command.JobEnded{ExitStatus: pbs.ExitAborted, Lost: true}, "hostb", false, ""},
		{"it never ran", &command.JobEnded{ExitStatus: pbs.ExitRerun, NeverStarted: true}, "hostb", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLeader(t)
				all := newMoms(l, "hosta", "hostb")
				job := l.run("hosta")
				seq := uint64(1)
				if !c.end.NeverStarted {
					seq++
					l.do(&command.JobStarted{Source: command.Source{Host: "hosta", Spool: "s", Seq: 1}, Job: job, RunCount: 1, Session: 7})
				}
				l.do(&command.RerunJob{Job: job})
				c.end.Source, c.end.Job, c.end.RunCount = command.Source{Host: "hosta", Spool: "s", Seq: seq}, job, 1
				l.do(c.end)
				l.do(&command.StartJob{Job: job, ExecVnode: "(" + c.on + ":ncpus=1)"})
				if c.down {
					l.do(&command.HostDown{Host: "hosta"})
				}
				start(t, dispatch.New(options(l, all)).Run)
				synctest.Wait()
				var heard []string
				for _, req := range all[c.on+":15002"].got {
					for _, o := range req.GetOrders() {
						if o.GetRun() != nil && o.GetRunCount() == 2 {
							heard = append(heard, o.GetRun().GetOutputAt())
						}
					}
				}
				if len(heard) == 0 || heard[0] != c.want {
					t.Errorf("it hears %q, want %q", heard, c.want)
				}
			})
		})
	}
}

// TestDispatcher_TellsTheKillDelay: a mom that ends a job over its walltime heeds the
// queue's kill_delay, too.
func TestDispatcher_TellsTheKillDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta")
		l.do(&command.ManageQueue{Verb: command.VerbSet, Queue: "workq", Changes: []command.AttrChange{
			{Entry: attr.Entry{Name: "kill_delay", Value: "3"}},
		}})
		l.run("hosta")
		start(t, dispatch.New(options(l, all)).Run)
		synctest.Wait()
		run := all["hosta:15002"].got[0].GetOrders()[0].GetRun()
		if !slices.ContainsFunc(run.GetAttributes(), func(a *api.Attribute) bool {
			return a.GetName() == "kill_delay" && a.GetValue() == "3"
		}) {
			t.Errorf("attributes %v", run.GetAttributes())
		}
	})
}

func TestDispatcher_DeadMomHoldsUpNobody(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta", "hostb")
		all["hosta:15002"].down = true
		start(t, dispatch.New(options(l, all)).Run)
		for range 300 {
			l.run("hosta")
		}
		l.run("hostb")
		time.Sleep(time.Minute)
		synctest.Wait()
		if a, b := l.open("hosta"), l.open("hostb"); a != 300 || b != 0 {
			t.Errorf("open orders: %d and %d", a, b)
		}
		// The mom comes back and registers: its orders do not wait for the backoff.
		all["hosta:15002"].set(false)
		l.host("hosta")
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		ids := all["hosta:15002"].ids()
		if l.open("hosta") != 0 || len(ids) != 300 || !slices.IsSorted(ids) {
			t.Errorf("%d open, delivered %v", l.open("hosta"), ids)
		}
		if n := len(all["hosta:15002"].got[0].GetOrders()); n > 128 {
			t.Errorf("one delivery of %d orders", n)
		}
	})
}

// A mom that leaves an order undone is asked at once about a run that comes after it: its job may have to go elsewhere (L14).
func TestDispatcher_NewRunCutsTheBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta")
		all["hosta:15002"].down = true
		start(t, dispatch.New(options(l, all)).Run)
		l.run("hosta")
		time.Sleep(time.Minute) // the backoff is at its longest
		synctest.Wait()
		all["hosta:15002"].set(false)
		l.run("hosta")
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if n := l.open("hosta"); n != 0 {
			t.Errorf("%d orders open", n)
		}
	})
}

func TestDispatcher_RefusedRunIsQueuedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta")
		all["hosta:15002"].refuse = map[uint64]*api.Refusal{1: {Code: 15010, Message: "no such user"}}
		start(t, dispatch.New(options(l, all)).Run)
		id := l.run("hosta")
		synctest.Wait()
		j, _ := l.View().Job(id)
		if j.State != pbs.Queued || j.Comment != "no such user" || l.open("hosta") != 0 {
			t.Errorf("job is %s %q, %d orders open", j.State, j.Comment, l.open("hosta"))
		}
	})
}

func TestWatcher(t *testing.T) {
	cases := []struct {
		name    string
		leases  bool
		down    bool
		suspect bool
		upAfter bool // is the host up after a minute?
	}{
		{"renews", true, false, false, true},
		{"silent, but answers the call", false, false, false, true},
		{"suspected, but answers the call", true, false, true, true},
		{"silent, and does not answer", false, true, false, false},
		{"unreachable for the leader, but renews through another replica", true, true, true, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLeader(t)
				all := newMoms(l, "hosta")
				job := l.run("hosta")
				all["hosta:15002"].down = c.down
				w := dispatch.NewWatcher(options(l, all))
				start(t, w.Run)
				for range 12 {
					time.Sleep(5 * time.Second)
					if c.suspect {
						w.Suspect("hosta", "gossip says it is gone")
					}
					if c.leases {
						w.Renewed("hosta")
					}
				}
				synctest.Wait()
				if h, _ := l.View().Host("hosta"); h.Up != c.upAfter {
					t.Errorf("up is %v", h.Up)
				}
				// L13: whatever the verdict, the job stays as it is.
				if j, _ := l.View().Job(job); j.State != pbs.Running {
					t.Errorf("the job is %s", j.State)
				}
			})
		})
	}
}

// An answer that lies unread while the leader does not get to run is no silence of the mom.
func TestWatcher_AStarvedLeaderFindsNobodyDown(t *testing.T) {
	for _, c := range []struct {
		name string
		lag  time.Duration
		slow time.Duration // until the answer to a call is read
		up   bool
	}{
		{"the leader runs, the mom is slow", 0, 3 * time.Second, false},
		{"the leader is starved", 100 * time.Millisecond, 3 * time.Second, true},
		{"the leader was stopped", time.Minute, 50 * time.Second, true},
		{"the leader is starved, the mom is dead", 100 * time.Millisecond, time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLeader(t)
				all := newMoms(l, "hosta")
				all["hosta:15002"].slow = c.slow
				o := options(l, all)
				o.Patience.Lag = c.lag
				start(t, dispatch.NewWatcher(o).Run)
				time.Sleep(3 * time.Minute)
				synctest.Wait()
				if h, _ := l.View().Host("hosta"); h.Up != c.up {
					t.Errorf("up is %v", h.Up)
				}
			})
		})
	}
}

func TestWatcher_GraceAfterTheStartOfTheTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeader(t)
		all := newMoms(l, "hosta")
		all["hosta:15002"].down = true
		start(t, dispatch.NewWatcher(options(l, all)).Run)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if h, _ := l.View().Host("hosta"); !h.Up {
			t.Error("down within the grace")
		}
		time.Sleep(12 * time.Second)
		synctest.Wait()
		if h, _ := l.View().Host("hosta"); h.Up {
			t.Error("still up")
		}
	})
}

// A mom that falls silent is down; one of which a new leader has not heard at all is unknown to it, too.
func TestWatcher_Unheard(t *testing.T) {
	for heard, want := range map[bool]string{true: "down", false: "state-unknown,down"} {
		synctest.Test(t, func(t *testing.T) {
			l := newLeader(t)
			all := newMoms(l, "hosta")
			w := dispatch.NewWatcher(options(l, all))
			w.Renewed("hosta") // before the term
			time.Sleep(time.Second)
			start(t, w.Run)
			time.Sleep(time.Second)
			if heard {
				w.Renewed("hosta")
			}
			all["hosta:15002"].set(true)
			time.Sleep(time.Minute)
			synctest.Wait()
			for v := range l.View().VnodesOf("hosta") {
				if v.State() != want {
					t.Errorf("heard %t: vnode %s is %s, want %s", heard, v.Name, v.State(), want)
				}
			}
		})
	}
}

// A mom that was down already when its leader began is unknown to that leader, unless it has heard of it since.
func TestWatcher_UnheardOfEarlier(t *testing.T) {
	for heard, want := range map[bool]string{true: "down", false: "state-unknown,down"} {
		synctest.Test(t, func(t *testing.T) {
			l := newLeader(t)
			all := newMoms(l, "hosta")
			w := dispatch.NewWatcher(options(l, all))
			w.Renewed("hosta") // before the term
			all["hosta:15002"].set(true)
			l.do(&command.HostDown{Host: "hosta"})
			time.Sleep(time.Second)
			start(t, w.Run)
			time.Sleep(time.Second)
			if heard {
				w.Renewed("hosta")
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			for v := range l.View().VnodesOf("hosta") {
				if v.State() != want {
					t.Errorf("heard %t: vnode %s is %s, want %s", heard, v.Name, v.State(), want)
				}
			}
		})
	}
}

// refusal proposes a command and returns how it was refused.
func (l *leader) refusal(c command.Command) error {
	l.t.Helper()
	out, err := l.Propose(l.t.Context(), command.Proposal{Asker: pbs.User{Name: "root", Host: "s1"}, Commands: []command.Command{c}})
	if err != nil {
		l.t.Fatal(err)
	}
	return out.Err()
}
