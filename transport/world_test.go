package transport_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
	"rampart/transport/login"
	"rampart/transport/memnet"
)

// A world is a network of processes in one bubble. Everything that is started
// ends with the test, before the bubble does.
type world struct {
	t      *testing.T
	net    *memnet.Net
	ca     *transport.CA
	leader atomic.Value // name of the replica that leads, "" if none
	ctx    context.Context
	wg     sync.WaitGroup
}

// inWorld runs a test in a bubble.
func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		w := &world{t: t, net: memnet.New(1), ca: newCA(t), ctx: ctx}
		w.leader.Store("")
		test(t, w)
		cancel()
		w.wg.Wait()
		time.Sleep(10 * time.Minute) // the bubble's: what is still pooled or waits runs out
	})
}

func newCA(t *testing.T) *transport.CA {
	t.Helper()
	ca, err := transport.NewCA("c1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func (w *world) identity(role transport.Role, host pbs.HostName) *transport.Identity {
	w.t.Helper()
	id, err := w.ca.Issue(role, host, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// A process is one TLS port with services that note what they are asked.
type process struct {
	silent atomic.Bool
	apiconnect.UnimplementedBatchHandler
	apiconnect.UnimplementedClusterHandler
	apiconnect.UnimplementedReportHandler
	apiconnect.UnimplementedAgentHandler

	id      *transport.Identity
	handler *transport.Handler
	server  *transport.Server
	kill    context.CancelFunc
	ended   chan struct{}

	mu      sync.Mutex
	callers []transport.Caller
	ids     []string
	logged  []transport.LogLine // of requests that were passed on
	answer  func(calls int) error
	work    func(ctx context.Context) // done before the answer
	talk    func(*connect.BidiStream[api.TerminalUp, api.TerminalDown]) error
}

func (w *world) start(role transport.Role, name string) *process {
	w.t.Helper()
	p := &process{id: w.identity(role, pbs.HostName(name))}
	config := transport.HandlerConfig{
		Identity: p.id, Network: w.net.Host(name), Logger: slog.New(slog.DiscardHandler), Login: login.Verifier(w.ca),
	}
	config.Logged = func(l transport.LogLine) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.logged = append(p.logged, l)
	}
	if role == transport.RoleReplica {
		config.Silent = p.silent.Load
		config.Leader = func() (string, bool, bool) {
			l, _ := w.leader.Load().(string)
			return l + ":15001", l == name, l != ""
		}
	}
	p.handler = transport.NewHandler(config)
	errs := connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, config.Logger))
	p.handler.Mount(apiconnect.NewBatchHandler(p, errs))
	p.handler.Mount(apiconnect.NewClusterHandler(p, errs))
	p.handler.Mount(apiconnect.NewReportHandler(p, errs))
	p.handler.Mount(apiconnect.NewAgentHandler(p, errs))
	p.handler.Plain("/healthz", transport.ForAnybody, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	p.handler.Plain("/metrics", transport.ForKnown, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	var err error
	p.server, err = transport.NewServer(w.ctx, transport.ServerConfig{
		Network: w.net.Host(name), Address: name + ":15001", Identity: p.id, Handler: p.handler,
		Raft: role == transport.RoleReplica, Logger: config.Logger,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.ctx)
	p.kill, p.ended = cancel, make(chan struct{})
	w.wg.Go(func() {
		defer close(p.ended)
		if err := p.server.Run(ctx); err != nil && !errors.Is(err, net.ErrClosed) {
			w.t.Errorf("server %s: %v", name, err)
		}
		p.handler.Close()
	})
	return p
}

func (w *world) replica(name string) *process { return w.start(transport.RoleReplica, name) }

// client returns a client on the given host, closed at the end.
func (w *world) client(host string, o client.Options) *client.Client {
	o.Network = w.net.Host(host)
	c := client.New(o)
	w.wg.Go(func() {
		<-w.ctx.Done()
		c.Close()
	})
	return c
}

// note remembers who asked, and returns what the process is told to answer.
func (p *process) note(ctx context.Context, id string) error {
	p.mu.Lock()
	c, _ := transport.CallerFrom(ctx)
	p.callers, p.ids = append(p.callers, c), append(p.ids, id)
	answer, work, calls := p.answer, p.work, len(p.callers)
	p.mu.Unlock()
	if work != nil {
		work(ctx)
	}
	if answer == nil {
		return nil
	}
	return answer(calls)
}

func (p *process) calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.callers)
}

func (p *process) lastCaller() transport.Caller {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.callers) == 0 {
		return transport.Caller{}
	}
	return p.callers[len(p.callers)-1]
}

func (p *process) requestIDs() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.ids...)
}

func (p *process) Submit(ctx context.Context, r *connect.Request[api.SubmitRequest]) (*connect.Response[api.SubmitReply], error) {
	if err := p.note(ctx, r.Header().Get(transport.HeaderRequestID)); err != nil {
		return nil, err
	}
	return connect.NewResponse(&api.SubmitReply{Job: "1." + string(p.id.Host())}), nil
}

// Attach implements apiconnect.BatchHandler.
func (p *process) Attach(_ context.Context, s *connect.BidiStream[api.TerminalUp, api.TerminalDown]) error {
	return p.talk(s)
}

func (p *process) List(ctx context.Context, r *connect.Request[api.ListRequest], s *connect.ServerStream[api.ListReply]) error {
	if err := p.note(ctx, r.Header().Get(transport.HeaderRequestID)); err != nil {
		return err
	}
	for range 3 {
		if err := s.Send(&api.ListReply{Header: &api.ListHeader{Server: string(p.id.Host())}}); err != nil {
			return err
		}
		time.Sleep(time.Minute) // the bubble's: each message goes out by itself
	}
	return nil
}

func (p *process) Renew(ctx context.Context, _ *connect.Request[api.RenewRequest]) (*connect.Response[api.RenewReply], error) {
	return connect.NewResponse(&api.RenewReply{}), p.note(ctx, "")
}

func (p *process) Join(ctx context.Context, _ *connect.Request[api.JoinRequest]) (*connect.Response[api.JoinReply], error) {
	return connect.NewResponse(&api.JoinReply{}), p.note(ctx, "")
}

func (p *process) Status(ctx context.Context, _ *connect.Request[api.StatusRequest]) (*connect.Response[api.StatusReply], error) {
	return connect.NewResponse(&api.StatusReply{Server: string(p.id.Host())}), p.note(ctx, "")
}

func (p *process) ReadIndex(ctx context.Context, _ *connect.Request[api.ReadIndexRequest]) (*connect.Response[api.ReadIndexReply], error) {
	return connect.NewResponse(&api.ReadIndexReply{}), p.note(ctx, "")
}

func (p *process) Lease(ctx context.Context, _ *connect.Request[api.LeaseRequest]) (*connect.Response[api.LeaseReply], error) {
	return connect.NewResponse(&api.LeaseReply{}), p.note(ctx, "")
}

func (p *process) Ping(ctx context.Context, _ *connect.Request[api.PingRequest]) (*connect.Response[api.PingReply], error) {
	return connect.NewResponse(&api.PingReply{Host: string(p.id.Host())}), p.note(ctx, "")
}

func submit(ctx context.Context, c *client.Client) (string, error) {
	resp, err := c.Batch().Submit(ctx, connect.NewRequest(&api.SubmitRequest{}))
	if err != nil {
		return "", err
	}
	return resp.Msg.GetJob(), nil
}
