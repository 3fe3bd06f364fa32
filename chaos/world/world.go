package world

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"rampart/chaos/look"
	"rampart/cmd/rampart/server"
	"rampart/fsm/pbs"
	"rampart/mom/hook"
	"rampart/mom/proc"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
	"rampart/transport/memnet"
)

// Size says how many of what there are.
type Size struct {
	Servers, Moms, Clients int

	Fence    time.Duration // the server's node_fail_requeue, whole seconds; 0: what a new one has
	Prune    bool          // jobs are cut down to their requests when they start; clients are operators, moms do not wait long
	Restrict string        // the server's restrict_res_to_release_on_suspend; "": a suspended job gives back all
	Express  bool          // jobs of the second queue preempt those of the first one
	Keeps    bool          // jobs of the second queue keep what is free while they wait, and come before the others
	Plans    bool          // queues are as the files of LSF say that LSF_ENVDIR names: jobs of the second one are planned by time, and come before the others
	Busy     bool          // hosts tell their load, and all queues have jobs suspended by it
	Older    bool          // the replicas begin as builds that know a feature level less
	Scripts  int           // bytes of a job's script at least; 0: it is short
}

// Config is what a world is made of.
type Config struct {
	Size   Size
	Seed   uint64
	Dir    string        // where the homes are
	Delay  time.Duration // of everything that goes over the network, each way
	Files  bool          // logs and snapshots lie in files, and a killed replica opens them again
	Class  pbs.RTTClass  // how far the replicas are from each other; empty: as on one site
	Ambush string        // the kind of command at which a leader dies while the world starts; empty: none does
	Logger *slog.Logger

	Hosts []Host // execution hosts beside those of Size
	// Submit names hosts that only ask, beside those of Size's clients.
	Submit []string
	// Program says what the first program of each job does; nil: proc.Scripted does.
	Program func(proc.Spec) proc.Program
	// Plain is a cluster as it comes, for whoever has no laws to judge: nothing is set in it, nothing of what it
	// does is written down for Evidence, and replicas keep as much of the log as in production.
	Plain bool
	// Chance, if set, has the global source of math/rand, from which Raft and memberlist draw, go on from a seed.
	Chance func(seed uint64)
	// Elsewhere is where hooks run; without it, the clock stands from the first one on.
	Elsewhere *hook.Elsewhere
}

// A Host is an execution host.
type Host struct {
	Name   string
	Vnodes string // its vnode definition file; empty: it has one vnode, of what the machine has
	CPUs   int    // of the machine; 0: 4
}

// World is the system with its network.
type World struct {
	config  Config
	net     *memnet.Net
	rand    *rand.Rand // of torn files
	ca      *transport.CA
	begun   time.Time
	servers []*replica
	moms    []*mom
	clients []*client.Client
	admin   apiconnect.ClusterClient
	manager apiconnect.BatchClient
	trust   apiconnect.TrustClient
	members apiconnect.MembersClient

	order sync.Mutex
	been  map[string]int // what was followed by draws, so often

	meetings []*meeting // that wait, behind order, too

	life     context.Context // of the world
	end      context.CancelFunc
	watching sync.WaitGroup // of programs

	watcher look.Watcher // of every replica
	book    *book

	traps    traps
	disaster disaster
	lies     lies
}

// New makes the hosts and the cluster's first replica; Start brings it all up.
func New(c Config) (*World, error) {
	w := &World{
		config: c, net: memnet.New(c.Seed), begun: time.Now(), rand: rand.New(rand.NewPCG(c.Seed, 2)),
		book: newBook(), been: make(map[string]int),
	}
	w.traps.w, w.disaster.w, w.lies.w = w, w, w
	if c.Plain {
		w.net.Orderly()
	}
	w.life, w.end = context.WithCancel(context.Background())
	for i := range c.Size.Servers {
		w.servers = append(w.servers, w.newReplica(fmt.Sprintf("s%d", i+1)))
	}
	first := w.servers[0]
	if err := server.Init(first.config); err != nil {
		return nil, err
	}
	var err error
	if w.ca, err = first.files().CA(); err != nil {
		return nil, err
	}
	for _, r := range w.servers[1:] {
		if err := r.enrol(first); err != nil {
			return nil, err
		}
	}
	var hosts []Host
	for i := range c.Size.Moms {
		hosts = append(hosts, Host{Name: fmt.Sprintf("host%d", i+1)})
	}
	for _, h := range append(hosts, c.Hosts...) {
		m, err := w.newMom(h)
		if err != nil {
			return nil, err
		}
		w.moms = append(w.moms, m)
		w.book.hosts = append(w.book.hosts, pbs.HostName(m.name))
	}
	w.connect()
	root, err := w.newClient(admin, transport.RoleReplica, "root", 0, 30*time.Second)
	if err != nil {
		return nil, err
	}
	w.admin, w.manager, w.trust, w.members = root.Cluster(), root.Batch(), root.Trust(), root.Members()
	return w, nil
}

// connect takes every fault off every link and gives it its delay.
func (w *World) connect() {
	for _, m := range w.moms {
		m.away = false
	}
	w.mend(func(_, _ string) bool { return true })
	w.lies.end()
}

// mend does so with the links that are chosen.
func (w *World) mend(chosen func(a, b string) bool) {
	names := w.names()
	for i, a := range names {
		for n, b := range names[i+1:] {
			delay := w.config.Delay
			if w.config.Plain { // what is said to several at once is heard in their order
				delay += time.Duration(1+(37*i+101*(i+1+n))%2000) * time.Microsecond
			}
			if chosen(a, b) {
				w.net.Heal(a, b)
				w.net.Delay(a, b, delay)
			}
		}
	}
}

func (w *World) names() []string {
	var names []string
	for _, r := range w.servers {
		names = append(names, r.name)
	}
	for _, m := range w.moms {
		names = append(names, m.name)
	}
	names = append(append(names, w.clientNames()...), w.config.Submit...)
	return append(names, admin, liarName)
}

func (w *World) clientNames() []string {
	var names []string
	for i := range w.config.Size.Clients {
		names = append(names, clientName(i))
	}
	return names
}

const admin = "admin"

// asker is the name of all who submit.
const asker = "ann"

func clientName(i int) string { return fmt.Sprintf("c%d", i) }

func (w *World) home(name string) string { return filepath.Join(w.config.Dir, name) }

// addresses returns the addresses of the replicas, beginning with the nth.
func (w *World) addresses(n int) []string {
	var all []string
	for i := range w.servers {
		all = append(all, w.servers[(n+i)%len(w.servers)].config.Listen)
	}
	return all
}

// Client returns a client that asks the nth replica first, from a host of its own.
func (w *World) Client(n int, budget time.Duration) (*client.Client, error) {
	return w.newClient(clientName(n), transport.RoleSubmit, asker, n, budget)
}

// Manager returns a client as Client does, for somebody who may set queues.
func (w *World) Manager(n int, budget time.Duration) (*client.Client, error) {
	return w.newClient(clientName(n), transport.RoleReplica, "root", n, budget)
}

// Job returns a script that sleeps.
func (w *World) Job(runs time.Duration) *api.SubmitRequest {
	return &api.SubmitRequest{
		Attributes: []*api.Attribute{{Name: "Keep_Files", Value: "oe"}},
		Script:     w.script(runs),
	}
}

// script returns the script of a job that runs so long. Jobs that take equally long share one.
func (w *World) script(runs time.Duration) []byte {
	text := fmt.Appendf(nil, "sleep %.3f\n", runs.Seconds())
	if pad := w.config.Size.Scripts - len(text); pad > 0 {
		text = append(append(text, '#'), bytes.Repeat([]byte("x"), pad)...)
	}
	return text
}

// Ask returns a client that speaks for its user from a host and asks the nth replica first, which the caller closes. If role is a
// replica's, the host counts as a host of a replica. The world decides whom to ask, not the options.
func (w *World) Ask(host string, role transport.Role, n int, o client.Options) (*client.Client, error) {
	return w.clientAt(host, role, n, o)
}

// Network returns the network as a host sees it.
func (w *World) Network(host string) transport.Network { return w.net.Host(host) }

func (w *World) newClient(host string, role transport.Role, user string, first int, budget time.Duration) (*client.Client, error) {
	c, err := w.clientAt(host, role, first, client.Options{User: user, Budget: budget})
	if err == nil {
		w.clients = append(w.clients, c)
	}
	return c, err
}

func (w *World) clientAt(host string, role transport.Role, first int, o client.Options) (*client.Client, error) {
	id, err := w.ca.Issue(role, pbs.HostName(host), time.Now())
	if err != nil {
		return nil, err
	}
	o.Replicas, o.Network, o.Identity = w.addresses(first), w.net.Host(host), id
	return client.New(o), nil
}

// await waits for a condition, and says what was missing when the time is over.
func (w *World) await(ctx context.Context, limit time.Duration, missing func() string) error {
	for end := time.Now().Add(limit); ; {
		w.revive()
		text := missing()
		if text == "" {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("not within %s: %s", limit, text)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (w *World) since() time.Duration { return time.Since(w.begun) }

// Stop kills every process and returns when nothing of them is left.
func (w *World) Stop() {
	for _, c := range w.clients {
		c.Close()
	}
	w.flow()
	w.connect()
	for _, m := range w.moms {
		m.kill()
	}
	for _, r := range w.servers {
		r.kill()
	}
	w.end()
	w.watching.Wait()
	<-time.After(drain) // the clock of a bubble stops with its first goroutine
}

// drain is how long what gossip has under way needs to end by itself.
const drain = 30 * time.Second
