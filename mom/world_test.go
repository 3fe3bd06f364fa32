package mom

import (
	"context"
	"io"
	"log/slog"
	"net/http"
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

	"rampart/mom/proc"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

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
