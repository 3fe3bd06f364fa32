package world

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"rampart/chaos/check"
	"rampart/cmd/rampart/home"
	wiring "rampart/cmd/rampart/mom"
	"rampart/fsm/pbs"
	agent "rampart/mom"
	"rampart/mom/proc"
	"rampart/mom/spool"
	"rampart/transport"
	"rampart/transport/memnet"
)

// mom is an execution host with its disk and its programs, and the mom that runs on
// it, if any.
type mom struct {
	w      *World
	name   string
	host   *memnet.Host
	config wiring.Config
	system *programs
	load   *spoken
	id     *transport.Identity
	cpus   int

	cancel context.CancelFunc
	done   chan struct{} // nil: it is down
	away   bool          // nobody reaches it, or not everybody does
}

// shortWait lets a start that tolerates failures go on soon without those that do not answer.
const shortWait = "$sister_join_job_alarm 3\n"

// lag is how long each way of a slow link takes: what is asked by it is heard when that wait is over.
const lag = 3200 * time.Millisecond

// momPID is what moms take for their process: on each host, it is the same one in every run.
const momPID = 100

func (w *World) newMom(h Host) (*mom, error) {
	name, host := h.Name, w.net.Host(h.Name)
	m := &mom{w: w, name: name, host: host, load: newSpoken(), cpus: cmp.Or(h.CPUs, 4), system: &programs{Fake: proc.NewFake(w.config.Program), w: w, host: name, runs: make(map[proc.Handle]int)}}
	m.system.mom = m
	m.config = wiring.Default(name, host.IP().String())
	m.config.Home, m.config.Replicas = home.Home(w.home(name)), w.addresses(0)
	for _, r := range w.servers {
		m.config.Seeds = append(m.config.Seeds, r.config.Gossip)
	}
	id, err := w.ca.Issue(transport.RoleMom, pbs.HostName(name), w.begun)
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(filepath.Join(w.servers[0].config.Home.ServerTLS(), gossipKey))
	if err != nil {
		return nil, err
	}
	m.id = id
	files := transport.Files{Dir: m.config.Home.MomTLS()}
	made := m.config.Home.Make(m.config.Home.MomPriv(), m.config.Home.VnodeFiles())
	if h.Vnodes != "" && made == nil {
		made = home.Replace(filepath.Join(m.config.Home.VnodeFiles(), "vnodes"), []byte(h.Vnodes))
	}
	if w.config.Size.Prune && made == nil {
		made = home.Replace(filepath.Join(m.config.Home.MomPriv(), "config"), []byte(shortWait))
	}
	return m, errors.Join(made, files.SaveIdentity(id),
		home.Replace(filepath.Join(m.config.Home.MomTLS(), gossipKey), key))
}

// start starts the process; it adopts the programs that an earlier one has left.
func (m *mom) start(ctx context.Context) {
	m.w.phase(m.name)
	ctx, m.cancel = context.WithCancel(ctx)
	m.done = make(chan struct{})
	go func(done chan struct{}) {
		defer close(done)
		err := wiring.Run(ctx, m.config, wiring.Options{
			Logger: m.w.config.Logger.With("process", m.name),
			Outside: &wiring.Outside{
				Network: m.w.outlet(m.host), Load: m.load, Accounts: people{m.w.home("people")}, System: m.system, NoSync: true, Fault: m.system.disk, PID: momPID, Elsewhere: m.w.config.Elsewhere,
				Probe: func() agent.Hardware { return agent.Hardware{CPUs: m.cpus, MemoryKB: 8 << 20, Arch: "linux"} },
			},
		})
		if ctx.Err() == nil {
			m.w.book.failed(m.name, err)
		}
	}(m.done)
}

func (m *mom) kill() {
	if m.done == nil {
		return
	}
	m.cancel()
	m.host.Crash()
	m.system.thaw()
	<-m.done
	m.host.Crash()
	m.done = nil
}

// programs are a host's processes, with a book of what ran when.
type programs struct {
	*proc.Fake
	w    *World
	host string
	mom  *mom

	mu     sync.Mutex
	frozen *frost              // nil: its mom goes on
	runs   map[proc.Handle]int // in the world's book

	illness string // of the host; empty: it is well
	writes  int    // of the mom
}

// Start implements proc.System.
func (p *programs) Start(ctx context.Context, dir string, spec proc.Spec) (proc.Handle, error) {
	p.caught(ctx)
	p.w.place(spec.Job)
	if err := p.forks(); err != nil {
		return proc.Handle{}, err
	}
	folder := dir
	before := p.Starts(spec.Job)
	h, err := p.Fake.Start(ctx, dir, spec)
	if err != nil || p.w.config.Plain || p.Starts(spec.Job) == before {
		return h, err
	}
	part := filepath.Dir(dir) != spool.TasksDir(string(p.mom.config.Home))
	if part {
		dir = filepath.Dir(dir)
	} else if hosts := nodesOf(spec); len(hosts) > 1 {
		p.w.watching.Go(func() { p.mom.spawn(spec.Job, runOf(dir), hosts) })
	}
	n := p.w.book.began(check.Run{Job: spec.Job, Count: runOf(dir), Host: p.host, Start: p.w.since(), End: check.Never, Part: part})
	p.mu.Lock()
	p.runs[h] = n
	p.mu.Unlock()
	p.w.watching.Go(func() {
		// It outlives the mom, as the program does, and ends with the world.
		if exit, err := p.Fake.Wait(p.w.life, folder, h); !errors.Is(err, context.Canceled) {
			p.w.book.ended(n, exit.Fenced)
		}
	})
	return h, nil
}

// inside reports whether a path is one of a plain world's own, in which folders of jobs are made: files are staged into them.
func (p *programs) inside(path string) bool {
	rest, err := filepath.Rel(p.w.config.Dir, path)
	return p.w.config.Plain && err == nil && filepath.IsLocal(rest)
}

// MakeDir implements proc.System.
func (p *programs) MakeDir(owner *proc.Owner, path string) error {
	if p.inside(path) {
		return os.MkdirAll(path, 0o700)
	}
	return p.Fake.MakeDir(owner, path)
}

// RemoveDir implements proc.System.
func (p *programs) RemoveDir(owner *proc.Owner, path string) error {
	if p.inside(path) {
		return os.RemoveAll(path)
	}
	return p.Fake.RemoveDir(owner, path)
}

// runOf reads the run count in the name of a task's folder, JOB@RUN.
func runOf(dir string) uint32 {
	_, run, _ := strings.Cut(filepath.Base(dir), "@")
	n, _ := strconv.ParseUint(run, 10, 32)
	return uint32(n)
}

func (k *book) began(r check.Run) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runs = append(k.runs, r)
	return len(k.runs) - 1
}

func (k *book) ended(n int, fenced bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runs[n].End, k.runs[n].Fenced = k.since(), fenced
}

// people are the accounts: everybody is there, with a home directory of their own.
type people struct{ dir string }

func (p people) account(name string, uid uint32) transport.Account {
	home := filepath.Join(p.dir, name)
	_ = os.MkdirAll(home, 0o755) // programs of the site are started there, and fail without it
	return transport.Account{
		Name: name, UID: uid, GID: 100, Home: home, Shell: "/bin/sh",
		Group: "users", Groups: []string{"users"}, GIDs: []uint32{100},
	}
}

// ByUID implements transport.Accounts.
func (p people) ByUID(_ context.Context, uid uint32) (transport.Account, error) {
	return p.account("user"+strconv.FormatUint(uint64(uid), 10), uid), nil
}

// ByName implements transport.Accounts.
func (p people) ByName(_ context.Context, name string) (transport.Account, error) {
	return p.account(name, 1000), nil
}
