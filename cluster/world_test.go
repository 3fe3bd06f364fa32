package cluster_test

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"rampart/cluster"
	"rampart/cluster/identity"
	"rampart/cluster/member"
	"rampart/cluster/recovery"
	"rampart/cluster/store"
	"rampart/fsm"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/memnet"
)

// world is a cluster in one bubble.
type world struct {
	t       *testing.T
	net     *memnet.Net
	named   string // the cluster
	members []*server
	delay   time.Duration // between all, each way; 0: linkDelay
}

// server is a host with its disk, and the replica that runs on it, if any.
type server struct {
	w         *world
	name      pbs.ReplicaName
	host      *memnet.Host
	disk      func() (store.Backend, error)
	clockOff  atomic.Int64 // nanoseconds ahead
	replica   *cluster.Replica
	machine   *fsm.FSM
	asked     atomic.Int32 // ReadIndex calls answered
	spells    atomic.Int32 // how often the duties ran
	working   atomic.Bool
	cancel    context.CancelCauseFunc
	done      chan error
	api       net.Listener
	configure func(*cluster.Config)
}

const (
	raftPort = ":15001"
	apiPort  = ":15002"

	linkDelay = 500 * time.Microsecond
)

// newWorld starts n replicas, the first one with a new cluster, and waits until
// all of them vote. They are killed when the test ends.
func newWorld(t *testing.T, n int) *world {
	t.Helper()
	return newWorldNamed(t, n, "srv")
}

// newWorldNamed is newWorld for a cluster of another name.
func newWorldNamed(t *testing.T, n int, name string) *world {
	t.Helper()
	w := &world{t: t, net: memnet.New(1), named: name}
	t.Cleanup(func() {
		for _, m := range w.members {
			m.kill()
		}
	})
	for i := range n {
		m := w.add(fmt.Sprintf("s%d", i+1))
		m.open(i == 0)
		if i > 0 {
			w.join(m)
		}
		m.run()
		w.until("a leader", 5*time.Second, func() bool { return w.leader() != nil })
	}
	w.until("all vote", 20*time.Second, func() bool { return w.voters() == n })
	return w
}

func (w *world) add(name string) *server {
	disk := store.NewMemory()
	m := &server{
		w: w, name: pbs.ReplicaName(name), host: w.net.Host(name),
		disk: func() (store.Backend, error) { return disk, nil },
	}
	for _, o := range w.members {
		w.net.Delay(name, string(o.name), cmp.Or(w.delay, linkDelay))
	}
	w.members = append(w.members, m)
	return m
}

// join has the leader add m, which is open.
func (w *world) join(m *server) {
	w.t.Helper()
	if err := w.leader().replica.AddReplica(w.t.Context(), m.replica.Self()); err != nil {
		w.t.Fatalf("add %s: %v", m.name, err)
	}
}

// until waits for a condition in virtual time.
func (w *world) until(what string, limit time.Duration, ok func() bool) {
	w.t.Helper()
	for end := time.Now().Add(limit); !ok(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("no %s within %s: %s", what, limit, w.describe())
		}
	}
}

func (w *world) describe() string {
	var b strings.Builder
	for _, m := range w.members {
		if m.done == nil {
			fmt.Fprintf(&b, "%s is down; ", m.name)
			continue
		}
		s := m.replica.Status()
		fmt.Fprintf(&b, "%s: %s term %d commit %d applied %d; ", m.name, s.Role, s.Term, s.Commit, s.Applied)
	}
	return b.String()
}

// leader returns the leader of the highest term whose duties run; nil if none.
func (w *world) leader() *server {
	var best *server
	for _, m := range w.members {
		if m.done != nil && m.replica.IsLeader() && m.working.Load() && (best == nil || m.replica.Term() > best.replica.Term()) {
			best = m
		}
	}
	return best
}

func (w *world) followers() []*server {
	l := w.leader()
	return slices.DeleteFunc(slices.Clone(w.members), func(m *server) bool { return m == l || m.done == nil })
}

func (w *world) voters() int {
	n := 0
	if l := w.leader(); l != nil {
		for _, s := range l.replica.Statuses(w.t.Context()) {
			if s.Role == member.Leader || s.Role == member.Follower {
				n++
			}
		}
	}
	return n
}

// isolate cuts m from all others.
func (w *world) isolate(m *server) {
	for _, o := range w.members {
		if o != m {
			w.net.Cut(string(m.name), string(o.name))
		}
	}
}

// same waits until all that run have the same state.
func (w *world) same() {
	w.t.Helper()
	w.until("equal states", 10*time.Second, func() bool {
		var first *state.View
		for _, m := range w.members {
			if m.done == nil {
				continue
			}
			v := m.machine.View()
			if first == nil {
				first = v
			}
			if v.Index() != first.Index() || v.Digest() != first.Digest() {
				return false
			}
		}
		return true
	})
}

func (m *server) addr(port string) string { return m.host.IP().String() + port }

func (m *server) clock() time.Time { return time.Now().Add(time.Duration(m.clockOff.Load())) }

// open opens a replica on the member's disk.
func (m *server) open(first bool) {
	m.w.t.Helper()
	if err := m.tryOpen(first); err != nil {
		m.w.t.Fatal(err)
	}
}

func (m *server) named(i int) pbs.ReplicaName { return pbs.ReplicaName(fmt.Sprintf("n%d", i)) }

func (m *server) tryOpen(first bool) error {
	m.w.t.Helper()
	ctx := m.w.t.Context()
	listener, err := m.host.Listen(ctx, raftPort)
	if err != nil {
		m.w.t.Fatal(err)
	}
	m.machine = fsm.New(fsm.Options{Check: true})
	cfg := cluster.Config{
		Self:    state.Replica{Name: m.name, Address: m.addr(raftPort), Host: pbs.HostName(m.name)},
		Machine: m.machine, Stores: m.disk,
		Listener: listener, Dial: m.host.Dial, Peers: peers{m},
		Work: m.work, Clock: m.clock, Logger: quiet().With("replica", m.name),
	}
	if first {
		cfg.Init = &command.InitCluster{ID: "c1", Name: m.w.named, Epoch: 7}
	}
	if m.configure != nil {
		m.configure(&cfg)
	}
	if m.replica, err = cluster.Open(cfg); err != nil {
		_ = listener.Close()
	}
	return err
}

func quiet() *slog.Logger {
	if os.Getenv("RAMPART_TEST_LOG") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.New(slog.DiscardHandler)
}

// work is the duties: they note their terms, and take a moment to end.
func (m *server) work(ctx context.Context, term uint64) error {
	if m.working.Swap(true) {
		m.w.t.Errorf("%s: duties of term %d began before those of an earlier term had ended", m.name, term)
	}
	m.spells.Add(1)
	<-ctx.Done()
	<-time.After(3 * time.Millisecond)
	m.working.Store(false)
	return nil
}

func (m *server) run() {
	ctx, cancel := context.WithCancelCause(context.Background())
	m.cancel, m.done = cancel, make(chan error, 1)
	var err error
	if m.api, err = m.host.Listen(ctx, apiPort); err != nil {
		m.w.t.Fatal(err)
	}
	go m.serve(ctx, m.replica, m.api)
	go func(r *cluster.Replica, done chan error) { done <- r.Run(ctx) }(m.replica, m.done)
}

// stop ends the replica as its process's end does, and returns what Run returned.
func (m *server) stop(cause error) error {
	if m.done == nil {
		return nil
	}
	m.cancel(cause)
	err := <-m.done
	m.done = nil
	m.working.Store(false)
	_ = m.api.Close()
	m.host.Crash()
	return err
}

func (m *server) kill() { _ = m.stop(cluster.ErrKilled) }

func (m *server) restart() {
	m.w.t.Helper()
	m.open(false)
	m.run()
}

// write commits a name that can be looked for.
func (m *server) write(name string) error {
	_, err := m.propose(request(), name)
	return err
}

func (m *server) propose(id pbs.RequestID, name string) (command.Outcome, error) {
	ctx, cancel := context.WithTimeout(m.w.t.Context(), 5*time.Second)
	defer cancel()
	return m.replica.Propose(ctx, note(id, name))
}

func note(id pbs.RequestID, name string) command.Proposal {
	return command.Proposal{
		ID: id, Asker: pbs.User{Name: "u", Host: "h"},
		Commands: []command.Command{&command.PutReplica{Replica: state.Replica{Name: pbs.ReplicaName(name)}}},
	}
}

// request makes an id of this bubble's time: uuid.NewV7 never goes back behind what
// it was once told, in another bubble.
func request() pbs.RequestID {
	id := uuid.New()
	ms := time.Now().UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6] = id[6]&0x0f | 0x70
	return pbs.RequestID(id.String())
}

// sees reads and reports whether the name was committed.
func (m *server) sees(name string) (bool, error) {
	ctx, cancel := context.WithTimeout(m.w.t.Context(), 10*time.Second)
	defer cancel()
	v, err := m.replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return false, err
	}
	_, ok := v.Replica(pbs.ReplicaName(name))
	return ok, nil
}

// The replicas' API, as small as it can be: one question for each stream.

type question struct {
	What     string
	Start    identity.Question
	Disaster recovery.Disaster
}

type answer struct {
	Index, Term uint64
	Clock       time.Time
	Status      member.Status
	Start       identity.Answer
	End         recovery.LogEnd
	Rescue      recovery.Rescue
	Err         string
}

func (m *server) serve(ctx context.Context, r *cluster.Replica, l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go m.reply(ctx, r, conn)
	}
}

// reply answers one question, with what it asks of others while the server runs: no question outlives a bubble.
func (m *server) reply(ctx context.Context, r *cluster.Replica, conn net.Conn) {
	defer conn.Close()
	var q question
	if gob.NewDecoder(conn).Decode(&q) != nil {
		return
	}
	a := answer{Clock: m.clock(), Status: r.Status()}
	if q.What == "index" {
		m.asked.Add(1)
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		var err error
		if a.Index, a.Term, err = r.ReadIndex(ctx); err != nil {
			a.Err = err.Error()
		}
	}
	if q.What == "start" {
		var err error
		if a.Start, err = r.LastStart(ctx, q.Start); err != nil {
			a.Err = err.Error()
		}
	}
	if q.What == "end" {
		var err error
		if a.End, err = r.LogEnd(); err != nil {
			a.Err = err.Error()
		}
	}
	if q.What == "recover" {
		var err error
		if a.Rescue, err = r.Recover(ctx, q.Disaster); err != nil {
			a.Err = err.Error()
		}
	}
	_ = gob.NewEncoder(conn).Encode(a)
}

type peers struct{ m *server }

func (p peers) ask(ctx context.Context, what, addr string) (answer, error) {
	return p.question(ctx, question{What: what}, addr)
}

func (p peers) question(ctx context.Context, q question, addr string) (answer, error) {
	var a answer
	conn, err := p.m.host.Dial(ctx, strings.TrimSuffix(addr, raftPort)+apiPort)
	if err != nil {
		return a, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := gob.NewEncoder(conn).Encode(q); err != nil {
		return a, err
	}
	if err := gob.NewDecoder(conn).Decode(&a); err != nil {
		return a, err
	}
	if a.Err != "" {
		return a, errors.New(a.Err)
	}
	return a, nil
}

func (p peers) ReadIndex(ctx context.Context, addr string) (index, term uint64, err error) {
	a, err := p.ask(ctx, "index", addr)
	return a.Index, a.Term, err
}

func (p peers) Clock(ctx context.Context, addr string) (time.Time, error) {
	a, err := p.ask(ctx, "clock", addr)
	return a.Clock, err
}

func (p peers) Status(ctx context.Context, addr string) (member.Status, error) {
	a, err := p.ask(ctx, "status", addr)
	return a.Status, err
}

func (p peers) LastStart(ctx context.Context, addr string, q identity.Question) (identity.Answer, error) {
	a, err := p.question(ctx, question{What: "start", Start: q}, addr)
	return a.Start, err
}

func (p peers) LogEnd(ctx context.Context, addr string) (recovery.LogEnd, error) {
	a, err := p.ask(ctx, "end", addr)
	return a.End, err
}

func (p peers) Recover(ctx context.Context, addr string, d recovery.Disaster) (recovery.Rescue, error) {
	a, err := p.question(ctx, question{What: "recover", Disaster: d}, addr)
	return a.Rescue, err
}

var _ io.Closer = (*cluster.Replica)(nil)
