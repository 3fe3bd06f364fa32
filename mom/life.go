package mom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"rampart/fsm/pbs"
	"rampart/mom/hook"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
)

// life is what exists while Run lasts.
type life struct {
	ctx        context.Context
	spool      *spool.Spool
	site       *task.Site
	fence      *fence
	wg         sync.WaitGroup
	registered chan struct{} // closed when the servers know the mom
	once       sync.Once     // closes it
	lapsed     atomic.Bool   // since the last registration a deadline has passed
	leaving    atomic.Bool   // the mom was told to stop
	entering   atomic.Uint64 // the epoch for which it registers; 0: that which it is in. Changes under Mom.delivery
	hurry      chan struct{} // the next renewal does not wait for its time
	renewing   chan struct{} // holds one lease or registration at a time: answers are not overtaken

	hooks    momHooks
	last     lastShares
	proof    proof
	loads    loads
	busy     atomic.Bool // the load is too high for new jobs
	offlined atomic.Bool // the cgroups have failed, and the host's vnodes are offline for it

	mu    sync.Mutex
	tasks map[spool.TaskKey]*task.Runner
	ended bool // nothing new is begun
}

func (m *Mom) begin(ctx context.Context) (*life, error) {
	c := &m.config
	options := spool.Options{Home: c.Home, Checkpoints: cmp.Or(c.Checkpoints, m.settings.Load().checkpoints), Random: c, NoSync: c.NoSync}
	if c.Fault != nil {
		options.Fault = func(s spool.Step, path string) error { return c.Fault(string(s), path) }
	}
	if !spool.Exists(c.Home) {
		if err := endStrays(m); err != nil {
			return nil, err
		}
	}
	sp, err := spool.Open(options)
	if err != nil {
		m.lines.system(pbs.LogError, "spool", err.Error())
		return nil, err
	}
	l := &life{
		ctx: ctx, spool: sp, registered: make(chan struct{}), hurry: make(chan struct{}, 1), renewing: make(chan struct{}, 1),
		tasks: make(map[spool.TaskKey]*task.Runner),
		fence: &fence{path: c.path("mom_priv", "deadline"), system: c.System},
	}
	l.site = &task.Site{
		Host: c.Host, Spool: sp, System: c.System, Accounts: accounts{c.Accounts},
		Scripts: scripts{c.Host, c.Reporter},
		Peers:   peers{c.Sisters}, Socket: c.Socket,
		Settings: func() task.Settings { return m.settings.Load().Settings },
		Lines:    m.lines, Logger: c.Logger, SwitchUser: c.SwitchUser, Self: "#" + strconv.FormatUint(uint64(c.SelfUID), 10),
		GiveBack: l.renewSoon, Port: port(c.Address), Deadline: l.fence.path, Mover: c.Mover, Measure: m.measured,
	}
	l.site.Relay = func(k spool.TaskKey, host pbs.HostName, program uint32) {
		if r := l.task(k); r != nil {
			m.relay(r, &api.RunTaskReply{Host: string(host), Program: program})
		}
	}
	l.hooks.again, l.site.Hooks = make(chan struct{}, 1), hookRunner{m, l}
	if l.hooks.store, err = hook.OpenStore(c.path("mom_priv", "hooks")); err != nil {
		return nil, errors.Join(err, sp.Close())
	}
	if c.keeper != nil {
		l.site.Hooks = kept{hookRunner{m, l}, c.keeper}
	}
	m.steer(l.hooks.store)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.life = l
	return l, nil
}

// endStrays ends the jobs of a mom that had this home before and whose memory is gone:
// the servers conclude from the new one's registration that they are over.
func endStrays(m *Mom) error {
	n, err := m.config.System.EndStrays(spool.TasksDir(m.config.Home))
	if err != nil {
		return fmt.Errorf("end the jobs of an earlier mom: %w", err)
	}
	if n > 0 {
		m.lines.system(pbs.LogAdmin, string(m.config.Host), fmt.Sprintf("the memory of this mom is new: ended %d jobs that it does not know", n))
	}
	return nil
}

func port(address string) int {
	_, p, err := net.SplitHostPort(address)
	n, convErr := strconv.Atoi(p)
	if err != nil || convErr != nil {
		return DefaultPort
	}
	return n
}

// end waits for all that was started; orders that come from now on are not taken.
func (m *Mom) end(l *life, cancel context.CancelFunc) {
	m.mu.Lock()
	m.life = nil
	m.mu.Unlock()
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	cancel()
	l.wg.Wait()
	if err := m.runtime.Close(); err != nil {
		m.config.Logger.Warn("hook runtime not closed", "err", err)
	}
	l.fence.close()
	m.delivery.Lock() // a delivery that was under way is over
	defer m.delivery.Unlock()
	if err := l.spool.Close(); err != nil {
		m.config.Logger.Error("spool not closed", "err", err)
	}
}

// running returns the life, nil before and after it.
func (m *Mom) running() *life {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.life
}

// resume takes up the tasks of an earlier mom.
func (m *Mom) resume(l *life) error {
	records, err := l.spool.Tasks()
	if err != nil {
		return err
	}
	for _, rec := range records {
		r, err := task.Load(l.site, rec)
		if err != nil {
			return err
		}
		if t := r.Task(); t.BootID == m.config.System.BootID() {
			l.fence.seen(t.Lapse)
		}
		l.start(r, task.Resume{BootID: m.config.System.BootID(), Adopt: m.config.Adopt})
	}
	return nil
}

// start begins the life of a task; false says that the mom is ending.
func (l *life) start(r *task.Runner, first task.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	k := r.Task().Key
	l.tasks[k] = r
	l.wg.Go(func() {
		r.Run(l.ctx, first)
		if l.ctx.Err() != nil {
			return // the mom goes; the task stays
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.tasks, k)
	})
	return true
}

// known reports whether the servers know the mom, and what lives here.
func (l *life) known() bool {
	select {
	case <-l.registered:
		return !l.lapsed.Load()
	default:
		return false
	}
}

func (l *life) task(k spool.TaskKey) *task.Runner {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tasks[k]
}

// all returns the runners, in the order of their jobs.
func (l *life) all() []*task.Runner {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]*task.Runner, 0, len(l.tasks))
	for _, r := range l.tasks {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *task.Runner) int {
		x, y := a.Task().Key, b.Task().Key
		return cmp.Or(cmp.Compare(x.Job, y.Job), cmp.Compare(x.Run, y.Run))
	})
	return list
}

// others returns the runs of a job that this host knows besides the given one.
func (l *life) others(k spool.TaskKey) []*task.Runner {
	var list []*task.Runner
	for _, r := range l.all() {
		if o := r.Task().Key; o.Job == k.Job && o.Run != k.Run {
			list = append(list, r)
		}
	}
	return list
}
