package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Wait implements System.
func (l *Linux) Wait(ctx context.Context, dir string, h Handle) (Exit, error) {
	if h.BootID == l.boot {
		if err := l.waitGone(ctx, h); err != nil {
			return Exit{}, err
		}
	}
	var end Exit
	ok, err := readRecord(filepath.Join(dir, exitFile), &end)
	switch {
	case err != nil:
		return Exit{}, errors.Join(ErrLost, err)
	case !ok:
		return Exit{}, ErrLost
	case end.Failed != "" && end.Fenced:
		return end, ErrFenced
	case end.Failed != "":
		return end, &StartError{Reason: end.Failed}
	}
	return end, nil
}

func (l *Linux) waitGone(ctx context.Context, h Handle) error {
	defer l.bury(h.PID)
	fd, err := unix.PidfdOpen(h.PID, unix.PIDFD_NONBLOCK)
	switch {
	case errors.Is(err, unix.ESRCH):
		return nil
	case err != nil:
		return l.pollGone(ctx, h)
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	if !l.alive(h) {
		return nil
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	// A pidfd is readable when its process has ended: no thread has to wait for it.
	err = conn.Read(func(fd uintptr) bool {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		return err == nil && n > 0
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return l.pollGone(ctx, h)
	}
	return nil
}

// pollGone is for kernels without pidfds.
func (l *Linux) pollGone(ctx context.Context, h Handle) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for l.alive(h) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// bury takes a shim of our own out of the process table, if it has ended.
func (l *Linux) bury(pid int) {
	if p, ok := readProcess(pid); ok && !p.zombie {
		return
	}
	l.mu.Lock()
	p := l.children[pid]
	delete(l.children, pid)
	l.mu.Unlock()
	if p != nil {
		_, _ = p.Wait()
	}
}

// overEvery is how soon it is seen what a shim does when its program has ended.
const overEvery = 10 * time.Millisecond

// WaitFirst implements System.
func (l *Linux) WaitFirst(ctx context.Context, dir string, h Handle) (Exit, bool, error) {
	over := func() (end Exit, ok bool) {
		ok, err := readRecord(filepath.Join(dir, overFile), &end)
		return end, ok && err == nil && h.BootID == l.boot && l.alive(h)
	}
	if end, ok := over(); ok {
		return end, true, nil
	}
	if p, ok := readProcess(h.Session); ok && p.session == h.Session && h.BootID == l.boot {
		if err := l.waitGone(ctx, Handle{PID: h.Session, Start: p.start, BootID: l.boot}); err != nil {
			return Exit{}, false, err
		}
	}
	tick := time.NewTicker(overEvery)
	defer tick.Stop()
	for h.BootID == l.boot && l.alive(h) {
		if end, ok := over(); ok {
			return end, true, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return Exit{}, false, ctx.Err()
		}
	}
	end, err := l.Wait(ctx, dir, h)
	return end, false, err
}
