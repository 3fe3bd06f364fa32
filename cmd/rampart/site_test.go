package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/cluster/gossip"
	"rampart/cluster/store"
	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/mom"
	"rampart/cmd/rampart/server"
	"rampart/fsm"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	agent "rampart/mom"
	"rampart/mom/proc"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
	"rampart/transport/memnet"
)

// A site is a whole cluster in one bubble, made as an operator makes it: init, tokens, joins.
type site struct {
	t       *testing.T
	net     *memnet.Net
	dir     string
	daemons map[string]*daemon
	order   []string
	class   pbs.RTTClass // with which the cluster is founded
	log     journal
}

// journal keeps what the daemons log, to be searched.
type journal struct {
	mu    sync.Mutex
	lines []string
}

// Write implements io.Writer: one line each.
func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, string(line))
	return len(line), nil
}

// with returns the lines that hold all the words.
func (j *journal) with(words ...string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.lines), func(line string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) })
	})
}

func (j *journal) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = nil
}

// daemon is a replica or a mom with its disk.
type daemon struct {
	name    string
	host    *memnet.Host
	server  server.Config
	mom     mom.Config
	disk    *store.Memory // of a replica
	machine *fsm.FSM      // of the present or last process
	cancel  context.CancelCauseFunc
	done    chan error // nil: it is down
	stop    []func()
}

// onSite runs a test with three replicas (s1 to s3), two moms and a login host.
func onSite(t *testing.T, test func(t *testing.T, s *site)) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{t: t, net: memnet.New(1), dir: t.TempDir(), daemons: map[string]*daemon{}}
		defer s.end()
		s.found("s1")
		for _, name := range []string{"s2", "s3"} {
			s.joinReplica(name)
		}
		for _, name := range []string{"hosta", "hostb"} {
			s.mustJoinMom(name, "mom")
		}
		s.mustJoinMom("login", "submit")
		s.until("replicas that vote, moms that are up", time.Minute, s.whole)
		test(t, s)
	})
}

func (s *site) add(name string) *daemon {
	d := &daemon{name: name, host: s.net.Host(name)}
	s.daemons[name] = d
	s.order = append(s.order, name)
	return d
}

func (s *site) home(name string) home.Home { return home.Home(filepath.Join(s.dir, name)) }

func (s *site) found(name string) {
	s.t.Helper()
	d := s.add(name)
	d.server = server.Default(name, d.host.IP().String())
	d.server.Server, d.server.Home, d.disk = "srv", s.home(name), store.NewMemory()
	d.server.RTTClass = s.class
	if err := server.Init(d.server); err != nil {
		s.t.Fatal(err)
	}
	s.start(name)
	s.until("a leader", time.Minute, func() bool { return s.leader() != nil })
}

func (s *site) joinReplica(name string) {
	s.t.Helper()
	d := s.add(name)
	d.server = server.Default(name, d.host.IP().String())
	d.server.Home, d.disk, d.server.Replicas = s.home(name), store.NewMemory(), s.addresses()
	if err := server.Join(s.t.Context(), d.host, d.server, s.token("replica", "")); err != nil {
		s.t.Fatal(err)
	}
	var err error
	if d.server, err = server.Load(d.server.Home); err != nil {
		s.t.Fatal(err)
	}
	s.start(name)
}

// rejoin joins a replica again that has lost everything, by way of another one.
func (s *site) rejoin(name, token, by string) {
	s.t.Helper()
	if err := s.tryRejoin(name, token, by); err != nil {
		s.t.Fatal(err)
	}
	d := s.daemons[name]
	var err error
	if d.server, err = server.Load(d.server.Home); err != nil {
		s.t.Fatal(err)
	}
	s.start(name)
}

func (s *site) tryRejoin(name, token, by string) error {
	d := s.daemons[name]
	if err := os.RemoveAll(string(d.server.Home)); err != nil {
		return err
	}
	d.disk, d.server.Replicas = store.NewMemory(), []string{by}
	return server.Join(s.t.Context(), d.host, d.server, token)
}

func (s *site) joinMom(name, token string) error {
	d, ok := s.daemons[name]
	if !ok {
		d = s.add(name)
	}
	d.mom = mom.Default(name, d.host.IP().String())
	d.mom.Home, d.mom.Replicas = s.home(name), s.addresses()
	if err := mom.Join(s.t.Context(), d.host, d.mom, token); err != nil {
		return err
	}
	var err error
	d.mom, err = mom.Load(d.mom.Home)
	return err
}

func (s *site) mustJoinMom(name, role string) {
	s.t.Helper()
	if err := s.joinMom(name, s.token(role, name)); err != nil {
		s.t.Fatal(err)
	}
	s.start(name)
}

// token makes an enrolment token as root of a replica's host.
func (s *site) token(role, host string) string {
	s.t.Helper()
	reply, err := s.root().Cluster().CreateToken(s.t.Context(), connect.NewRequest(&api.CreateTokenRequest{Role: role, Host: host}))
	if err != nil {
		s.t.Fatal(err)
	}
	return reply.Msg.GetToken()
}

// addresses returns the addresses of the replicas.
func (s *site) addresses() []string {
	var all []string
	for _, name := range s.order {
		if d := s.daemons[name]; d.disk != nil && d.machine != nil {
			all = append(all, d.server.Listen)
		}
	}
	return all
}

// identity is what a daemon has on its disk now.
func (s *site) identity(name string) *transport.Identity {
	s.t.Helper()
	dir := s.home(name).MomTLS()
	if s.daemons[name].disk != nil {
		dir = s.home(name).ServerTLS()
	}
	id, err := transport.Files{Dir: dir}.Identity()
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// client asks as somebody on the host of a daemon, in whose name it is closed.
func (s *site) client(name, user string, replicas ...string) *client.Client {
	s.t.Helper()
	d := s.daemons[name]
	if len(replicas) == 0 {
		replicas = s.addresses()
	}
	c := client.New(client.Options{Replicas: replicas, Network: d.host, Identity: s.identity(name), User: user})
	d.stop = append(d.stop, c.Close)
	return c
}

func (s *site) root() *client.Client { return s.client("s1", "root") }

func (s *site) trust() apiconnect.TrustClient { return s.root().Trust() }

func (s *site) start(name string) {
	d := s.daemons[name]
	ctx, cancel := context.WithCancelCause(context.Background())
	d.cancel, d.done = cancel, make(chan error, 1)
	logger := slog.New(slog.NewTextHandler(&s.log, nil)).With("daemon", name)
	if d.disk == nil {
		system, config := proc.NewFake(nil), d.mom
		done := d.done
		go func() {
			done <- mom.Run(ctx, config, mom.Options{Logger: logger, Outside: &mom.Outside{
				Network: d.host, Accounts: everybody{}, System: system, NoSync: true,
				Probe: func() agent.Hardware { return agent.Hardware{CPUs: 4, MemoryKB: 8 << 20, Arch: "linux"} },
			}})
		}()
		return
	}
	r := server.New(d.server, server.Outside{
		Network: d.host, Accounts: everybody{}, Check: true, Stores: func() (store.Backend, error) { return d.disk, nil },
	}, logger)
	d.machine = r.Machine()
	go func(done chan error) { done <- r.Run(ctx) }(d.done)
}

// kill ends a process as kill -9 does.
func (s *site) kill(name string) {
	d := s.daemons[name]
	if d.done == nil {
		return
	}
	d.cancel(cluster.ErrKilled)
	d.host.Crash()
	<-d.done
	d.host.Crash()
	d.done = nil
}

func (s *site) end() {
	for _, name := range s.order {
		for _, stop := range s.daemons[name].stop {
			stop()
		}
	}
	for i := range s.order {
		s.kill(s.order[len(s.order)-1-i])
	}
	<-time.After(10*time.Minute + gossip.Linger)
}

// leader is the running replica that leads by the newest state, nil if none does.
func (s *site) leader() *daemon {
	var best *state.Cluster
	for _, d := range s.daemons {
		if d.machine == nil || d.done == nil {
			continue
		}
		if c := d.machine.View().Cluster(); best == nil || c.Term > best.Term {
			best = c
		}
	}
	if best == nil || best.Leader == "" {
		return nil
	}
	if d := s.daemons[string(best.Leader)]; d.done != nil {
		return d
	}
	return nil
}

// view is the leader's state.
func (s *site) view() *state.View { return s.leader().machine.View() }

// whole reports whether all that is up does its work.
func (s *site) whole() bool {
	if s.leader() == nil {
		return false
	}
	v := s.view()
	for name, d := range s.daemons {
		if d.done == nil || d.mom.SubmitOnly {
			continue
		}
		if d.disk == nil {
			if h, ok := v.Host(pbs.HostName(name)); !ok || !h.Up {
				return false
			}
			continue
		}
		if id, ok := v.Identity(s.identity(name).KeyHash()); !ok || id.Expires == 0 || d.machine.View().Index() < v.Index() {
			return false
		}
	}
	return s.voters() >= s.running()
}

func (s *site) running() int {
	n := 0
	for _, d := range s.daemons {
		if d.disk != nil && d.done != nil {
			n++
		}
	}
	return n
}

func (s *site) voters() int {
	reply, err := s.root().Cluster().Status(s.t.Context(), connect.NewRequest(&api.StatusRequest{}))
	if err != nil {
		return 0
	}
	n := 0
	for _, r := range reply.Msg.GetReplicas() {
		if r.GetRole() == "leader" || r.GetRole() == "follower" {
			n++
		}
	}
	return n
}

func (s *site) up(host pbs.HostName) bool {
	h, ok := s.view().Host(host)
	return ok && h.Up
}

// until waits for a condition in the bubble's time.
func (s *site) until(what string, limit time.Duration, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(limit); !ok(); <-time.After(max(50*time.Millisecond, limit/1000)) {
		if time.Now().After(end) {
			s.t.Fatalf("no %s within %s: %s", what, limit, s.describe())
		}
	}
}

func (s *site) describe() string {
	var b strings.Builder
	for _, name := range s.order {
		d := s.daemons[name]
		fmt.Fprintf(&b, "%s runs: %t", name, d.done != nil)
		if d.machine != nil {
			v := d.machine.View()
			fmt.Fprintf(&b, ", term %d, leader %s, index %d", v.Cluster().Term, v.Cluster().Leader, v.Index())
		}
		b.WriteString("; ")
	}
	return b.String()
}

// everybody are the accounts.
type everybody struct{}

func (e everybody) ByUID(ctx context.Context, _ uint32) (transport.Account, error) {
	return e.ByName(ctx, "root") // as whom the moms run
}

func (everybody) ByName(_ context.Context, name string) (transport.Account, error) {
	return transport.Account{Name: name, UID: 1000, GID: 100, Home: "/", Shell: "/bin/sh", Group: "users", Groups: []string{"users"}, GIDs: []uint32{100}}, nil
}
