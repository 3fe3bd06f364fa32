//go:build linux

package proc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Linux runs jobs as real processes of this host.
type Linux struct {
	shim string
	boot string

	mu       sync.Mutex
	children map[int]*os.Process // shims of our own, to be waited for
}

var _ System = (*Linux)(nil)

// NewLinux returns the host's processes; shim is the path of a program that calls
// ShimMain when its argv[0] is ShimName.
func NewLinux(shim string) (*Linux, error) {
	boot, err := bootID()
	if err != nil {
		return nil, err
	}
	keepThreads()
	return &Linux{shim: shim, boot: boot, children: make(map[int]*os.Process)}, nil
}

// BootID implements System.
func (l *Linux) BootID() string { return l.boot }

// Now implements System.
func (l *Linux) Now() time.Duration { return boottime() }

// Start implements System.
func (l *Linux) Start(ctx context.Context, dir string, spec Spec) (Handle, error) {
	if h, ok, err := l.Find(dir); err != nil || ok {
		return l.settle(ctx, dir, h, err)
	}
	spec.Version = specVersion
	if err := writeRecord(filepath.Join(dir, specFile), spec, false); err != nil {
		return Handle{}, fmt.Errorf("start shim: %w: %w", ErrNoShim, err)
	}
	r, err := l.launch(ctx, dir)
	switch {
	case err != nil:
		return l.unanswered(ctx, dir, err)
	case r.Claimed:
		h, _, err := l.Find(dir)
		return l.settle(ctx, dir, h, err)
	case r.Fenced:
		return r.Handle, ErrFenced
	case r.Again && r.Handle.PID == 0: // it could not even claim the folder
		return r.Handle, fmt.Errorf("start shim: %w: %s", ErrNoShim, r.Failed)
	case r.Again: // once its word is on disk, nobody takes it for one that runs
		return r.Handle, errors.Join(fmt.Errorf("start shim: %s", r.Failed), l.waitGone(ctx, r.Handle))
	case r.Failed != "":
		return r.Handle, &StartError{Reason: r.Failed}
	}
	return r.Handle, nil
}

// unanswered finds out what became of a shim that did not say: one that was killed may
// have left the program running, so that the job must not count as never started (L2).
func (l *Linux) unanswered(ctx context.Context, dir string, cause error) (Handle, error) {
	h, found, err := l.Find(dir)
	if errors.Is(cause, ErrNoShim) || err == nil && !found {
		return Handle{}, fmt.Errorf("start shim: %w", cause)
	}
	return l.settle(ctx, dir, h, err)
}

func (l *Linux) launch(ctx context.Context, dir string) (reply, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return reply{}, fmt.Errorf("%w: %w", ErrNoShim, err)
	}
	defer r.Close()
	err = l.spawn(dir, w)
	if closed := w.Close(); err != nil {
		return reply{}, fmt.Errorf("%w: %w", ErrNoShim, err)
	} else if closed != nil {
		return reply{}, closed
	}
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	data, err := io.ReadAll(r)
	if err != nil {
		return reply{}, errors.Join(ctx.Err(), err)
	}
	var answer reply
	if err := json.Unmarshal(data, &answer); err != nil {
		return reply{}, fmt.Errorf("the shim in %s gave no answer: %w", dir, err)
	}
	return answer, nil
}

func (l *Linux) spawn(dir string, w *os.File) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	log, err := os.OpenFile(filepath.Join(filepath.Dir(dir), "shim.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p, err := os.StartProcess(l.shim, []string{ShimName, dir}, &os.ProcAttr{
		Dir: "/", Env: []string{"GOMAXPROCS=1"}, Files: []*os.File{null, null, log, w},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.children[p.Pid] = p
	return nil
}

// settle waits until a shim that was started by somebody else has its job running, or
// has said that it will not.
func (l *Linux) settle(ctx context.Context, dir string, h Handle, err error) (Handle, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for err == nil && h.Session == 0 && l.alive(h) {
		var end Exit
		if ok, _ := readRecord(filepath.Join(dir, exitFile), &end); ok {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return h, ctx.Err()
		}
		h, _, err = l.Find(dir)
	}
	return h, err
}

// Find implements System.
func (l *Linux) Find(dir string) (Handle, bool, error) {
	return readShim(filepath.Join(dir, shimFile))
}

// Forestall implements System.
func (l *Linux) Forestall(dir string) (Handle, bool, error) {
	path := filepath.Join(dir, shimFile)
	err := claimRecord(path, Handle{BootID: l.boot})
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist): // without a folder there is nothing to claim
		return Handle{}, false, nil
	case !errors.Is(err, fs.ErrExist):
		return Handle{}, false, fmt.Errorf("forestall shim: %w", err)
	}
	h, found, err := readShim(path)
	if err != nil || !found || h.PID == 0 {
		return Handle{}, false, err
	}
	var end Exit
	ended, err := readRecord(filepath.Join(dir, exitFile), &end)
	return h, !ended || end.Failed == "", err
}

// EndStrays implements System.
func (l *Linux) EndStrays(parent string) (int, error) {
	t, err := readTable()
	if err != nil {
		return 0, err
	}
	var errs []error
	n := 0
	for pid, p := range t {
		if !shimBelow(pid, parent) {
			continue
		}
		n++
		errs = append(errs, signalAll([]process{p}, syscall.SIGSTOP), // it must not start anything meanwhile
			l.Signal(Handle{PID: pid, Start: p.start, BootID: l.boot}, syscall.SIGKILL), signalAll([]process{p}, syscall.SIGKILL))
	}
	return n, errors.Join(errs...)
}

// shimBelow reports whether a process is a shim whose folder is below parent.
func shimBelow(pid int, parent string) bool {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	args := strings.Split(string(line), "\x00")
	return err == nil && len(args) > 1 && args[0] == ShimName && strings.HasPrefix(filepath.Clean(args[1]), filepath.Clean(parent)+"/")
}

func (l *Linux) alive(h Handle) bool {
	p, ok := readProcess(h.PID)
	return ok && h.BootID == l.boot && p.start == h.Start && !p.zombie
}

// Signal implements System. SIGKILL and SIGSTOP are repeated until nothing new appears.
func (l *Linux) Signal(h Handle, sig syscall.Signal) error {
	if h.BootID != l.boot {
		return nil
	}
	rounds := 1
	if sig == syscall.SIGKILL || sig == syscall.SIGSTOP {
		rounds = 5
	}
	for range rounds {
		t, err := readTable()
		if err != nil {
			return err
		}
		found := t.job(h)
		if len(found) == 0 {
			return nil
		}
		if err := signalAll(found, sig); err != nil {
			return err
		}
	}
	return nil
}

// Usage implements System; all jobs are measured by one look at the process table.
func (l *Linux) Usage(handles ...Handle) ([]Usage, error) {
	t, err := readTable()
	if err != nil {
		return nil, err
	}
	all := make([]Usage, len(handles))
	for i, h := range handles {
		if h.BootID == l.boot {
			all[i] = t.usage(h)
		}
	}
	return all, nil
}

// Elapsed implements System.
func (l *Linux) Elapsed(h Handle) time.Duration {
	if h.BootID != l.boot {
		return 0
	}
	return sinceStart(h)
}

func sinceStart(h Handle) time.Duration { return boottime() - time.Duration(h.Start)*tick }

func (t table) usage(h Handle) Usage {
	u := Usage{Wall: sinceStart(h)}
	if shim, ok := t[h.PID]; ok && shim.start == h.Start {
		u.CPU = shim.reaped // orphans of the job that have ended
	}
	for _, p := range t.job(h) {
		u.CPU += p.cpu + p.reaped
		u.Processes++
		if becoming(p) {
			continue // its memory is not the job's
		}
		u.RSS += p.rss
		u.VSize += p.vsize
		u.Largest = max(u.Largest, p.rss)
	}
	return u
}

// Move implements System.
func (l *Linux) Move(owner *Owner, file, target, name string) error {
	return moveFile(owner, file, target, name)
}

// MakeDir implements System.
func (l *Linux) MakeDir(owner *Owner, path string) error { return makeDir(owner, path) }

// RemoveDir implements System.
func (l *Linux) RemoveDir(owner *Owner, path string) error { return removeDir(owner, path) }
