package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"strconv"
	"sync"
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

const (
	// foldersFor bounds making the folders of a job, and the wait for those of an earlier run
	// of it to be removed: they may be on a file system that hangs.
	foldersFor = time.Minute
	// sweepFor bounds the removal of files that were staged in for nothing.
	sweepFor = 10 * time.Second
)

// cleaning is what is being removed, by job: the folders of its next run have the same names.
type cleaning struct {
	mu   sync.Mutex
	jobs map[pbs.JobID]chan struct{} // closed when all of it is gone
}

// begin notes one more removal; done ends it.
func (c *cleaning) begin(job pbs.JobID) (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, own := c.jobs[job], make(chan struct{})
	if c.jobs == nil {
		c.jobs = make(map[pbs.JobID]chan struct{})
	}
	c.jobs[job] = own
	return func() {
		if before != nil {
			<-before
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		close(own)
		if c.jobs[job] == own {
			delete(c.jobs, job)
		}
	}
}

// wait returns when nothing of the job is being removed.
func (c *cleaning) wait(ctx context.Context, job pbs.JobID) error {
	c.mu.Lock()
	own := c.jobs[job]
	c.mu.Unlock()
	if own == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, foldersFor)
	defer cancel()
	select {
	case <-own:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the folders of an earlier run are still being removed: %w", ctx.Err())
	}
}

// folders makes and removes the folders of jobs: TMPDIR, and the one that sandbox asks for.
type folders struct {
	owners   owners
	spool    *spool.Spool
	system   proc.System
	settings func() Settings
	lines    Lines
	logger   *slog.Logger
	cleaning *cleaning
}

// make makes what the job's program begins in.
func (f *folders) make(ctx context.Context, t Task, a Account) error {
	if err := f.makeTmpDir(ctx, t, a); err != nil {
		return err
	}
	return soon(ctx, func() error { return f.makeJobDir(t, a) })
}

func (f *folders) makeTmpDir(ctx context.Context, t Task, a Account) error {
	err := f.cleaning.wait(ctx, t.Key.Job)
	if err == nil {
		err = soon(ctx, func() error { return f.ownTmpDir(t, a) })
	}
	if err != nil {
		return fmt.Errorf("make TMPDIR: %w", err)
	}
	return nil
}

// ownTmpDir makes the folder with the rights of the job's owner, as a file server sees them. What
// somebody else has put there beforehand must not keep the job from starting.
func (f *folders) ownTmpDir(t Task, a Account) error {
	err := f.system.MakeDir(f.owners.owner(a), f.tmpDir(t))
	if _, occupied := errors.AsType[*proc.Occupied](err); !occupied {
		return err
	}
	return f.takePlace(t, a, f.tmpDir(t))
}

// takePlace makes a folder of the owner's where the mom may rename what stands there, and
// tells whose that was.
func (f *folders) takePlace(t Task, a Account, dir string) error {
	moved, err := proc.MakeDirFor(f.owners.owner(a), dir)
	if err != nil || moved == "" {
		return err
	}
	f.lines.Job(pbs.LogError|pbs.LogSecurity, t.Key.Job, fmt.Sprintf("%s was taken by %s before the job started; what stood there is %s now", dir, whose(moved), moved))
	return nil
}

// whose names the owner of a file as far as this host knows it without asking anybody.
func whose(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "somebody who has removed it since"
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "an unknown user"
	}
	uid := strconv.FormatUint(uint64(st.Uid), 10)
	if u, err := user.LookupId(uid); err == nil {
		return fmt.Sprintf("user %s (uid %s)", u.Username, uid)
	}
	return "uid " + uid
}

// clean removes what only a running job needs, and closes what it returns then. Nobody waits for
// that without a bound: a file system that hangs leaves a goroutine behind, and not a mom that obeys
// no order.
func (f *folders) clean(ctx context.Context, t Task) <-chan struct{} {
	gone := make(chan struct{})
	switch t.leftBehind() {
	case PartGoesOn:
		close(gone)
		return gone
	case PartNone: // the job was deleted, or lost, all the same
		if err := f.spool.DropCheckpoint(t.Key.Job); err != nil {
			f.logger.Warn("checkpoint not removed", "job", t.Key.Job, "err", err)
		}
	}
	done := f.cleaning.begin(t.Key.Job)
	go func() {
		defer close(gone)
		defer done()
		f.remove(context.WithoutCancel(ctx), t)
	}()
	return gone
}

func (f *folders) remove(ctx context.Context, t Task) {
	a, err := f.owners.account(ctx, t)
	if err == nil {
		err = errors.Join(f.system.RemoveDir(f.owners.owner(a), f.tmpDir(t)), f.removeJobDir(t, a))
	}
	if err != nil && !errors.Is(err, ErrNoAccount) {
		f.logger.Warn("folders of the job not removed", "job", t.Key.Job, "err", err)
	}
	if err := os.Remove(f.spool.NodeFile(t.Key.Job)); err != nil && !errors.Is(err, os.ErrNotExist) {
		f.logger.Warn("node file not removed", "job", t.Key.Job, "err", err)
	}
}

// soon calls what may hang with a file system, and does not wait for it for ever.
func soon(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, foldersFor)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
