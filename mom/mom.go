package mom

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/hook"
	"rampart/mom/task"
	"rampart/transport/daylog"
	"rampart/transport/own"
)

// How long a mom that is told to stop waits for the servers to hear of it, for its jobs
// to end, and for the servers to hear of that.
const (
	leaveWait = 3 * time.Second
	killWait  = 15 * time.Second
	flushWait = 3 * time.Second
)

// Mom is the agent of one host.
type Mom struct {
	looks
	config  Config
	log     *daylog.Log
	lines   lines
	meter   *meter
	runtime *hook.Runtime

	settings atomic.Pointer[settings]
	stop     chan bool     // the jobs are to end, too
	again    chan struct{} // register again

	amounts amounts
	reelim  chan struct{} // the configuration may name another program that reports load

	delivery sync.Mutex // one Deliver at a time
	mu       sync.Mutex
	life     *life // nil while not running
}

// New returns a mom; it starts nothing.
func New(c Config) (*Mom, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	m := &Mom{config: c, stop: make(chan bool, 2), again: make(chan struct{}, 1), reelim: make(chan struct{}, 1)}
	m.looks = looks{m.running}
	m.log = daylog.New(c.path("mom_logs"), "pbs_mom", daylog.Options{
		HighRes: c.HighRes, Location: c.Local, Mask: daylog.MomMask, Head: c.LogHead, Syslog: c.Syslog, File: c.LogFile,
	})
	m.lines = lines{m.log, c.Logger}
	m.amounts.named, m.amounts.lines = func() []amount { return m.settings.Load().amounts }, m.lines
	m.amounts.again = make(chan struct{}, 1)
	m.meter = newMeter(c.Registry, c.Reporter)
	m.config.Reporter = m.meter
	m.runtime = m.config.newRuntime()
	var err error
	if m.config.keeper, err = m.newCgroups(); err != nil {
		return nil, err
	}
	m.gauges(c.Registry)
	return m, nil
}

// Stop makes Run return. With kill it ends the jobs first, as SIGTERM does; without,
// as SIGINT does, they run on under their shims.
func (m *Mom) Stop(kill bool) {
	select {
	case m.stop <- kill:
	default:
	}
}

// Reload reads configuration and vnode definition files again, as SIGHUP does. The log is opened again with its next line, for
// whoever has moved its file.
func (m *Mom) Reload() error {
	if err := errors.Join(m.log.Close(), m.load()); err != nil {
		return err
	}
	l := m.running()
	if l != nil {
		m.judgeLoad(l) // the registration says what came of it
	}
	m.registerAgain()
	select {
	case m.amounts.again <- struct{}{}:
	default:
	}
	select {
	case m.reelim <- struct{}{}:
	default:
	}
	if l != nil {
		select {
		case l.hooks.again <- struct{}{}:
		default:
		}
	}
	return nil
}

func (m *Mom) load() error {
	config, judge := m.config.path("mom_priv", "config"), own.Closed
	if m.config.Settings != "" { // it must be there, and lies in folders that Run has not closed
		config, judge = m.config.Settings, own.Program
	}
	err := errors.Join(judge(config), m.config.judgeEnvironment())
	var s settings
	if err == nil {
		s, err = readSettings(config, m.config.environment(), m.config.TmpDir)
	}
	if err == nil {
		_, err = m.config.vnodes()
	}
	if err != nil {
		m.lines.system(pbs.LogError, "read_config", err.Error())
		return fmt.Errorf("read mom configuration: %w", err)
	}
	m.settings.Store(&s)
	m.log.SetMask(s.logEvents)
	m.log.SetKeep(s.keepDays)
	s.tell(m.lines)
	return nil
}

func (m *Mom) registerAgain() {
	select {
	case m.again <- struct{}{}:
	default:
	}
}

// Run is the mom's life. It returns nil when ctx has ended or Stop was called, and an
// error when it cannot begin.
func (m *Mom) Run(ctx context.Context) error {
	lock, err := m.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	defer m.log.Close()
	if err := m.load(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer m.end(l, cancel)
	m.lines.system(pbs.LogSystem, string(m.config.Host), fmt.Sprintf("mom started, pid = %d", m.config.PID))
	if err := m.resume(l); err != nil {
		return err
	}
	for _, work := range []func(context.Context, *life){m.keepRegistered, m.keepLease, m.keepHooks, m.keepCgroups, m.keepOutputs, m.keepRestricted} {
		l.wg.Go(func() { work(ctx, l) })
	}
	told, measured := teller{m, l}, loadKeeper{m, l}
	for _, work := range []func(context.Context){told.keepFacts, told.keepSamples, measured.keepKernel, measured.keepElim} {
		l.wg.Go(func() { work(ctx) })
	}
	l.wg.Go(func() { m.amounts.keep(ctx, m.registerAgain) })
	select {
	case <-ctx.Done():
	case kill := <-m.stop:
		m.leave(ctx, l)
		if kill {
			m.endJobs(ctx, l)
		}
	}
	m.lines.system(pbs.LogSystem, string(m.config.Host), "Is down")
	return nil
}

// lock makes this the only mom of the home, and leaves its pid where tools look.
func (m *Mom) lock() (*os.File, error) {
	for folder, mode := range map[string]fs.FileMode{m.config.Home: 0o755, m.config.path("mom_priv"): 0o751} {
		if err := own.Folder(folder, mode); err != nil {
			return nil, fmt.Errorf("lock home: %w", err)
		}
	}
	f, err := own.Lock(m.config.path("mom_priv", "mom.lock"), m.config.PID)
	if errors.Is(err, own.ErrRunning) {
		err = errors.New("another mom is running")
	}
	if err != nil {
		return nil, fmt.Errorf("lock home %s: %w", m.config.Home, err)
	}
	return f, nil
}

// leave tells the servers that this mom takes no more jobs: what they would still send to
// a mom that goes would wait for its return, or for its fence. Those who do not hear it
// find out by themselves.
func (m *Mom) leave(ctx context.Context, l *life) {
	l.leaving.Store(true)
	if !l.known() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leaveWait)
	defer cancel()
	if _, err := m.renew(ctx, l); err != nil {
		m.config.Logger.Warn("servers not told that the mom stops", "err", err)
	}
}

// endJobs kills every job and gives the servers a moment to hear of it; what they do
// not hear is in the spool.
func (m *Mom) endJobs(ctx context.Context, l *life) {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, killWait)
	defer cancel()
	for _, r := range l.all() {
		if err := r.Tell(ctx, task.Abort{}); err != nil {
			m.config.Logger.Error("job not ended", "job", r.Task().Key.Job, "err", err)
		}
	}
	await(ctx, func() bool {
		for _, r := range l.all() {
			if t := r.Task(); t.State() != task.Ended || !t.Reports.Told() {
				return false
			}
		}
		return true
	})
	flush, done := context.WithTimeout(ctx, flushWait)
	defer done()
	await(flush, func() bool {
		facts, _ := l.spool.Pending(1)
		return len(facts) == 0
	})
}

// await looks now and then until cond holds or ctx ends.
func await(ctx context.Context, cond func() bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Jobs returns the jobs that run on the host now, for whoever vouches for their owners.
func (m *Mom) Jobs() []pbs.JobID {
	l := m.running()
	if l == nil {
		return nil
	}
	var ids []pbs.JobID
	for _, r := range l.all() {
		if t := r.Task(); t.State() != task.Ended {
			ids = append(ids, t.Key.Job)
		}
	}
	return ids
}
