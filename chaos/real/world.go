package real

import (
	"context"
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"rampart/chaos/look"
	"rampart/chaos/world"
	"rampart/cmd/devrun"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"
)

// Config is what a world is made of.
type Config struct {
	Bin   string // folder of the programs
	Dir   string // of everything else; short, since paths of sockets are below it
	Size  world.Size
	Fence time.Duration // the server's node_fail_requeue, whole seconds; 0: what a new server has
	Cores int           // of each mom; 0: 16
	Split int           // vnodes of one core each of each mom; 0: one vnode that has all
}

// World is a running cluster.
type World struct {
	config   Config
	cluster  *devrun.Cluster
	book     book
	user     string
	login    *transport.Identity // of the clients
	office   *transport.Identity // of managers
	replicas []replica
	moms     []string
	clients  []*client.Client
	watcher  look.Watcher
	tenants  look.Tenants
	patrols  sync.WaitGroup

	life   context.Context
	end    context.CancelFunc
	begun  time.Time
	pids   map[string]int // of what must be running
	frozen []string
	kills  []Kill
	sick   int // how often a replica wanted to be started again
	fatal  []string
	final  []final
}

// replica is one that can be asked for what it holds.
type replica struct {
	name    string
	address string
	starts  int
	ask     *client.Client
}

// A Kill is a leader's end.
type Kill struct {
	At      time.Time
	Replica string
}

// Start brings a cluster up, and returns when jobs can run.
func Start(ctx context.Context, c Config) (*World, error) {
	w := &World{config: c, begun: time.Now(), pids: make(map[string]int)}
	args := []string{"--replicas", strconv.Itoa(c.Size.Servers)}
	for i := range c.Size.Moms {
		name := hostName(i)
		w.moms = append(w.moms, name)
		args = append(args, "--mom", c.mom(name))
	}
	var err error
	if w.cluster, err = devrun.Start(ctx, c.Bin, c.Dir, args...); err != nil {
		return nil, err
	}
	w.life, w.end = context.WithCancel(context.WithoutCancel(ctx))
	for _, step := range []func() error{w.open, w.know, w.settle, w.bound, w.patrol} {
		if err := step(); err != nil {
			w.Stop()
			return nil, err
		}
	}
	return w, nil
}

// hostName returns the name of a mom's host.
func hostName(n int) string { return fmt.Sprintf("host%d", n+1) }

// mom writes a mom's vnodes as rampart dev reads them.
func (c Config) mom(name string) string {
	if c.Split == 0 {
		return fmt.Sprintf("%s:ncpus=%d,mem=64gb", name, max(c.Cores, 16))
	}
	text := name + ":ncpus=1"
	for i := range c.Split - 1 {
		text += fmt.Sprintf("/%s[%d]:ncpus=1", name, i)
	}
	return text
}

// open makes the book, and identities by which to ask.
func (w *World) open() (err error) {
	if w.book, err = openBook(filepath.Join(w.config.Dir, "book")); err != nil {
		return err
	}
	who, err := user.Current()
	if err != nil {
		return err
	}
	w.user = who.Username
	w.login, err = w.cluster.Issue(transport.RoleSubmit, "login")
	if err != nil {
		return err
	}
	w.office, err = w.cluster.Issue(transport.RoleReplica, "s1")
	return err
}

// settle makes finished jobs stay, so that lists and the end show all of them, and a
// second queue beside the default one.
func (w *World) settle() error {
	directives := []string{
		"set server job_history_enable = True",
		"create queue " + world.SecondQueue + " queue_type = Execution, enabled = True, started = True",
	}
	if w.config.Fence > 0 {
		directives = append(directives, fmt.Sprintf("set server node_fail_requeue = %d", int(w.config.Fence.Seconds())))
	}
	for _, d := range directives {
		if _, err := w.cluster.Output(w.life, "qmgr", "-c", d); err != nil {
			return err
		}
	}
	return nil
}

// bound waits until every mom has said that it holds to the server's fence: until then a
// longer one counts.
func (w *World) bound() error {
	if w.config.Fence == 0 {
		return nil
	}
	return await(w.life, 3*patience, func(ctx context.Context) error {
		v, err := w.saved(ctx, 0)
		if err != nil {
			return err
		}
		for h := range v.Hosts() {
			if h.Fence != int64(w.config.Fence.Seconds()) {
				return fmt.Errorf("the fence of %s is %d s", h.Name, h.Fence)
			}
		}
		return nil
	})
}

// know notes who runs.
func (w *World) know() error {
	all, err := w.cluster.Status(w.life)
	if err != nil {
		return err
	}
	for _, r := range all {
		w.replicas = append(w.replicas, replica{
			name: r.Name, address: r.Address, starts: 1, ask: w.client(w.office, []string{r.Address}, patience),
		})
	}
	if len(w.replicas) != w.config.Size.Servers {
		return fmt.Errorf("%d replicas, want %d: %+v", len(w.replicas), w.config.Size.Servers, all)
	}
	return w.notePids(w.names()...)
}

// patience is how long one replica may take to hand out its state, and a mom to renew
// its lease twice.
const patience = 15 * time.Second

// names returns all processes.
func (w *World) names() []string {
	var all []string
	for _, r := range w.replicas {
		all = append(all, r.name)
	}
	return append(all, w.moms...)
}

func (w *World) notePids(names ...string) error {
	for _, name := range names {
		pid, err := w.cluster.Pid(name)
		if err != nil {
			return err
		}
		w.pids[name] = pid
	}
	return nil
}

// Client returns a client that asks the nth replica first, as an ordinary user.
func (w *World) Client(n int, budget time.Duration) (*client.Client, error) {
	return w.client(w.login, w.addresses(n), budget), nil
}

// Manager returns a client as Client does, for somebody who may set queues.
func (w *World) Manager(n int, budget time.Duration) (*client.Client, error) {
	return w.client(w.office, w.addresses(n), budget), nil
}

// Job is one that writes in the book.
func (w *World) Job(runs time.Duration) *api.SubmitRequest { return w.book.job(runs) }

func (w *World) client(id *transport.Identity, addresses []string, budget time.Duration) *client.Client {
	c := client.New(client.Options{Replicas: addresses, Identity: id, User: w.user, Budget: budget})
	w.clients = append(w.clients, c)
	return c
}

func (w *World) addresses(n int) []string {
	var all []string
	for i := range w.replicas {
		all = append(all, w.replicas[(n+i)%len(w.replicas)].address)
	}
	return all
}

// Kills returns when leaders died.
func (w *World) Kills() []Kill { return slices.Clone(w.kills) }

// Sick returns how often a replica ended by itself because its disk was too slow, or
// it was frozen in the midst of a write, and was started again.
func (w *World) Sick() int { return w.sick }

// Stop ends every process and returns when nothing of them is left.
func (w *World) Stop() {
	w.end()
	w.patrols.Wait()
	for _, c := range w.clients {
		c.Close()
	}
	for _, name := range w.frozen { // else it could not be told to end
		w.wake(name)
	}
	w.cluster.Stop()
}
