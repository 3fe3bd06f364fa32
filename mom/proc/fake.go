package proc

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"rampart/fsm/pbs"
)

// Fake runs scripted processes in virtual time. It stands for the host and not for
// the mom: it lives on when a mom crashes, and a new one finds the processes in it.
type Fake struct {
	program func(Spec) Program

	mu      sync.Mutex
	boot    int
	lastPID int
	jobs    map[string]*fakeJob // by folder
	barred  map[string]bool     // folders in which nothing starts any more
	full    bool
	begun   time.Time
}

type fakeJob struct {
	handle  Handle
	spec    Spec
	program Program
	begun   time.Time
	timer   *time.Timer // of the end
	ends    time.Time
	stopped bool          // by SIGSTOP: it does not end by itself
	left    time.Duration // then, of its time
	since   time.Time     // then, when it was
	rested  time.Duration // was stopped in all, up to the last time that it went on
	fence   fence
	look    *time.Timer // at the deadline
	gone    chan struct{}
	exit    *Exit // nil after the loss of the host
	signals []syscall.Signal
}

var _ System = (*Fake)(nil)

// NewFake returns a host whose processes behave as program says; nil means Scripted.
func NewFake(program func(Spec) Program) *Fake {
	if program == nil {
		program = Scripted
	}
	return &Fake{
		program: program, boot: 1, lastPID: 1000, begun: time.Now(),
		jobs: make(map[string]*fakeJob), barred: make(map[string]bool),
	}
}

// Reboot ends all processes without a word, as the loss of power does.
func (f *Fake) Reboot() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.boot++
	for _, j := range f.jobs {
		j.vanish()
	}
}

// vanish ends a program without a record of the end.
func (j *fakeJob) vanish() {
	if !j.running() {
		return
	}
	j.timer.Stop()
	j.look.Stop()
	close(j.gone)
}

// Running returns the names of the jobs whose programs run now, one entry for each
// program: a name that comes twice is a job that runs twice.
func (f *Fake) Running() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for _, j := range f.jobs {
		if j.running() {
			names = append(names, j.spec.Job)
		}
	}
	return names
}

// Starts returns how many programs were started for the job so far.
func (f *Fake) Starts(job string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, j := range f.jobs {
		if j.spec.Job == job {
			n++
		}
	}
	return n
}

// Signals returns the signals that the job's processes got, in their order.
func (f *Fake) Signals(job string) []syscall.Signal {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []syscall.Signal
	for _, j := range f.jobs {
		if j.spec.Job == job {
			all = append(all, j.signals...)
		}
	}
	return all
}

// Attach implements System: scripted jobs have no terminals.
func (f *Fake) Attach(string) (net.Conn, error) { return nil, ErrNoTerminal }

// BootID implements System.
func (f *Fake) BootID() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bootLocked()
}

// Now implements System. The boot was an hour before the host was made.
func (f *Fake) Now() time.Duration { return time.Hour + time.Since(f.begun) }

func (f *Fake) bootLocked() string { return fmt.Sprintf("boot-%d", f.boot) }

// Start implements System.
func (f *Fake) Start(ctx context.Context, dir string, spec Spec) (Handle, error) {
	if err := ctx.Err(); err != nil {
		return Handle{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if j, ok := f.jobs[dir]; ok {
		return j.handle, nil
	}
	if f.barred[dir] {
		return Handle{}, fmt.Errorf("start shim: %s is claimed", dir)
	}
	guard := fence{path: spec.Deadline, boot: f.bootLocked(), lapse: spec.Lapse}
	if guard.fallen(f.Now()) {
		f.barred[dir] = true
		return Handle{}, ErrFenced
	}
	p := f.program(spec)
	if p.StartError != nil {
		return Handle{}, p.StartError
	}
	if err := writeOutputs(spec, p.Output); err != nil {
		return Handle{}, err
	}
	f.lastPID += 2
	j := &fakeJob{
		handle: Handle{
			PID: f.lastPID, Start: uint64(f.lastPID), BootID: f.bootLocked(),
			Session: f.lastPID + 1, Cookie: spec.Cookie,
		},
		spec: spec, program: p, begun: time.Now(), gone: make(chan struct{}), fence: guard,
	}
	j.ends = j.begun.Add(p.Runs)
	j.timer = time.AfterFunc(p.Runs, func() { f.end(j, p.Status) })
	j.look = time.AfterFunc(j.untilLook(f.Now()), func() { f.lookAtFence(j) })
	f.jobs[dir] = j
	return j.handle, nil
}

func (j *fakeJob) untilLook(now time.Duration) time.Duration {
	return j.fence.next(now, deadlineEvery) - now
}

// lookAtFence ends a program whose fence has fallen.
func (f *Fake) lookAtFence(j *fakeJob) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !j.running() {
		return
	}
	if !j.fence.fallen(f.Now()) {
		j.look.Reset(j.untilLook(f.Now()))
		return
	}
	f.endLocked(j, pbs.ExitKilled)
	j.exit.Fenced = true
}

func (j *fakeJob) running() bool {
	select {
	case <-j.gone:
		return false
	default:
		return true
	}
}

func (f *Fake) end(j *fakeJob, status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !j.stopped {
		f.endLocked(j, status)
	}
}

// halt stops a program, or lets it go on.
func (j *fakeJob) halt(stop bool) {
	switch {
	case stop && !j.stopped:
		j.timer.Stop()
		j.left, j.since = time.Until(j.ends), time.Now()
	case !stop && j.stopped:
		j.rested += time.Since(j.since)
		j.ends = time.Now().Add(j.left)
		j.timer.Reset(j.left)
	}
	j.stopped = stop
}

// worked returns how long a program was not stopped.
func (j *fakeJob) worked() time.Duration {
	worked := time.Since(j.begun) - j.rested
	if j.stopped {
		worked -= time.Since(j.since)
	}
	return worked
}

func (f *Fake) endLocked(j *fakeJob, status int) {
	if !j.running() {
		return
	}
	j.timer.Stop()
	j.look.Stop()
	wall := time.Since(j.begun)
	j.exit = &Exit{
		Version: specVersion, Status: status, Wall: wall, CPU: scale(j.worked(), j.program.CPU),
		MaxRSS: j.program.RSS, Finished: time.Now().UnixNano(),
	}
	close(j.gone)
}

// Find implements System.
func (f *Fake) Find(dir string) (Handle, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j, ok := f.jobs[dir]
	if !ok {
		return Handle{}, false, nil
	}
	return j.handle, true, nil
}

// Forestall implements System.
func (f *Fake) Forestall(dir string) (Handle, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if j, ok := f.jobs[dir]; ok {
		return j.handle, true, nil
	}
	f.barred[dir] = true
	return Handle{}, false, nil
}

// Prove implements System: a scripted host can start jobs unless it is full.
func (f *Fake) Prove(ctx context.Context, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full {
		return syscall.ENOSPC
	}
	return ctx.Err()
}

// EndStrays implements System.
func (f *Fake) EndStrays(parent string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for dir, j := range f.jobs {
		if strings.HasPrefix(filepath.Clean(dir), filepath.Clean(parent)+"/") && j.running() {
			j.vanish()
			n++
		}
	}
	return n, nil
}

// Wait implements System.
func (f *Fake) Wait(ctx context.Context, dir string, h Handle) (Exit, error) {
	f.mu.Lock()
	j, ok := f.jobs[dir]
	f.mu.Unlock()
	if !ok || j.handle != h {
		return Exit{}, ErrLost
	}
	select {
	case <-j.gone:
	case <-ctx.Done():
		return Exit{}, ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if j.exit == nil {
		return Exit{}, ErrLost
	}
	return *j.exit, nil
}

// WaitFirst implements System: scripted programs leave nothing behind.
func (f *Fake) WaitFirst(ctx context.Context, dir string, h Handle) (Exit, bool, error) {
	exit, err := f.Wait(ctx, dir, h)
	return exit, false, err
}

// Signal implements System: SIGKILL ends a program, and so does any other signal but
// those that leave real programs alone.
func (f *Fake) Signal(h Handle, sig syscall.Signal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.jobs {
		if j.handle != h || !j.running() {
			continue
		}
		j.signals = append(j.signals, sig)
		harmless := sig == 0 || sig == syscall.SIGCONT || sig == syscall.SIGSTOP
		if sig == syscall.SIGCONT || sig == syscall.SIGSTOP {
			j.halt(sig == syscall.SIGSTOP)
		}
		if sig == syscall.SIGKILL || !harmless && !j.program.IgnoresTerm {
			f.endLocked(j, pbs.ExitSignal+int(sig))
		}
	}
	return nil
}

// Elapsed implements System.
func (f *Fake) Elapsed(h Handle) time.Duration {
	used, _ := f.Usage(h)
	return used[0].Wall
}

// Usage implements System.
func (f *Fake) Usage(handles ...Handle) ([]Usage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]Usage, len(handles))
	for _, j := range f.jobs {
		for i, h := range handles {
			if j.handle == h && j.running() {
				wall := time.Since(j.begun)
				all[i] = Usage{
					CPU: scale(j.worked(), j.program.CPU), Wall: wall,
					RSS: j.program.RSS, VSize: 2 * j.program.RSS, Processes: 1, Largest: j.program.RSS,
				}
			}
		}
	}
	return all, nil
}
